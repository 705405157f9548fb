/*
 * bug: a thread takes the address of a std::string's characters under a lock, and reads them without it
 * how: the reader has given the lock back, and is preempted before it reads; the writer appends to the string, under the
 * lock. The
 *	string needs a larger buffer, and libstdc++ frees the one that the reader looks into then. The twin reads under the lock.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, right before the read; that is a point once it is seen to be unordered with what frees the buffer. Random
 *	walk: p >= 1/16. PCT depth 2, 3 tasks, k <= 30: p >= 1/90.
 * executions: 200
 * small: no
 * build:
 */
#include <cassert>
#include <mutex>
#include <string>
#include <thread>

static std::string line = "first words, which are longer than the object";
static std::mutex lock;

static void reads()
{
	lock.lock();
	const char *text = line.c_str();
#ifndef FIXED
	lock.unlock();
#endif
	bool same = text[0] == 'f' && text[1] == 'i';
#ifdef FIXED
	lock.unlock();
#endif

	assert(same);
}

static void appends()
{
	std::lock_guard<std::mutex> guard(lock);

	line += ", and more of them, and more of them";
}

int main()
{
	std::thread reader(reads), writer(appends);

	reader.join();
	writer.join();
}
