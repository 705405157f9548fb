/*
 * Every primitive of threads once, without contention. The words `op: NAME OBJECT` at the end of a
 * line are the operation and the object (- for none) that the label of its call must have; `glibc`: only with
 * glibc. (The stop at an uncontended spin lock of glibc comes after it was taken.)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex;
static pthread_cond_t cond;
static pthread_rwlock_t rwlock;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static mtx_t mtx;
static cnd_t cnd;
static once_flag flag = ONCE_FLAG_INIT;
static int ready;

static void nothing(void)
{
}

/* The waiter holds the mutex until it waits: the signal comes only then. */
static void *signals(void *arg)
{
	pthread_mutex_lock(&mutex);
	ready++;
	pthread_cond_signal(&cond); /* op: cond-signal cond */
	pthread_cond_broadcast(&cond); /* op: cond-broadcast cond */
	pthread_mutex_unlock(&mutex);
	return arg;
}

static int signals_c11(void *arg)
{
	mtx_lock(&mtx); /* op: lock mtx */
	ready++;
	cnd_signal(&cnd); /* op: cond-signal cnd */
	cnd_broadcast(&cnd); /* op: cond-broadcast cnd */
	mtx_unlock(&mtx); /* op: unlock mtx */
	return arg != NULL;
}

static void *returns(void *arg)
{
	return arg;
}

static int returns_c11(void *arg)
{
	return arg != NULL;
}

static struct timespec soon(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += 60;
	return t;
}

static void mutexes(void)
{
	struct timespec real = soon(CLOCK_REALTIME);

	pthread_mutex_init(&mutex, NULL); /* op: mutex-init mutex */
	pthread_mutex_lock(&mutex); /* op: lock mutex */
	pthread_mutex_unlock(&mutex); /* op: unlock mutex */
	pthread_mutex_trylock(&mutex); /* op: trylock mutex */
	pthread_mutex_unlock(&mutex);
	pthread_mutex_timedlock(&mutex, &real); /* op: timedlock mutex */
	pthread_mutex_unlock(&mutex);
#ifdef __GLIBC__
	struct timespec mono = soon(CLOCK_MONOTONIC);

	pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &mono); /* op: timedlock mutex glibc */
	pthread_mutex_unlock(&mutex);
#endif
}

static void conditions(void)
{
	struct timespec real = soon(CLOCK_REALTIME);
	pthread_t thread;

	pthread_cond_init(&cond, NULL); /* op: cond-init cond */
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, signals, NULL); /* op: create - */
	while (ready < 1)
		pthread_cond_wait(&cond, &mutex); /* op: cond-wait cond */
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL); /* op: join - */
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, signals, NULL);
	while (ready < 2)
		pthread_cond_timedwait(&cond, &mutex, &real); /* op: cond-timedwait cond */
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
#ifdef __GLIBC__
	struct timespec mono = soon(CLOCK_MONOTONIC);

	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, signals, NULL);
	while (ready < 3)
		pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &mono); /* op: cond-timedwait cond glibc */
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
#endif
	pthread_cond_destroy(&cond); /* op: cond-destroy cond */
	pthread_mutex_destroy(&mutex); /* op: mutex-destroy mutex */
}

static void rwlocks(void)
{
	struct timespec real = soon(CLOCK_REALTIME);

	pthread_rwlock_init(&rwlock, NULL); /* op: rwlock-init rwlock */
	pthread_rwlock_rdlock(&rwlock); /* op: rdlock rwlock */
	pthread_rwlock_tryrdlock(&rwlock); /* op: tryrdlock rwlock */
	pthread_rwlock_unlock(&rwlock); /* op: rwunlock rwlock */
	pthread_rwlock_timedrdlock(&rwlock, &real); /* op: timedrdlock rwlock */
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock); /* op: wrlock rwlock */
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_trywrlock(&rwlock); /* op: trywrlock rwlock */
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_timedwrlock(&rwlock, &real); /* op: timedwrlock rwlock */
	pthread_rwlock_unlock(&rwlock);
