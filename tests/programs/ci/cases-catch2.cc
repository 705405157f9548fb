/*
 * A Catch2 program (2 and 3): one case passes under every schedule, one loses an update under some;
 * their names have characters that are special to Catch2.
 * build: CATCH2
 */
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
#include <mutex>
#include <thread>

static std::mutex a;

TEST_CASE("a counter, locked")
{
	int sum = 0;
	std::thread other([&] { std::lock_guard<std::mutex> g(a); sum++; });

	{
		std::lock_guard<std::mutex> g(a);
		sum++;
	}
	other.join();
	REQUIRE(sum == 2);
}

TEST_CASE("a counter [unlocked] in *between*")
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
	REQUIRE(sum == 2);
}
