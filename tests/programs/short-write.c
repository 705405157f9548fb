/*
 * bug: write() is taken to have written all that it was given
 * how: it writes less, as it may: the rest of the record is lost.
 * outcome: exit 1
 * options: --faults short
 * args:
 * odds: no preemption, 1 fault at one of two calls: about 2/3.
 * executions: 60
 * small: no
 * build:
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void save(int fd, const char *bytes, size_t len)
{
#ifdef FIXED
	for (ssize_t n; len; bytes += n, len -= n) {
		n = write(fd, bytes, len);
		if (n <= 0)
			exit(2);
	}
#else
	if (write(fd, bytes, len) < 0)
		exit(2);
#endif
}

int main(void)
{
	char name[] = "/tmp/short-write-XXXXXX", record[100];
	int fd = mkstemp(name);
	struct stat st;

	if (fd < 0)
		return 2;
	memset(record, 'x', sizeof(record));
	save(fd, record, sizeof(record));
	save(fd, record, sizeof(record));
	if (fstat(fd, &st))
		return 2;
	unlink(name);
	return st.st_size == 2 * sizeof(record) ? 0 : 1;
}
