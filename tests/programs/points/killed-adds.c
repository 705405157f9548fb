/*
 * A process adds to a word that it shares with another one, which kills it. How often it has added is the exit status: so
 * many of its steps must be in the trace. With an argument the other looks at the word before it kills, when the first has said
 * that it is done, and not afterwards.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	char byte = 0;
	int done[2];
	int *sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), status;
	pid_t child;

	(void)argv;
	if (sum == MAP_FAILED || pipe(done))
		return 100;
	child = fork();
	if (child < 0)
		return 100;
	if (child == 0) {
		for (int i = 0; i < 8; i++)
			__asm__ volatile("addl $1,%0" : "+m"(*sum));
		if (argc > 1 && write(done[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	if (argc > 1 && (read(done[0], &byte, 1) != 1 || *sum != 8))
		return 100;
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return argc == 1 && WIFSIGNALED(status) ? *sum : 0;
}
