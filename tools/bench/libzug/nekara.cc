/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nekara.cc - executions a second of Nekara's C++ library, of the programs of handoff.c
 *
 *	nekara WORKLOAD EXECUTIONS
 *
 * Written against its public interface, the header coyote/scheduler.h: a scheduler, operations in threads of the
 * program's own, and resources, a signal of which wakes all that wait. Its strategy is the default one.
 */
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
#include <coyote/scheduler.h>
#include "tools/bench/libzug/workloads.h"

static coyote::Scheduler scheduler;
static const workload *work;
static int items;
static const size_t resource = 1;

static void task(size_t me)
{
	scheduler.start_operation(me);
	if (!work->queue) {
		for (int i = 0; i < work->points / work->tasks; i++)
			scheduler.schedule_next();
	} else if (me == 1) {
		for (int i = 0; i < work->points; i++) {
			scheduler.schedule_next();
			items++;
			scheduler.signal_resource(resource);
		}
	} else {
		for (int i = 0; i < work->points / (work->tasks - 1); i++) {
			scheduler.schedule_next();
			while (!items)
				scheduler.wait_resource(resource);
			items--;
		}
	}
	scheduler.complete_operation(me);
}

static void execution()
{
	std::vector<std::thread> threads;

	items = 0;
	scheduler.attach();
	scheduler.create_resource(resource);
	for (int i = 1; i <= work->tasks; i++) {
		scheduler.create_operation(static_cast<size_t>(i));
		threads.emplace_back(task, static_cast<size_t>(i));
	}
	for (int i = 1; i <= work->tasks; i++)
		scheduler.join_operation(static_cast<size_t>(i));
	for (auto &t : threads)
		t.join();
	scheduler.delete_resource(resource);
	scheduler.detach();
}

int main(int argc, char **argv)
{
	const unsigned long nr = argc == 3 ? strtoul(argv[2], nullptr, 0) : 0;
	double begin;

	work = argc == 3 ? workload_of(argv[1]) : nullptr;
	if (!work || !nr) {
		fprintf(stderr, "usage: nekara WORKLOAD EXECUTIONS\n");
		return 2;
	}
	begin = now();
	for (unsigned long i = 0; i < nr; i++)
		execution();
	if (scheduler.error_code() != coyote::ErrorCode::Success) {
		fprintf(stderr, "nekara: the scheduler has an error\n");
		return 1;
	}
	printf("%.1f\n", static_cast<double>(nr) / (now() - begin));
	return 0;
}
