/*
 * bug: a function-local static's constructor takes a lock under which another thread first uses it
 * how: T1 has entered the constructor (the compiler's guard is held) and is preempted before it
 *	locks the registry; T2 has locked the registry, calls instance() and waits for the guard;
 *	T1 waits for the registry. The mutex is recursive, so each thread alone passes.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption. Random walk: as abba-deadlock, p >= 1/8.
 *	PCT depth 2, 3 tasks, k <= 20 points: p >= 1/60.
 * executions: 400
 * small: yes
 * count-reasoning: main has create, create, join, join; T1 guard acquire, lock, unlock, guard
 *	release, exit; T2 lock, (guard, lock, unlock, release), unlock, exit: at most 16 points.
 * build:
 */
#include <pthread.h>

static pthread_mutex_t registry_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int nr_registered;

struct service {
	int number;

	service()
	{
		pthread_mutex_lock(&registry_lock);
		number = ++nr_registered;
		pthread_mutex_unlock(&registry_lock);
	}
};

static service &instance()
{
	static service only;

	return only;
}

static void *uses(void *arg)
{
	*static_cast<int *>(arg) = instance().number;
	return nullptr;
}

static void *uses_under_lock(void *arg)
{
#ifdef FIXED
	service &service = instance();
#endif
	pthread_mutex_lock(&registry_lock);
#ifndef FIXED
	service &service = instance();
#endif
	*static_cast<int *>(arg) = service.number + nr_registered;
	pthread_mutex_unlock(&registry_lock);
	return nullptr;
}

int main()
{
	int first = 0, second = 0;
	pthread_t a, b;

	pthread_create(&a, nullptr, uses, &first);
	pthread_create(&b, nullptr, uses_under_lock, &second);
	pthread_join(a, nullptr);
	pthread_join(b, nullptr);
	return first != 1 || second != 2;
}
