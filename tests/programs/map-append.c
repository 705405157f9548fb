/*
 * bug: two processes append a page to a mapped file, and take its size for the place of theirs, without a lock
 * how: one looks at the size and is stopped before it makes the file longer; the other looks at the same size, so both map
 *	the same page.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption, between fstat() and ftruncate() of either: about 1/4
 * executions: 100
 * small: yes
 * tsan: it knows one process only
 * build:
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static void append(const char *path, char c)
{
	int fd = open(path, O_RDWR);
	struct stat st;
	char *at;

	if (fd < 0)
		_exit(2);
#ifdef FIXED
	if (flock(fd, LOCK_EX))
		_exit(2);
#endif
	if (fstat(fd, &st) || ftruncate(fd, st.st_size + PAGE))
		_exit(2);
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, st.st_size);
	if (at == MAP_FAILED)
		_exit(2);
	at[0] = c;
	close(fd);
	_exit(0);
}

int main(void)
{
	struct stat st;
	int fd = open("pages", O_CREAT | O_TRUNC | O_RDWR, 0600), status, bad = 0;

	if (fd < 0 || close(fd))
		return 2;
	for (int i = 0; i < 2; i++)
		if (!fork())
			append("pages", 'a' + i);
	while (wait(&status) > 0)
		bad |= status;
	if (bad || stat("pages", &st))
		return 2;
	unlink("pages");
	return st.st_size != 2 * PAGE;
}
