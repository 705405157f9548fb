/*
 * bug: three std::async tasks add to one sum without a lock; what libstdc++ does around them with
 *	inline atomics is much more than the bug
 * how: a task has read the sum and is preempted before it writes it; another adds meanwhile.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption (between read and write). The sum has to become a point first.
 * executions: 100
 * small: no
 * build:
 */
#include <cassert>
#include <future>
#include <string>
#include <vector>

#ifdef FIXED
#include <atomic>
static std::atomic<long> words;
#else
static long words;
#endif

static int count(const std::string &text)
{
	int n = 1;

	for (char c : text)
		n += c == ' ';
	words += n;
	return n;
}

int main()
{
	const std::vector<std::string> chapters = { "it was a dark", "and stormy night", "the end" };
	std::vector<std::future<int>> counts;
	int sum = 0;

	for (const auto &c : chapters)
		counts.push_back(std::async(std::launch::async, count, std::cref(c)));
	for (auto &n : counts)
		sum += n.get();
	assert(words == sum);
	return 0;
}
