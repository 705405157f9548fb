/*
 * bug: double-checked initialisation that publishes the object before it is initialised
 * how: T1 is first, sets `instance` and is preempted before it takes the registry's lock to get
 *	its number; T2's first check finds `instance` set, skips the lock and uses an object whose
 *	number is still 0.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: T1 passes two points (start, lock), then T2 its start before
 *	T1 passes the registry's lock: p >= 1/16.
 *	PCT depth 2, 3 tasks, k <= 20 points: p >= 1/60.
 * executions: 400
 * small: yes
 * count-reasoning: main has create, create, join, join; the first one lock, lock, unlock,
 *	unlock, exit; the other exit alone, or lock, unlock, exit: at most 12 points.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct service {
	int number;
};

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static int nr_registered;
static struct service storage;
static struct service *_Atomic instance;

static int register_service(void)
{
	int number;

	pthread_mutex_lock(&registry_lock);
	number = ++nr_registered;
	pthread_mutex_unlock(&registry_lock);
	return number;
}

static struct service *get_service(void)
{
	struct service *service = instance;

	if (service)
		return service;
	pthread_mutex_lock(&init_lock);
	service = instance;
	if (!service) {
		service = &storage;
#ifdef FIXED
		service->number = register_service();
		instance = service;
#else
		instance = service;
		service->number = register_service();
#endif
	}
	pthread_mutex_unlock(&init_lock);
	return service;
}

static void *user(void *arg)
{
	assert(get_service()->number == 1);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, user, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
