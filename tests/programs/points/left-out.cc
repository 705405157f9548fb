/*
 * A program that does more logging than work: its threads write 40 lines each to a log with a lock of its own, and one of
 * them sees an account between two parts of a transfer, for which it has to be preempted, by the other, in 'move'. Not
 * optimised, so that locks and atomics are used in functions of the C++ library, which the program's code calls.
 *
 * build: -O0
 */
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class journal {
public:
	void line(int n)
	{
		std::lock_guard<std::mutex> guard(lock);
		sum += n;
		lines++;
	}

private:
	std::mutex lock;
	long sum = 0;
	std::atomic<int> lines{0};
};

class bank {
public:
	void move(int amount)
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			from -= amount;
		}
		std::lock_guard<std::mutex> guard(lock);
		to += amount;
	}
	int total()
	{
		std::lock_guard<std::mutex> guard(lock);
		return from + to;
	}

private:
	std::mutex lock;
	int from = 100, to = 0;
};

static journal notes;
static bank accounts;

static void write_log()
{
	for (int i = 0; i < 40; i++)
		notes.line(i);
}

int main()
{
	std::thread mover([] {
		write_log();
		accounts.move(10);
		write_log();
	});
	std::thread looker([] {
		write_log();
		assert(accounts.total() == 100);
		write_log();
	});

	mover.join();
	looker.join();
	return 0;
}
