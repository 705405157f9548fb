/*
 * bug: the threads of a parallel loop compare with the greatest value so far outside of the critical section that sets it
 * how: one thread finds its value greater and waits for the section, in which the other sets a still greater one; then it
 *	sets its own. Meanwhile it tries libgomp's lock again and again, which is no part of the bug.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption (between the comparison and the section). Random walk: p >= 1/16 once both threads have started.
 *	PCT depth 2, 2 tasks, k <= 60 points: p >= 1/120.
 * executions: 500
 * small: no
 * tsan: no, it does not know libgomp's barriers
 * build: -O2 -fopenmp
 */
#include <stdio.h>

static int best;

static int score(int i)
{
	return i * 7 % 11;
}

int main(void)
{
#pragma omp parallel for num_threads(2) schedule(static)
	for (int i = 0; i < 4; i++) {
		int s = score(i);

#ifdef FIXED
#pragma omp critical
		if (s > best)
			best = s;
#else
		if (s > best) {
#pragma omp critical
			best = s;
		}
#endif
	}
	if (best == 10)
		return 0;
	fprintf(stderr, "the greatest is %d\n", best);
	return 1;
}
