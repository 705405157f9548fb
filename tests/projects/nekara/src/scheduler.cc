/* SPDX-License-Identifier: GPL-2.0-only */
#include <vector>
#include "scheduler.h"

namespace coyote {

using guard = std::unique_lock<std::mutex>;

ErrorCode Scheduler::fail()
{
	return last = ErrorCode::Failure;
}

/* Draws the next one; none can go on: an error, and the caller's turn stays. */
void Scheduler::choose()
{
	std::vector<size_t> ready;

	for (auto &o : operations)
		if (!o.second.ended && !o.second.waits)
			ready.push_back(o.first);
	if (ready.empty()) {
		fail();
		return;
	}
	current = ready[random() % ready.size()];
	operations[current].turn.notify_one();
}

void Scheduler::pass(guard &held, size_t me)
{
	all_started.wait(held, [this] { return !unstarted; });
	choose();
	operations[me].turn.wait(held, [this, me] { return current == me; });
}

ErrorCode Scheduler::attach() noexcept
{
	guard held(lock);

	operations.clear();
	waiters.clear();
	joiners.clear();
	operations[0].started = true;
	current = 0;
	return last = ErrorCode::Success;
}

ErrorCode Scheduler::detach() noexcept
{
	guard held(lock);

	for (auto &o : operations)
		if (o.first && !o.second.ended)
			return fail();
	return last;
}

ErrorCode Scheduler::create_operation(size_t id) noexcept
{
	guard held(lock);

	if (operations.count(id))
		return fail();
	operations[id];
	unstarted++;
	return ErrorCode::Success;
}

ErrorCode Scheduler::start_operation(size_t id) noexcept
{
	guard held(lock);
	auto &o = operations[id];

	o.started = true;
	if (!--unstarted)
		all_started.notify_one();
	o.turn.wait(held, [this, id] { return current == id; });
	return ErrorCode::Success;
}

ErrorCode Scheduler::complete_operation(size_t id) noexcept
{
	guard held(lock);

	if (current != id)
		return fail();
	operations[id].ended = true;
	for (size_t joiner : joiners[id])
		operations[joiner].waits = false;
	all_started.wait(held, [this] { return !unstarted; });
	choose();
	return ErrorCode::Success;
}

ErrorCode Scheduler::join_operation(size_t id) noexcept
{
	guard held(lock);
	const size_t me = current;

	if (!operations.count(id))
		return fail();
	if (!operations[id].ended) {
		joiners[id].insert(me);
		operations[me].waits = true;
		pass(held, me);
	}
	return ErrorCode::Success;
}

ErrorCode Scheduler::create_resource(size_t id) noexcept
{
	guard held(lock);

	waiters[id];
	return ErrorCode::Success;
}

ErrorCode Scheduler::delete_resource(size_t id) noexcept
{
	guard held(lock);

	return waiters.erase(id) ? ErrorCode::Success : fail();
}

ErrorCode Scheduler::wait_resource(size_t id) noexcept
{
	guard held(lock);
	const size_t me = current;

	waiters[id].insert(me);
	operations[me].waits = true;
	pass(held, me);
	return ErrorCode::Success;
}

ErrorCode Scheduler::signal_resource(size_t id) noexcept
{
	guard held(lock);

	for (size_t waiter : waiters[id])
		operations[waiter].waits = false;
	waiters[id].clear();
	return ErrorCode::Success;
}

ErrorCode Scheduler::schedule_next() noexcept
{
	guard held(lock);

	pass(held, current);
	return ErrorCode::Success;
}

ErrorCode Scheduler::error_code() noexcept
{
	guard held(lock);

	return last;
}

}
