/*
 * Two processes that map one file at different addresses, each with an atomic counter in it: one object
 * for both; and one on the heap of each, which is a different object in each.
 * build: -O2
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int use(int fd, size_t add)
{
	char *m = mmap(NULL, 4096 + add, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	atomic_int *heap = calloc(1, sizeof(*heap));

	if (m == MAP_FAILED || !heap)
		return 1;
	atomic_fetch_add((atomic_int *)(m + 64), 1); /* object: shared */
	atomic_fetch_add(heap, 1); /* object: heap */
	return 0;
}

int main(void)
{
	int fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600), status;
	pid_t pid;

	if (fd < 0 || ftruncate(fd, 4096))
		return 2;
	pid = fork();
	if (pid == 0)
		_exit(use(fd, 1 << 20));
	if (pid < 0 || use(fd, 0) || waitpid(pid, &status, 0) != pid)
		return 2;
	return status != 0;
}
