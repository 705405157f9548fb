/*
 * A process adds to a word that it shares with another one, which kills it. How often it has added is the exit status: so
 * many of its steps must be in the trace.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int *sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), status;
	pid_t child;

	if (sum == MAP_FAILED)
		return 100;
	child = fork();
	if (child < 0)
		return 100;
	if (child == 0) {
		for (int i = 0; i < 8; i++)
			__asm__ volatile("addl $1,%0" : "+m"(*sum));
		_exit(0);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? *sum : 0;
}
