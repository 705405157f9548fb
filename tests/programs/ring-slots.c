/*
 * bug: two processes put values into a ring in shared memory: the head is read while a semaphore is held, and stored after
 *	that was given back
 * how: one has written its slot and is stopped before it stores the head; the other puts both of its values, and its head
 *	is overwritten by an older one.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption, in either process between sem_post() and the store of the head: more than 1/4
 * executions: 100
 * small: no
 * tsan: it knows one process only
 * build:
 */
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 16

struct ring {
	sem_t lock;
	unsigned int head;
	int slot[SLOTS];
};

static struct ring *r;

static void put(int value)
{
	unsigned int head;

	sem_wait(&r->lock);
	head = r->head;
#ifndef FIXED
	sem_post(&r->lock);
#endif
	r->slot[head % SLOTS] = value;
	r->head = head + 1;
#ifdef FIXED
	sem_post(&r->lock);
#endif
}

int main(void)
{
	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		return 2;
	sem_init(&r->lock, 1, 1);
	for (int i = 0; i < 2; i++)
		if (!fork()) {
			put(2 * i + 1);
			put(2 * i + 2);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return r->head != 4;
}
