/*
 * A library that uses a primitive, and does nothing when it is loaded: for by-name.c.
 *
 * build: -shared -fPIC
 */
#include <pthread.h>

int use_rdlock(pthread_rwlock_t *lock);

int use_rdlock(pthread_rwlock_t *lock)
{
	return pthread_rwlock_rdlock(lock);
}
