/* Two threads lock and unlock a mutex by calls from code that is made at run time, and lies in no file. */
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int (*call)(pthread_mutex_t *m, int (*operation)(pthread_mutex_t *));

static void *work(void *arg)
{
	call(&lock, pthread_mutex_lock);
	call(&lock, pthread_mutex_unlock);
	return arg;
}

int main(void)
{
	/* sub $8,%rsp; call *%rsi; add $8,%rsp; ret */
	static const unsigned char code[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd6, 0x48, 0x83, 0xc4, 8, 0xc3 };
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[2];

	assert(page != MAP_FAILED);
	memcpy(page, code, sizeof(code));
	memcpy(&call, &page, sizeof(call));
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
