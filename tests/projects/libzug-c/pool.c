/* A pool that has one slot, which two may take: the test must find that they can both have it. */
#include <zug_pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slots, users;

static int slot_is_free(void)
{
	int slot;

	pthread_mutex_lock(&lock);
	slot = slots > 0;
	pthread_mutex_unlock(&lock);
	return slot;
}

static void *take(void *arg)
{
	if (slot_is_free()) {
		pthread_mutex_lock(&lock);
		slots--;
		users++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void test(void *arg)
{
	pthread_t a, b;

	(void)arg;
	slots = 1;
	users = 0;
	pthread_create(&a, NULL, take, NULL);
	pthread_create(&b, NULL, take, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	zug_assert(users == 1);
}

int main(void)
{
	return zug_test(test, NULL, NULL);
}
