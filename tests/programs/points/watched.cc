/*
 * Two processes add to a variable of the program; a mapping of shared memory lies over it; one
 * addition is lost when the other process comes between its load and its store.
 */
#include <cstdio>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bank {
/* A page of its own, so that it can be shared. */
alignas(4096) volatile int total;
alignas(4096) char behind[4096];
}

static void add()
{
	int seen = bank::total;

	bank::total = seen + 1;
}

int main()
{
	int status;

	if (mmap((void *)&bank::total, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		return 2;
	pid_t pid = fork();

	if (pid == 0) {
		add();
		_exit(0);
	}
	add();
	if (waitpid(pid, &status, 0) != pid)
		return 2;
	if (bank::total != 2)
		printf("total %d\n", bank::total);
	return bank::total == 2 ? 0 : 1;
}
