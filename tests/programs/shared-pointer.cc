/*
 * bug: a thread copies a std::shared_ptr while another assigns to it, without a lock
 * how: the reader has copied the pointer and is preempted before it counts the reference; the writer puts another account
 *	in its place, and the last reference to the old one is gone: it is closed. The reader counts a reference to the new one,
 *	and uses the old one.
 * outcome: assert or use-after-free
 * options:
 * args:
 * odds: 1 preemption; the two words of the pointer are points once they are seen to be unordered. Random walk: the writer's
 *	exchange of both words comes between the reader's two loads: p >= 1/32. PCT depth 2, 3 tasks, k <= 40: p >= 1/120.
 * executions: 250
 * small: no
 * build:
 */
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

struct account {
	bool open = true;
};

static account accounts[2];

static std::shared_ptr<account> opened(int i)
{
	return { &accounts[i], [](account *a) { a->open = false; } };
}

static std::shared_ptr<account> current = opened(0);
static std::mutex lock;

static void writes()
{
	std::shared_ptr<account> next = opened(1);
#ifdef FIXED
	std::lock_guard<std::mutex> guard(lock);
#endif

	current.swap(next);
}

static std::shared_ptr<account> copies()
{
#ifdef FIXED
	std::lock_guard<std::mutex> guard(lock);
#endif

	return current;
}

static void reads()
{
	std::shared_ptr<account> mine = copies();

	assert(mine->open);
}

int main()
{
	std::thread writer(writes);
	std::thread reader(reads);

	writer.join();
	reader.join();
}
