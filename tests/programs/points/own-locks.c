/*
 * Two processes of one task each, which lock what no other task can see 50 times, a recursive mutex twice in a row, and
 * write to a file that both have open in between. They set what is set for a signal. With an argument they have a handler for
 * another one, which could see what they do. With 'library' it is libcrypto that locks, for itself, among libraries without
 * a place that stops: 150 times, or as often as the next argument says. At the end it does so in a thread, once or as often
 * as the last argument says.
 */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER, counts;

static void on_signal(int sig)
{
	(void)sig;
}

static void *lock;
static int (*write_lock)(void *), (*unlock)(void *);
static int rounds = 150, rounds_of_thread = 1;

static void open_library(void)
{
	static const char *const others[] = { "librt.so.1", "libutil.so.1", "libanl.so.1", "libresolv.so.2", "libm.so.6" };
	void *crypto = dlopen("libcrypto.so.3", RTLD_NOW);
	void *(*make)(void) = crypto ? (void *(*)(void))dlsym(crypto, "CRYPTO_THREAD_lock_new") : NULL;

	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert(dlopen(others[i], RTLD_NOW));
	assert(make);
	lock = make();
	write_lock = (int (*)(void *))dlsym(crypto, "CRYPTO_THREAD_write_lock");
	unlock = (int (*)(void *))dlsym(crypto, "CRYPTO_THREAD_unlock");
	assert(lock && write_lock && unlock);
}

static void *in_thread(void *arg)
{
	for (int i = 0; i < rounds_of_thread; i++)
		assert(write_lock(lock) == 1 && unlock(lock) == 1);
	return arg;
}

static void locks(int file)
{
	for (int i = 0; lock && i < rounds; i++)
		assert(write_lock(lock) == 1 && unlock(lock) == 1);
	for (int i = 0; !lock && i < 50; i++) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
		pthread_mutex_lock(&counts);
		pthread_mutex_lock(&counts);
		pthread_mutex_unlock(&counts);
		pthread_mutex_unlock(&counts);
		if (i % 25 == 0)
			assert(write(file, "x", 1) == 1);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	char name[] = "/tmp/own-locks.XXXXXX";
	int file = mkstemp(name), status;
	pthread_mutexattr_t recursive;
	pthread_t thread;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&counts, &recursive);
	assert(file >= 0 && !unlink(name));
	signal(SIGUSR2, SIG_DFL);
	if (argc > 1)
		signal(SIGUSR1, on_signal);
	if (argc > 1 && !strcmp(argv[1], "library"))
		open_library();
	if (argc > 3) {
		rounds = atoi(argv[2]);
		rounds_of_thread = atoi(argv[3]);
	}
	for (int i = 0; i < 2; i++)
		if (!fork())
			locks(file);
	while (wait(&status) > 0)
		assert(WIFEXITED(status) && !WEXITSTATUS(status));
	if (lock)
		assert(!pthread_create(&thread, NULL, in_thread, NULL) && !pthread_join(thread, NULL));
	return 0;
}
