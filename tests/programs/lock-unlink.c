/*
 * bug: a lock file is removed by who holds its lock, so another one may lock the file that is no longer there
 * how: a second process opens the file, and waits for its lock. The first one removes the file and gives the lock
 *	back, then it comes again, makes a new file and locks that: both hold "the" lock, and one update is lost.
 * outcome: exit 1
 * options:
 * args:
 * odds: 2 preemptions: of the second process between open() and flock() (or it waits there), and of the first one in
 *	its second turn, between its read and its write.
 * executions: 1500
 * small: no
 * build:
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS	2

static int take(void)
{
	int fd = open("counter.lock", O_CREAT | O_RDWR, 0600);

	if (fd < 0 || flock(fd, LOCK_EX))
		_exit(2);
#ifdef FIXED
	struct stat here, there;

	if (fstat(fd, &here) || stat("counter.lock", &there) || here.st_ino != there.st_ino) {
		close(fd);
		return take();
	}
#endif
	return fd;
}

static void add(int counter)
{
	for (int i = 0; i < TURNS; i++) {
		int fd = take();
		char n;

		if (pread(counter, &n, 1, 0) != 1)
			_exit(2);
		n++;
		if (pwrite(counter, &n, 1, 0) != 1)
			_exit(2);
		unlink("counter.lock");
		close(fd);
	}
}

int main(void)
{
	int status, counter = open("counter", O_CREAT | O_RDWR | O_TRUNC, 0600);
	pid_t pid;
	char n = 0;

	if (counter < 0 || write(counter, &n, 1) != 1)
		return 2;
	pid = fork();
	if (pid < 0)
		return 2;
	add(counter);
	if (pid == 0)
		_exit(0);
	if (waitpid(pid, &status, 0) != pid || status != 0 || pread(counter, &n, 1, 0) != 1)
		return 2;
	return n != 2 * TURNS;
}
