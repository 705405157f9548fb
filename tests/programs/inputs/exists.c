/*
 * open(O_CREAT) of one file, by two threads: only where it does not exist yet it can find no space. Ends with 10 when a call
 * fails for that. With an argument the file exists before, and that is the status when the second thread is done first.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int done;

static void touch(void)
{
	int fd = open("there", O_RDWR | O_CREAT, 0644);

	if (fd < 0)
		_exit(errno == ENOSPC ? 10 : 2);
	close(fd);
}

static void *second(void *arg)
{
	touch();
	done = 1;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;
	int early;

	unlink("there");
	if (argc > 1 && mknod("there", S_IFREG | 0644, 0))
		return 2;
	if (pthread_create(&t, NULL, second, NULL))
		return 2;
	for (int i = 0; i < 20; i++)
		touch();
	early = done;
	pthread_join(t, NULL);
	return early && argc > 1 ? atoi(argv[1]) : 0;
}
