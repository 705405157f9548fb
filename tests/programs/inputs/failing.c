/*
 * System calls into which a fault can be injected; the exit status, 10 and more, names the one that failed. It makes files
 * in the current folder.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int fd, status, error = 0;
	void *m;
	pid_t pid;

	unlink("made");
	rmdir("folder");
	fd = open("made", O_RDWR | O_CREAT, 0644);
	if (fd < 0)
		return errno == ENOSPC ? 10 : 2;
	if (write(fd, "text", 4) != 4)
		error = errno == ENOSPC ? 11 : 2;
	if (!error && mkdir("folder", 0755))
		error = errno == ENOSPC ? 12 : 2;
	if (!error && (m = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) == MAP_FAILED)
		error = errno == ENOMEM ? 13 : 2;
	if (!error) {
		pid = fork();
		if (!pid)
			_exit(0);
		error = pid > 0 || errno != ENOMEM ? 0 : 14;
		if (pid > 0 && wait(&status) < 0)
			error = 2;
	}
	unlink("made");
	rmdir("folder");
	return error;
}
