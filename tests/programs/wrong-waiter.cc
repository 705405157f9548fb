/*
 * bug: two threads wait for different values of an atomic, and the change is told to one of them only
 * how: the one that waits for stage 2 is the first to sleep; stage 1 wakes it up, it sleeps again, and the one that
 *	waits for stage 1 sleeps for ever. libstdc++ looks 16 times, with pauses and yields, before it sleeps: both have to
 *	do so without any other thread in between.
 * outcome: deadlock
 * options:
 * args:
 * odds: no preemption, but each waiter yields some ten times in a row while the main thread could run
 * executions: 200
 * small: no
 * build: -std=c++20
 */
#include <atomic>
#include <thread>

static std::atomic<int> stage;

static void wait_for(int wanted)
{
	for (int now = stage.load(); now < wanted; now = stage.load())
		stage.wait(now);
}

static void reach(int next)
{
	stage.store(next);
#ifdef FIXED
	stage.notify_all();
#else
	stage.notify_one();
#endif
}

int main()
{
	std::thread last([] { wait_for(2); });
	std::thread middle([] { wait_for(1); reach(2); });

	reach(1);
	middle.join();
	last.join();
	return 0;
}
