/*
 * Leaves an object behind in every part of its environment, and prints their names; fails with status 1, so that there
 * is a trace, or with status 4 if it finds an object of an earlier execution.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int nr_found;

static void made(const char *what, int ret)
{
	if (ret >= 0)
		return;
	printf("%s: %s\n", what, strerror(errno));
	nr_found++;
}

static void *thread(void *arg)
{
	printf("thread %ld\n", syscall(SYS_gettid));
	return arg;
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(47011),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = open("left-behind", O_CREAT | O_EXCL | O_RDWR, 0600), change = open("yours", O_RDWR | O_APPEND);
	char host[64] = "", yours[64] = "";
	struct stat st = { 0 };
	pthread_t t;

	made("working folder", fd);
	made("/tmp", open("/tmp/left-behind", O_CREAT | O_EXCL | O_RDWR, 0600));
	made("POSIX shared memory", shm_open("/left-behind", O_CREAT | O_EXCL | O_RDWR, 0600));
	made("System V shared memory", shmget(0x7a7567, 4096, IPC_CREAT | IPC_EXCL | 0600));
	made("port", bind(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof(a)));
	made("removal", unlink("theirs"));
	made("folder", rename("folder", "renamed"));
	if (read(change, yours, sizeof(yours) - 1) < 0 || write(change, "mine\n", 5) != 5)
		made("file", -1);
	if (strcmp(yours, "yours\n"))
		nr_found++;
	fstat(fd, &st);
	gethostname(host, sizeof(host));
	printf("process %d of %d on %s, inode %lu\n", getpid(), getppid(), host, (unsigned long)st.st_ino);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	fflush(stdout);
	if (!fork())
		_exit(0);
	printf("child %d\n", wait(NULL));
	return nr_found ? 4 : 1;
}
