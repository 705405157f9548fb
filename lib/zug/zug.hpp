/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug.hpp - zug.h for C++ (C++11 and later)
 *
 *	int main()
 *	{
 *		return zug::test("counter", [] {
 *			int n = 0;
 *			zug::mutex m;
 *			auto add = [&] { std::lock_guard<zug::mutex> guard(m); n++; };
 *			zug::thread a("a", add), b("b", add);
 *
 *			a.join();
 *			b.join();
 *			zug_assert(n == 2);
 *		});
 *	}
 *
 * thread, mutex and condition_variable are operations and objects of the test while one runs, and the
 * standard library's otherwise. An execution that fails is left by longjmp(): destructors of what it had
 * made do not run.
 */
#ifndef ZUG_HPP
#define ZUG_HPP

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#define ZUG_PTHREAD_NO_NAMES
#include "zug_pthread.h"

#define ZUG_FROM	const char *file = __builtin_FILE(), int line = __builtin_LINE(), \
			const char *func = __builtin_FUNCTION()

namespace zug {

/* zug_test() of anything that can be called. */
template <typename Fn>
int test(const char *name, Fn fn, const zug_options *options = nullptr)
{
	std::function<void()> call(fn);

	return zug_test_named(name, [](void *arg) { (*static_cast<std::function<void()> *>(arg))(); }, &call, options);
}

/* An operation; as std::thread, with a name. It must be joined or detached. */
class thread {
public:
	template <typename Fn>
	thread(const char *name, Fn fn, ZUG_FROM)
	{
		if (!ZUG_MINE) {
			real = std::thread(fn);
			return;
		}
		std::unique_ptr<std::function<void()>> call(new std::function<void()>(fn));

		op = zug_at_spawn(name, run, call.get(), file, line, func);
		if (op < 0)
			throw std::runtime_error(zug_strerror(op));
		call.release();
	}
	thread(thread &&other) noexcept : op(other.op), real(std::move(other.real))
	{
		other.op = 0;
	}
	thread(const thread &) = delete;
	thread &operator=(const thread &) = delete;
	~thread()
	{
		if (op)
			std::terminate();
	}

	void join(ZUG_FROM)
	{
		if (op)
			zug_at_join_operation(op, file, line, func);
		else
			real.join();
		op = 0;
	}
	void detach()
	{
		if (!op)
			real.detach();
		op = 0;
	}
	bool joinable() const
	{
		return op || real.joinable();
	}

private:
	static void run(void *arg)
	{
		std::unique_ptr<std::function<void()>> call(static_cast<std::function<void()> *>(arg));

		(*call)();
	}

	int op = 0;
	std::thread real;
};

/* As std::mutex. */
class mutex {
public:
	mutex(const char *name = "mutex") : name(name) {}
	mutex(const mutex &) = delete;
	mutex &operator=(const mutex &) = delete;

	void lock(ZUG_FROM)
	{
		if (ZUG_MINE)
			zug_at_mutex_lock(this, 0, name, file, line, func);
		else
			real.lock();
	}
	bool try_lock(ZUG_FROM)
	{
		return ZUG_MINE ? !zug_at_mutex_trylock(this, name, file, line, func) : real.try_lock();
	}
	void unlock(ZUG_FROM)
	{
		if (ZUG_MINE)
			zug_at_mutex_unlock(this, name, file, line, func);
		else
			real.unlock();
	}

private:
	friend class condition_variable;
	const char *name;
	std::mutex real;
};

/* As std::condition_variable, for zug::mutex. */
class condition_variable {
public:
	condition_variable(const char *name = "condition") : name(name) {}

	void wait(std::unique_lock<mutex> &lock, ZUG_FROM)
	{
		if (ZUG_MINE)
			zug_at_cond_wait(this, lock.mutex(), 0, name, lock.mutex()->name, file, line, func);
		else
			real.wait(lock);
	}
	template <typename Condition>
	void wait(std::unique_lock<mutex> &lock, Condition condition, ZUG_FROM)
	{
		while (!condition())
			wait(lock, file, line, func);
	}
	void notify_one(ZUG_FROM)
	{
		if (ZUG_MINE)
			zug_at_cond_signal(this, 0, name, file, line, func);
		else
			real.notify_one();
	}
	void notify_all(ZUG_FROM)
	{
		if (ZUG_MINE)
			zug_at_cond_signal(this, 1, name, file, line, func);
		else
			real.notify_all();
	}

private:
	const char *name;
	std::condition_variable_any real;
};

/* What operations wait for; deleted with the object. */
class resource {
public:
	explicit resource(const char *name) : r(zug_create_resource(name)) {}
	resource(const resource &) = delete;
	resource &operator=(const resource &) = delete;
	~resource()
	{
		if (r > 0)
			zug_delete_resource(r);
	}
	int wait(ZUG_FROM) { return ZUG_CALL(zug_at_wait_resource(r, file, line, func)); }
	int signal(ZUG_FROM) { return ZUG_CALL(zug_at_signal_resource(r, file, line, func)); }
	int signal_all(ZUG_FROM) { return ZUG_CALL(zug_at_signal_all(r, file, line, func)); }
	int handle() const { return r; }

private:
	int r;
};

} /* namespace zug */

#undef ZUG_FROM
#endif
