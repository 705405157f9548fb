/*
 * bug: a wait with a time limit has no predicate, and takes the time-out for "there is no result"
 * how: the worker gets the mutex before the waiter, and its notification meets no waiter; or the limit is over while
 *	the worker is slow. The mutex is numbered behind data of std::thread and
 *	std::unique_lock, which is a point or not by what was learnt: a pin may not name it by its number.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption, or one other order where the worker begins. Random walk: p >= 1/8.
 * executions: 100
 * small: no
 * build:
 */
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

int main()
{
	std::mutex m;
	std::condition_variable ready;
	bool done = false, ok;
	std::thread worker([&] {
		std::lock_guard<std::mutex> g(m);
		done = true;
		ready.notify_one();
	});
	std::unique_lock<std::mutex> l(m);

#ifdef FIXED
	ready.wait(l, [&] { return done; });
	ok = done;
#else
	ok = ready.wait_for(l, std::chrono::milliseconds(500)) == std::cv_status::no_timeout;
#endif
	l.unlock();
	worker.join();
	return !ok;
}
