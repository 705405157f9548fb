/* Fails, and prints random numbers of every source, of two tasks, so that the outputs of replays can be compared. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static void print(const char *what, const unsigned char *bytes, int len)
{
	printf("%s ", what);
	for (int i = 0; i < len; i++)
		printf("%02x", bytes[i]);
	printf("\n");
}

int main(void)
{
	unsigned char bytes[1000];
	int fd;

	if (getrandom(bytes, 13, 0) != 13)
		return 2;
	print("getrandom", bytes, 13);
	fd = open("/dev/urandom", O_RDONLY);
	if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		return 2;
	print("urandom", bytes, 8);
	print("its end", bytes + 992, 8);
	close(fd);
	print("auxv", (const unsigned char *)getauxval(AT_RANDOM), 16);
	fflush(stdout);
	if (!fork()) {
		fd = open("/dev/random", O_RDONLY);
		if (read(fd, bytes, 8) == 8)
			print("child", bytes, 8);
		return 0;
	}
	wait(NULL);
	return 1;
}
