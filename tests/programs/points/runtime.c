/* A runtime of a language, by what it defines: what is atomic in it is its own affair. */
#include <pthread.h>

static int count;

int napi_create_function(void)
{
	return __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
}

static void *worker(void *arg)
{
	napi_create_function();
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, worker, NULL);
	napi_create_function();
	pthread_join(thread, NULL);
	return count != 2;
}
