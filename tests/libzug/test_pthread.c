/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_pthread.c - programs with pthreads, C11 threads and semaphores: in tests, and the same ones on
 * the real library, with the same results
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/zug/zug_pthread.h"
#include "tests/model/tap.h"

#define THREADS	3
#define STEPS	6
#define VARS	3

/* ---- random programs whose results do not depend on the schedule ---- */

enum { ADD, ADD_TRY, ADD_WRITE, READ_ALL, POST_WAIT, MEET, ONCE, NR_KINDS };

static struct {
	int kind, var, value;
} code[THREADS][STEPS];
static int vars[VARS], shared, onces;
static pthread_mutex_t locks[VARS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once;
static pthread_barrier_t barrier;
static sem_t tokens;
static int arrived;

static void count_once(void)
{
	onces++;
}

static void step(int t, int i)
{
	int var = code[t][i].var, value = code[t][i].value, sum = 0;

	switch (code[t][i].kind) {
	case ADD:
		pthread_mutex_lock(&locks[var]);
		vars[var] += value;
		pthread_mutex_unlock(&locks[var]);
		break;
	case ADD_TRY:
		while (pthread_mutex_trylock(&locks[var]))
			sched_yield();
		vars[var] += value;
		pthread_mutex_unlock(&locks[var]);
		break;
	case ADD_WRITE:
		pthread_rwlock_wrlock(&rwlock);
		shared += value;
		pthread_rwlock_unlock(&rwlock);
		break;
	case READ_ALL:
		pthread_rwlock_rdlock(&rwlock);
		sum += shared;
		pthread_rwlock_unlock(&rwlock);
		break;
	case POST_WAIT:
		sem_wait(&tokens);
		sem_post(&tokens);
		break;
	case ONCE:
		pthread_once(&once, count_once);
		break;
	}
}

static void *thread(void *arg)
{
	int t = (int)(intptr_t)arg;

	for (int i = 0; i < STEPS; i++)
		step(t, i);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&locks[0]);
	arrived++;
	pthread_cond_broadcast(&changed);
	while (arrived < THREADS)
		pthread_cond_wait(&changed, &locks[0]);
	pthread_mutex_unlock(&locks[0]);
	if (t == 1)
		pthread_exit((void *)(intptr_t)(t + 10));
	return (void *)(intptr_t)(t + 10);
}

static unsigned int result;

static void random_program(void *arg)
{
	pthread_t threads[THREADS];
	void *value;

	(void)arg;
	memset(vars, 0, sizeof(vars));
	shared = onces = arrived = 0;
	memcpy(&once, &(pthread_once_t){ PTHREAD_ONCE_INIT }, sizeof(once));
	pthread_barrier_init(&barrier, NULL, THREADS);
	sem_init(&tokens, 0, 1);
	for (int t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, thread, (void *)(intptr_t)t);
	result = 0;
	for (int t = 0; t < THREADS; t++) {
		pthread_join(threads[t], &value);
		result = result * 31 + (unsigned int)(intptr_t)value;
	}
	for (int i = 0; i < VARS; i++)
		result = result * 31 + (unsigned int)vars[i];
	result = result * 31 + (unsigned int)shared + 1000 * (unsigned int)onces;
	pthread_barrier_destroy(&barrier);
	sem_destroy(&tokens);
}

static unsigned int wanted;

static void compared_program(void *arg)
{
	random_program(arg);
	zug_assert(result == wanted);
}

static void test_random(unsigned int flags, int nr)
{
	struct zug_report r = { 0 };
	struct zug_options o = { .executions = 60, .flags = ZUG_QUIET | flags, .report = &r };
	int bad = 0;

	for (int k = 0; k < nr; k++) {
		srand((unsigned int)k + 1);
		for (int t = 0; t < THREADS; t++)
			for (int i = 0; i < STEPS; i++) {
				code[t][i].kind = rand() % NR_KINDS;
				code[t][i].var = rand() % VARS;
				code[t][i].value = rand() % 100;
			}
		random_program(NULL);	/* real threads */
		wanted = result;
		if (zug_test(compared_program, NULL, &o)) {
			printf("# program %d: %s %s\n", k + 1, r.failure, zug_message());
			bad++;
		}
	}
	tap_ok(!bad, "%d random programs have the results of real threads%s", nr, flags ? ", as contexts" : "");
}

/* ---- one by one ---- */

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static bool ready;

static void *b_then_a(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return NULL;
}

static void abba(void *arg)
{
	pthread_t t;

	(void)arg;
	pthread_create(&t, NULL, b_then_a, NULL);
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	pthread_join(t, NULL);
}

