/*
 * bug: a file is replaced by two renames; a writer that is killed between them leaves no file
 * how: the writer is killed after it has renamed the old file, before it renames the new one.
 * outcome: exit 1
 * options: --faults kill
 * args:
 * odds: no preemption, 1 fault, at one of about ten calls of the writer: about 1/12.
 * executions: 150
 * small: no
 * build:
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stdio.h>

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, text, 4) != 4)
		_exit(2);
	close(fd);
}

static void replace(void)
{
	put("new", "new\n");
	unlink("old");
#ifdef FIXED
	if (link("config", "old"))
		_exit(2);
#else
	if (rename("config", "old"))
		_exit(2);
#endif
	if (rename("new", "config"))
		_exit(2);
}

int main(void)
{
	char folder[] = "/tmp/crash-renames-XXXXXX";
	int lost;

	if (!mkdtemp(folder) || chdir(folder))
		return 2;
	put("config", "one\n");
	if (!fork()) {
		replace();
		_exit(0);
	}
	wait(NULL);
	lost = access("config", R_OK);
	unlink("config");
	unlink("new");
	unlink("old");
	rmdir(folder);
	return lost ? 1 : 0;
}
