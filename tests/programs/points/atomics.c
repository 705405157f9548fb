/*
 * Atomic instructions in each of their forms, without contention. The words `op: NAME OBJECT` at the end
 * of a line are the operation and the object (- for none) that its label must have. The program prints
 * its counts, which show whether the instructions still have their effect.
 * build: -O2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static atomic_int counter, flag;
static atomic_long total;
static atomic_uchar byte;
static _Atomic uint16_t word;
static int plain;
static __thread atomic_int mine;

static int use(int n)
{
	int expected = n, before;
	atomic_int local = 1;

	before = atomic_fetch_add(&counter, 1); /* op: atomic-rmw counter */
	atomic_store(&flag, n); /* op: atomic-rmw flag */
	atomic_fetch_or(&byte, 4); /* op: atomic-rmw byte */
	atomic_fetch_add(&word, 3); /* op: atomic-rmw word */
	atomic_compare_exchange_strong(&flag, &expected, n + 1); /* op: atomic-rmw flag */
	before += atomic_load(&counter); /* op: atomic-load counter */
	atomic_store_explicit(&flag, 0, memory_order_release); /* op: atomic-store flag */
	atomic_fetch_sub(&total, before); /* op: atomic-rmw total */
	__asm__ volatile("mfence" ::: "memory"); /* op: fence - */
	__builtin_ia32_pause(); /* op: pause - */
	plain = n;
	mine++;
	local++;
	return mine + local;
}

static void *thread(void *arg)
{
	return (void *)(intptr_t)use((int)(intptr_t)arg);
}

int main(void)
{
	pthread_t t;
	void *got;

	if (pthread_create(&t, NULL, thread, (void *)2) || pthread_join(t, &got))
		return 2;
	use(1);
	printf("%d %d %d %d %ld\n", counter, flag, byte, word, total);
	return (intptr_t)got != 3 || counter != 2 || flag || byte != 4 || word != 6 || total != -4;
}
