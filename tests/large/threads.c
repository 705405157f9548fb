/* As many threads as the argument says, which live at the same time: they meet at a barrier. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t all_there;

static void *meets(void *arg)
{
	pthread_barrier_wait(&all_there);
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t *threads = calloc(n, sizeof(*threads));
	pthread_attr_t small;

	if (!threads || pthread_barrier_init(&all_there, NULL, n + 1) || pthread_attr_init(&small) ||
	    pthread_attr_setstacksize(&small, 1 << 16))
		return 1;
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], &small, meets, NULL)) {
			fprintf(stderr, "no more than %d threads\n", i);
			exit(2);
		}
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