static void *signaller(void *arg)
{
	(void)arg;
	ready = true;
	pthread_cond_signal(&cond);
	return NULL;
}

static void lost_wakeup(void *arg)
{
	pthread_t t;

	(void)arg;
	ready = false;
	pthread_create(&t, NULL, signaller, NULL);
	if (!ready) {
		pthread_mutex_lock(&a);
		pthread_cond_wait(&cond, &a);
		pthread_mutex_unlock(&a);
	}
	pthread_join(t, NULL);
}

static void unlock_free(void *arg)
{
	(void)arg;
	pthread_mutex_unlock(&a);
}

static void *lock_a(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&a);
	return NULL;
}

static void destroy_used(void *arg)
{
	pthread_t t;

	(void)arg;
	pthread_create(&t, NULL, lock_a, NULL);
	pthread_join(t, NULL);
	pthread_mutex_destroy(&a);
}

static void relock(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&a);
}

static void init_held(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&a);
	pthread_mutex_init(&a, NULL);
}

static void init_twice(void *arg)
{
	(void)arg;
	pthread_cond_init(&cond, NULL);
	pthread_cond_init(&cond, NULL);
}

static void *locks_late(void *arg)
{
	zug_schedule_next();
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	return arg;
}

/* In some schedules. */
static void use_destroyed(void *arg)
{
	pthread_t t;

	pthread_mutex_init(&a, NULL);
	pthread_create(&t, NULL, locks_late, arg);
	if (arg)
		pthread_join(t, NULL);
	pthread_mutex_destroy(&a);
	if (!arg)
		pthread_join(t, NULL);
}

/* No misuse: destroyed and begun again, and memory that is another lock's. */
static void begin_again(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2; i++) {
		pthread_mutex_t *m = malloc(sizeof(*m)), here;

		pthread_mutex_init(&a, NULL);
		pthread_mutex_lock(&a);
		pthread_mutex_unlock(&a);
		pthread_mutex_destroy(&a);
		pthread_mutex_init(m, NULL);
		pthread_mutex_lock(m);
		free(m);
		pthread_mutex_init(&here, NULL);
		pthread_mutex_lock(&here);
	}
	use_destroyed(&a);
}

static void wait_unlocked(void *arg)
{
	(void)arg;
	pthread_cond_wait(&cond, &a);
}

static void aborts(void *arg)
{
	(void)arg;
	zug_schedule_next();
	abort();
}

static void *nothing(void *arg)
{
	return arg;
}

/* What is an error number, and not the end of the execution. */
static void errors(void *arg)
{
	pthread_mutexattr_t attr;
	struct timespec past = { 0 };
	pthread_mutex_t m;
	pthread_rwlock_t rw;
	pthread_t t;
	sem_t s;
	void *value = NULL;
	int n;

	(void)arg;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&m, &attr);
	zug_assert(pthread_mutex_unlock(&m) == EPERM);
	zug_assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == EDEADLK && pthread_mutex_trylock(&m) == EBUSY);
	zug_assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_destroy(&m) == 0);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m, &attr);
	zug_assert(!pthread_mutex_lock(&m) && !pthread_mutex_lock(&m) && !pthread_mutex_trylock(&m));
	zug_assert(!pthread_mutex_unlock(&m) && !pthread_mutex_unlock(&m) && !pthread_mutex_unlock(&m));
	pthread_mutex_lock(&m);
	zug_assert(pthread_cond_timedwait(&cond, &m, &past) == ETIMEDOUT);
	zug_assert(pthread_cond_clockwait(&cond, &m, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	zug_assert(!pthread_mutex_unlock(&m));
	sem_init(&s, 0, 0);
	zug_assert(sem_trywait(&s) == -1 && errno == EAGAIN);
	zug_assert(sem_timedwait(&s, &past) == -1 && errno == ETIMEDOUT);
	errno = 0;
	zug_assert(sem_clockwait(&s, CLOCK_MONOTONIC, &past) == -1 && errno == ETIMEDOUT);
	zug_assert(!sem_post(&s) && !sem_getvalue(&s, &n) && n == 1 && !sem_timedwait(&s, &past));
	pthread_rwlock_init(&rw, NULL);
	zug_assert(!pthread_rwlock_rdlock(&rw) && !pthread_rwlock_tryrdlock(&rw) && pthread_rwlock_trywrlock(&rw) == EBUSY);
	zug_assert(pthread_rwlock_timedwrlock(&rw, &past) == ETIMEDOUT);
	zug_assert(pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	zug_assert(!pthread_rwlock_unlock(&rw) && !pthread_rwlock_unlock(&rw) && !pthread_rwlock_wrlock(&rw));
	zug_assert(pthread_rwlock_tryrdlock(&rw) == EBUSY && !pthread_rwlock_unlock(&rw) && !pthread_rwlock_destroy(&rw));
	pthread_create(&t, NULL, nothing, &n);
	zug_assert(!pthread_join(t, &value) && value == &n);
	zug_assert(pthread_join(t, NULL) == EINVAL && pthread_detach(t) == EINVAL && pthread_join(12345678, NULL) == ESRCH);
	pthread_create(&t, NULL, nothing, NULL);
	zug_assert(!pthread_detach(t) && pthread_join(t, NULL) == EINVAL);
	zug_assert(pthread_join(pthread_self(), NULL) == EDEADLK);
}

/* In an execution by hand a failure is no end of the caller's code, but that call has no way back. */
static void test_exit_by_hand(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		struct zug_options o = { .flags = ZUG_QUIET | ZUG_NO_MINIMIZE };
		struct zug_campaign *z = zug_open("exit", &o);

		close(2);
		zug_attach(z);
		pthread_exit(NULL);
	}
	waitpid(child, &status, 0);
	tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "pthread_exit() of a test by hand ends the process");
}

