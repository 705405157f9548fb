/*
 * A GoogleTest program: one of its cases passes under every schedule, one loses an update under
 * some, one takes two locks in two orders; one is disabled, two are the same with different parameters.
 * build: -lgtest -lgtest_main
 */
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

static std::mutex a, b;

TEST(Counter, KeepsItsSum)
{
	int sum = 0;
	std::thread other([&] { std::lock_guard<std::mutex> g(a); sum++; });

	{
		std::lock_guard<std::mutex> g(a);
		sum++;
	}
	other.join();
	EXPECT_EQ(sum, 2);
}

TEST(Counter, LosesAnUpdate)
{
	int sum = 0;
	auto add = [&] {
		a.lock();
		int now = sum;
		a.unlock();
		a.lock();
		sum = now + 1;
		a.unlock();
	};
	std::thread other(add);

	add();
	other.join();
	EXPECT_EQ(sum, 2);
}

TEST(Locks, InTwoOrders)
{
	std::thread other([] {
		std::lock_guard<std::mutex> g(b);
		std::lock_guard<std::mutex> h(a);
	});

	{
		std::lock_guard<std::mutex> g(a);
		std::lock_guard<std::mutex> h(b);
	}
	other.join();
}

TEST(Locks, DISABLED_NotLookedAt)
{
	FAIL();
}

class Numbers : public testing::TestWithParam<int> {};

TEST_P(Numbers, AreSmall)
{
	EXPECT_LT(GetParam(), 10);
}

INSTANTIATE_TEST_SUITE_P(Two, Numbers, testing::Values(3, 4));