#ifdef __GLIBC__
	struct timespec mono = soon(CLOCK_MONOTONIC);

	pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &mono); /* op: timedrdlock rwlock glibc */
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &mono); /* op: timedwrlock rwlock glibc */
	pthread_rwlock_unlock(&rwlock);
#endif
	pthread_rwlock_destroy(&rwlock); /* op: rwlock-destroy rwlock */
}

static void semaphores(void)
{
	struct timespec real = soon(CLOCK_REALTIME);
	char name[32];
	sem_t *named;
	int value;

	sem_init(&sem, 0, 0); /* op: sem-init sem */
	for (int i = 0; i < 4; i++)
		sem_post(&sem); /* op: sem-post sem */
	sem_wait(&sem); /* op: sem-wait sem */
	sem_trywait(&sem); /* op: sem-trywait sem */
	sem_getvalue(&sem, &value); /* op: sem-getvalue sem */
	sem_timedwait(&sem, &real); /* op: sem-timedwait sem */
#ifdef __GLIBC__
	struct timespec mono = soon(CLOCK_MONOTONIC);

	sem_clockwait(&sem, CLOCK_MONOTONIC, &mono); /* op: sem-timedwait sem glibc */
#endif
	sem_destroy(&sem); /* op: sem-destroy sem */
	snprintf(name, sizeof(name), "/zug-test-%d", (int)getpid());
	named = sem_open(name, O_CREAT | O_EXCL, 0600, 1); /* op: sem-open - */
	if (named != SEM_FAILED) {
		sem_wait(named); /* op: sem-wait semaphore */
		sem_post(named); /* op: sem-post semaphore */
		sem_unlink(name);
		sem_close(named);
	}
}

static void others(void)
{
	pthread_t thread;

	pthread_spin_init(&spin, 0);
	pthread_spin_lock(&spin); /* op: point|spin-lock spin glibc */
	pthread_spin_unlock(&spin); /* op: spin-unlock spin */
	pthread_spin_trylock(&spin); /* op: spin-trylock spin */
	pthread_spin_unlock(&spin);
	pthread_spin_destroy(&spin); /* op: spin-destroy spin */
	pthread_barrier_init(&barrier, NULL, 1); /* op: barrier-init barrier */
	pthread_barrier_wait(&barrier); /* op: barrier-wait barrier */
	pthread_barrier_destroy(&barrier); /* op: barrier-destroy barrier */
	pthread_once(&once, nothing); /* op: once once */
	pthread_create(&thread, NULL, returns, NULL);
	pthread_detach(thread); /* op: detach - */
	sched_yield();
}

static void c11(void)
{
	struct timespec real = soon(CLOCK_REALTIME);
	thrd_t thread;

	ready = 0;
	mtx_init(&mtx, mtx_timed); /* op: mutex-init mtx */
	mtx_trylock(&mtx); /* op: trylock mtx */
	mtx_unlock(&mtx);
	mtx_timedlock(&mtx, &real); /* op: timedlock mtx */
	mtx_unlock(&mtx);
	cnd_init(&cnd); /* op: cond-init cnd */
	mtx_lock(&mtx);
	thrd_create(&thread, signals_c11, NULL); /* op: create - */
	while (ready < 1)
		cnd_wait(&cnd, &mtx); /* op: cond-wait cnd */
	mtx_unlock(&mtx);
	thrd_join(thread, NULL); /* op: join - */
	mtx_lock(&mtx);
	thrd_create(&thread, signals_c11, NULL);
	while (ready < 2)
		cnd_timedwait(&cnd, &mtx, &real); /* op: cond-timedwait cnd */
	mtx_unlock(&mtx);
	thrd_join(thread, NULL);
	cnd_destroy(&cnd); /* op: cond-destroy cnd */
	mtx_destroy(&mtx); /* op: mutex-destroy mtx */
	call_once(&flag, nothing); /* op: once flag */
	thrd_create(&thread, returns_c11, NULL);
	thrd_detach(thread); /* op: detach - */
	thrd_yield();
}

int main(void)
{
	mutexes();
	conditions();
	rwlocks();
	semaphores();
	others();
	c11();
	return 0;
}
