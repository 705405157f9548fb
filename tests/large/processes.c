/* As many processes as the argument says, which live at the same time: all wait until the first one closes a pipe. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2, gate[2], ended = 0;
	char byte;

	if (pipe(gate))
		return 1;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			fprintf(stderr, "no more than %d processes\n", i);
			exit(2);
		}
		if (!pid) {
			close(gate[1]);
			_exit(read(gate[0], &byte, 1) != 0);
		}
	}
	close(gate[1]);
	for (int status; wait(&status) > 0; ended++)
		if (status)
			return 3;
	return ended != n;
}
