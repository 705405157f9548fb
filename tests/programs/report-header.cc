/*
 * bug: two threads append to one std::string, and each puts the header there first if the string is empty; there is no lock
 * how: a thread has seen that the report is empty, and is preempted before it appends the header; the other one sees the same,
 *	and appends its own. The report has two headers.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption; libstdc++ appends, and its calls are points once they are seen to be unordered. Random walk: the other
 *	thread's look comes between the look and the append: p >= 1/8. PCT depth 2, 3 tasks, k <= 30: p >= 1/90.
 * executions: 200
 * small: no
 * build:
 */
#include <cassert>
#include <mutex>
#include <string>
#include <thread>

static std::string report;
static std::mutex lock;

static void adds(const char *line)
{
#ifdef FIXED
	std::lock_guard<std::mutex> guard(lock);
#endif

	if (report.empty())
		report += "report:";
	report += line;
}

int main()
{
	std::thread one(adds, " a line that does not fit into the object"), other(adds, " another one");

	one.join();
	other.join();
	assert(report.find("report:", 1) == std::string::npos);
}
