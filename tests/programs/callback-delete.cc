/*
 * bug: an object is deleted while one of its callbacks runs
 * how: the thread of events copies the pointer to the listener under the lock, and calls it behind that. The main thread takes
 *	the listener away and deletes it; the callback then counts in an object that is none. Most often nobody has taken that
 *	memory again, and the program ends as if all was well: it fails only where the next listener lies there, or crashes
 *	where it calls by what the allocator keeps in there (`clang -O2`). The twin calls it under the lock.
 * outcome: assert or use-after-free or signal SEGV
 * options:
 * args:
 * odds: 1 preemption, of the callback's thread before the callback counts, until the next listener is there. Random walk:
 *	p >= 1/32.
 * executions: 300
 * small: no
 * build:
 */
#include <cassert>
#include <mutex>
#include <thread>

class Listener {
public:
	explicit Listener(long limit) : limit(limit) {}
	virtual ~Listener() {}
	virtual void called() { count++; }
	long calls() const { return count; }

private:
	long limit;
	long count = 0;
};

static std::mutex lock;
static Listener *listener;

static void events()
{
#ifdef FIXED
	std::lock_guard<std::mutex> held(lock);

	if (listener)
		listener->called();
#else
	Listener *l;

	{
		std::lock_guard<std::mutex> held(lock);

		l = listener;
	}
	if (l)
		l->called();
#endif
}

static void remove()
{
	Listener *l;

	{
		std::lock_guard<std::mutex> held(lock);

		l = listener;
		listener = nullptr;
	}
	delete l;
}

int main()
{
	listener = new Listener(7);
	std::thread thread(events);
	remove();
	Listener *next = new Listener(1);
	thread.join();
	assert(next->calls() == 0);
	delete next;
	return 0;
}
