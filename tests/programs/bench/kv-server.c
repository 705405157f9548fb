/*
 * A server with a thread for each connection keeps values by their keys, with four locks; three clients set and
 * get over TCP: right, and long enough to measure what looking for data races costs (tools/bench/looks).
 * build: -O1
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS		3
#define REQUESTS	20
#define BUCKETS		16
#define LOCKS		4

struct item {
	struct item *next;
	char key[16], value[32];
	int version;
};

static struct item *table[BUCKETS];
static pthread_mutex_t locks[LOCKS], count_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sockaddr_in address = { .sin_family = AF_INET };
static int requests;

static unsigned int hash(const char *s)
{
	unsigned int h = 5381;

	while (*s)
		h = h * 33 + (unsigned char)*s++;
	return h % BUCKETS;
}

static struct item *set(struct item **bucket, struct item *i, const char *key, const char *value)
{
	if (!i) {
		i = calloc(1, sizeof(*i));
		if (!i)
			exit(2);
		strcpy(i->key, key);
		i->next = *bucket;
		*bucket = i;
	}
	strcpy(i->value, value);
	i->version++;
	return i;
}

static void answer(const char *line, char *out, size_t size)
{
	char verb[8] = "", key[16] = "", value[32] = "";
	struct item *i;
	unsigned int h;

	sscanf(line, "%7s %15s %31s", verb, key, value);
	h = hash(key);
	pthread_mutex_lock(&count_lock);
	requests++;
	pthread_mutex_unlock(&count_lock);
	pthread_mutex_lock(&locks[h % LOCKS]);
	for (i = table[h]; i && strcmp(i->key, key); i = i->next)
		;
	if (!strcmp(verb, "set"))
		i = set(&table[h], i, key, value);
	snprintf(out, size, "%s %d\n", i ? i->value : "none", i ? i->version : 0);
	pthread_mutex_unlock(&locks[h % LOCKS]);
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg, n = 0;
	char in[64], out[64];

	while (read(fd, &in[n], 1) == 1) {
		if (in[n] != '\n') {
			n += n < (int)sizeof(in) - 1;
			continue;
		}
		in[n] = 0;
		n = 0;
		answer(in, out, sizeof(out));
		if (write(fd, out, strlen(out)) < 0)
			break;
	}
	close(fd);
	return NULL;
}

static void *request(void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char line[64];

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		exit(2);
	for (int i = 0; i < REQUESTS; i++) {
		int n = snprintf(line, sizeof(line), i % 3 == 2 ? "get k%d\n" : "set k%d v%d\n", i % 5, i);

		if (write(fd, line, n) != n || read(fd, line, sizeof(line)) <= 0)
			exit(2);
	}
	close(fd);
	return arg;
}

int main(void)
{
	socklen_t len = sizeof(address);
	pthread_t client[CLIENTS], server[CLIENTS];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) || listen(fd, CLIENTS) ||
	    getsockname(fd, (struct sockaddr *)&address, &len))
		return 2;
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&client[i], NULL, request, NULL);
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&server[i], NULL, serve, (void *)(long)accept(fd, NULL, NULL));
	for (int i = 0; i < CLIENTS; i++) {
		pthread_join(client[i], NULL);
		pthread_join(server[i], NULL);
	}
	return requests != CLIENTS * REQUESTS;
}
