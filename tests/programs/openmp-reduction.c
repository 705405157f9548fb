/*
 * bug: the iterations of a parallel loop add to one sum, without a reduction clause
 * how: two threads read the same sum, both add to it and write it back: one term is lost. Their code
 *	adds with one instruction, which is indivisible on one processor and has two steps on two.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption (between the halves of one addition). Random walk: p >= 1/16 once both threads
 *	have started.
 *	PCT depth 2, 2 tasks, k <= 60 points: p >= 1/120.
 * executions: 500
 * small: no
 * tsan: no, it does not know libgomp's barriers
 * build: -O2 -fopenmp
 */
#include <assert.h>

static int values[4] = { 1, 2, 3, 4 };

static int sum_of_squares(const int *v, int nr)
{
	int sum = 0;

#ifdef FIXED
#pragma omp parallel for num_threads(2) schedule(static) reduction(+ : sum)
#else
#pragma omp parallel for num_threads(2) schedule(static)
#endif
	for (int i = 0; i < nr; i++)
		sum += v[i] * v[i];
	return sum;
}

int main(void)
{
	assert(sum_of_squares(values, 4) == 30);
	return 0;
}
