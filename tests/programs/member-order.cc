/*
 * bug: a C++ object starts its thread in a member that is declared, and so constructed, too early
 * how: the constructor has started the thread and is preempted before it takes the lock that the
 *	next member's initialiser needs; the thread runs and sees that member not yet constructed.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption (of main, after the thread's creation). Random walk: the thread passes its
 *	start before main passes one point: p >= 1/4.
 *	PCT depth 1 (the thread above main): p >= 1/2; depth 2, k <= 10: p >= 1/20.
 * executions: 150
 * small: yes
 * count-reasoning: main has create, lock, unlock, join, the thread exit: 5 points, and one for a
 *	join that blocks.
 * build:
 */
#include <new>
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex settings_lock;
static int settings_limit = 8;

static int read_limit()
{
	std::lock_guard<std::mutex> guard(settings_lock);

	return settings_limit;
}

class server {
#ifdef FIXED
	int limit = read_limit();
	std::thread thread{[this] { serve(); }};
#else
	std::thread thread{[this] { serve(); }};
	int limit = read_limit();
#endif

	void serve()
	{
		assert(limit == 8);
	}

public:
	~server()
	{
		thread.join();
	}
};

/* In static storage, so that a member not yet constructed is a certain 0. */
alignas(server) static unsigned char storage[sizeof(server)];

int main()
{
	server *only = new (storage) server;

	only->~server();
	return 0;
}