static void root_exits(void *arg)
{
	pthread_exit(arg);
}

static mtx_t mtx;
static cnd_t cnd;
static int c11_sum, c11_ready;

static int c11_thread(void *arg)
{
	mtx_lock(&mtx);
	c11_sum += *(int *)arg;
	c11_ready++;
	cnd_signal(&cnd);
	mtx_unlock(&mtx);
	if (*(int *)arg == 2)
		thrd_exit(7);
	return 5;
}

static void c11(void *arg)
{
	thrd_t t[2];
	int value[2], one = 1, two = 2;

	(void)arg;
	c11_sum = c11_ready = 0;
	mtx_init(&mtx, mtx_plain);
	cnd_init(&cnd);
	zug_assert(thrd_create(&t[0], c11_thread, &one) == thrd_success && thrd_create(&t[1], c11_thread, &two) == thrd_success);
	mtx_lock(&mtx);
	while (c11_ready < 2)
		cnd_wait(&cnd, &mtx);
	zug_assert(mtx_trylock(&mtx) == thrd_busy);
	mtx_unlock(&mtx);
	zug_assert(thrd_join(t[0], &value[0]) == thrd_success && thrd_join(t[1], &value[1]) == thrd_success);
	zug_assert(value[0] == 5 && value[1] == 7 && c11_sum == 3);
	cnd_destroy(&cnd);
	mtx_destroy(&mtx);
}

static void expect(void (*fn)(void *arg), const char *name, const char *failure)
{
	for (unsigned int flags = 0; flags <= ZUG_FIBERS; flags += ZUG_FIBERS) {
		struct zug_report r = { 0 };
		struct zug_options o = { .name = name, .executions = 400, .flags = ZUG_QUIET | flags, .report = &r };
		int ret = zug_test(fn, NULL, &o);
		bool good = failure ? ret == 1 && strstr(r.failure, failure) && r.replayed : !ret;

		tap_ok(good, "%s%s: %.90s", name, flags ? ", as contexts" : "", good && failure ? r.failure : "passes");
		if (!good)
			printf("# %d %s\n", ret, r.failure);
	}
}

int main(void)
{
	char folder[] = "/tmp/zug-pthread-XXXXXX", rm[64];

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	test_random(ZUG_FIBERS, tap_scale(30, 500));
	test_random(0, tap_scale(4, 50));
	expect(abba, "abba", "deadlock: ");
	expect(lost_wakeup, "lost wakeup", "cond-wait for cond");
	expect(unlock_free, "unlock of a free lock", "misuse: ");
	expect(destroy_used, "destroy of a held lock", "misuse: ");
	expect(relock, "a lock taken twice", "held by T0 itself");
	expect(init_held, "init of a held lock", "misuse: ");
	expect(init_twice, "init twice", "misuse: ");
	expect(use_destroyed, "use after destroy", "misuse: ");
	expect(begin_again, "destroyed and begun again", NULL);
	expect(wait_unlocked, "a wait without the lock", "misuse: ");
	expect(aborts, "abort", "abort() in test");
	expect(errors, "error numbers", NULL);
	expect(c11, "C11 threads", NULL);
	expect(root_exits, "the test's own operation exits", "cannot end as a thread does");
	test_exit_by_hand();
	snprintf(rm, sizeof(rm), "rm -rf %s", folder);
	if (chdir("/") || system(rm))
		return 1;
	return tap_done();
}
