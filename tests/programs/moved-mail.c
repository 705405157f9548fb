/*
 * bug: a reader lists a mailbox's folder cur and then its folder new: a mail that is moved from new to cur meanwhile is in
 *	neither
 * how: the reader has listed cur, where the mail is not yet; the other process moves it there; the reader lists new, where
 *	it is not any more. The folder new was opened before: the listing itself makes the difference.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption, of the reader, in the row of about 8 calls between its two listings. Random walk: the other process has
 *	its few steps there: p >= 1/16. PCT depth 2, 2 tasks, k <= 40 points: p >= 1/80.
 * executions: 500
 * small: no
 * build:
 */
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int count(DIR *folder)
{
	struct dirent *entry;
	int nr = 0;

	while ((entry = readdir(folder)))
		nr += entry->d_name[0] != '.';
	closedir(folder);
	return nr;
}

int main(void)
{
	char box[] = "/tmp/moved-mail-XXXXXX";
	int status, fd, before;
	DIR *arrived, *seen;
	pid_t pid;

	if (!mkdtemp(box) || chdir(box) || mkdir("new", 0755) || mkdir("cur", 0755))
		return 2;
	fd = open("new/1", O_CREAT | O_WRONLY, 0644);
	arrived = opendir("new");
	seen = opendir("cur");
	if (fd < 0 || close(fd) || !arrived || !seen)
		return 2;
	pid = fork();
	if (!pid)
		_exit(rename("new/1", "cur/1:2,S") ? 2 : 0);
#ifdef FIXED
	/* twice is better than not at all */
	before = count(arrived);
	before += count(seen);
#else
	before = count(seen);
	before += count(arrived);
#endif
	if (waitpid(pid, &status, 0) != pid || status)
		return 2;
	if (unlink("cur/1:2,S") || rmdir("new") || rmdir("cur") || rmdir(box))
		return 2;
	if (!before)
		puts("no mail");
	return !before;
}
