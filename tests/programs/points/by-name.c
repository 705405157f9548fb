/*
 * Primitives that a program does not import, which are points all the same: it looks up one by a name among its
 * strings, and one by a name that it composes; a library that it loads (its argument) uses that one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

int main(int argc, char **argv)
{
	int (*lock)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_DEFAULT, "pthread_mutex_lock");
	int (*rdlock)(pthread_rwlock_t *);
	char name[64];

	if (!lock || lock(&mutex) || argc != 2 || !dlopen(argv[1], RTLD_NOW))
		return 1;
	snprintf(name, sizeof(name), "pthread_%s_rdlock", "rwlock");
	rdlock = (int (*)(pthread_rwlock_t *))dlsym(RTLD_DEFAULT, name);
	return !rdlock || rdlock(&rwlock);
}
