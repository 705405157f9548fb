// Guards of function-local statics, and a function in a namespace and in a class for --point.
#include <stdexcept>
#include <thread>

namespace bank {
volatile int balance;

__attribute__((noinline)) void deposit(int amount)
{
	balance = balance + amount;
}

__attribute__((noinline)) void withdraw(int amount)
{
	balance = balance - amount;
}

struct account {
	__attribute__((noinline)) void close();
};

void account::close()
{
	balance = 0;
}
}

struct thrower {
	thrower(bool fails)
	{
		if (fails)
			throw std::runtime_error("not yet");
	}
};

static thrower &instance(bool fails)
{
	static thrower it(fails); // op: guard-acquire, guard-abort, guard-release
	return it;
}

int main()
{
	try {
		instance(true);
	} catch (std::runtime_error &) {
	}
	std::thread other([] { bank::deposit(2); });
	instance(false);
	other.join();
	bank::withdraw(1);
	bank::account().close();
	return 0;
}
