/*
 * An object that has a lock is freed by one thread when that has used it for the last time, while another has found it, but not
 * locked it yet. What the two threads do with it otherwise the lock orders. Never fails; with an argument it lies in pages of
 * its own, which are unmapped, and the other thread may fault.
 * build: -O2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

struct account {
	long number, owner, bank;
	pthread_mutex_t lock;
	long balance;
};

static _Atomic(struct account *) found;

static void *pays(void *arg)
{
	struct account *a = atomic_load(&found);

	pthread_mutex_lock(&a->lock);
	a->balance = 1;
	pthread_mutex_unlock(&a->lock);
	return arg;
}

int main(int argc, char **argv)
{
	struct account *a = argc < 2 ? malloc(sizeof(*a)) :
			    mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	(void)argv;
	if (!a || a == MAP_FAILED)
		return 2;
	pthread_mutex_init(&a->lock, NULL);
	a->balance = 0;
	atomic_store(&found, a);
	pthread_create(&thread, NULL, pays, NULL);
	pthread_mutex_lock(&a->lock);
	a->balance = 2;
	pthread_mutex_unlock(&a->lock);
	if (argc < 2)
		free(a);
	else
		munmap(a, sizeof(*a));
	pthread_join(thread, NULL);
	return 0;
}
