/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scheduler.h - a stand-in for Nekara's C++ library: the calls that tools/bench/libzug/nekara.cc makes
 *
 * One thread at a time runs: at each call below one of those that can go on is drawn at random, and the caller
 * waits until it is drawn. It keeps no trace and finds nothing.
 */
#ifndef STAND_IN_SCHEDULER_H
#define STAND_IN_SCHEDULER_H

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <random>
#include <set>

namespace coyote {

enum class ErrorCode { Success = 0, Failure };

class Scheduler {
public:
	/* The calling thread is operation 0 until detach(). */
	ErrorCode attach() noexcept;
	ErrorCode detach() noexcept;
	/* By the creator; then the first and the last call of the operation's thread. */
	ErrorCode create_operation(size_t id) noexcept;
	ErrorCode start_operation(size_t id) noexcept;
	ErrorCode complete_operation(size_t id) noexcept;
	ErrorCode join_operation(size_t id) noexcept;
	ErrorCode create_resource(size_t id) noexcept;
	ErrorCode delete_resource(size_t id) noexcept;
	ErrorCode wait_resource(size_t id) noexcept;
	/* All that wait go on. */
	ErrorCode signal_resource(size_t id) noexcept;
	ErrorCode schedule_next() noexcept;
	/* The last one. */
	ErrorCode error_code() noexcept;

private:
	struct operation {
		std::condition_variable turn;
		bool started = false, ended = false, waits = false;
	};

	ErrorCode fail();
	void choose();
	void pass(std::unique_lock<std::mutex> &held, size_t me);

	std::mutex lock;
	std::condition_variable all_started;
	std::map<size_t, operation> operations;
	std::map<size_t, std::set<size_t>> waiters, joiners;
	std::minstd_rand random{1};
	size_t current = 0, unstarted = 0;
	ErrorCode last = ErrorCode::Success;
};

}

#endif
