/*
 * Four threads average the neighbours of each cell of a grid, with a barrier after each round, and count rows
 * under a lock: right, most accesses are hot. It measures what looking for data races costs (tools/bench/looks).
 * build: -O1
 */
#include <pthread.h>

#define SIZE	40
#define THREADS	4
#define ROUNDS	12

static double grid[2][SIZE][SIZE], error[THREADS], worst;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rows, rounds;

static double row(double (*from)[SIZE], double (*to)[SIZE], int y)
{
	double most = 0;

	for (int x = 1; x < SIZE - 1; x++) {
		double v = (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]) / 4,
		       change = v < from[y][x] ? from[y][x] - v : v - from[y][x];

		to[y][x] = v;
		most = change > most ? change : most;
	}
	pthread_mutex_lock(&lock);
	rows++;
	pthread_mutex_unlock(&lock);
	return most;
}

static void *work(void *arg)
{
	long me = (long)arg;

	for (int round = 0; round < ROUNDS; round++) {
		double most = 0;

		for (int y = 1 + me; y < SIZE - 1; y += THREADS) {
			double change = row(grid[round & 1], grid[!(round & 1)], y);

			most = change > most ? change : most;
		}
		error[me] = most;
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
			worst = 0;
			for (int t = 0; t < THREADS; t++)
				worst = error[t] > worst ? error[t] : worst;
			rounds++;
		}
		pthread_barrier_wait(&barrier);
		if (worst < 1e-9)
			break;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < SIZE; i++)
		grid[0][0][i] = grid[1][0][i] = 100;
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return rounds != ROUNDS || rows != ROUNDS * (SIZE - 2);
}
