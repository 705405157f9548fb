/* A queue in C++: with BUG a consumer that was woken does not look again. */
#include <zug.hpp>

#include <deque>

struct queue {
	zug::mutex m{"queue.m"};
	zug::condition_variable not_empty{"queue.not_empty"};
	std::deque<int> items;

	void push(int n)
	{
		std::lock_guard<zug::mutex> guard(m);

		items.push_back(n);
		not_empty.notify_one();
	}
	int pop()
	{
		std::unique_lock<zug::mutex> lock(m);
		int n;

#ifdef BUG
		if (items.empty())
			not_empty.wait(lock);
#else
		not_empty.wait(lock, [&] { return !items.empty(); });
#endif
		zug_assert(!items.empty());
		n = items.front();
		items.pop_front();
		return n;
	}
};

int main()
{
	zug_options options = {};

	options.executions = 2000;
	options.flags = ZUG_FIBERS;
	return zug::test("queue", [] {
		queue q;
		zug::resource done("done");
		int sum = 0, left = 2;
		auto consume = [&] {
			sum += q.pop();
			left--;
			done.signal();
		};
		zug::thread first("first", consume), second("second", consume);
		zug::thread producer("producer", [&] {
			q.push(1);
			q.push(2);
		});

		while (left)
			done.wait();
		first.join();
		second.join();
		producer.join();
		zug_assert(sum == 3);
	}, &options);
}
