/*
 * open(O_CREAT) of one file, twenty times: only where it does not exist yet it can find no space. Ends with 10 when a call
 * fails for that, else with its argument.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < 20; i++) {
		int fd = open("there", O_RDWR | O_CREAT, 0644);

		if (fd < 0)
			return errno == ENOSPC ? 10 : 2;
		close(fd);
	}
	return argc > 1 ? atoi(argv[1]) : 0;
}
