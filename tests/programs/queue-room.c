/*
 * bug: a sender looks whether a message queue has room, and takes it for granted that it still has when it sends
 * how: one sender has seen room for one message and is preempted; the other sends into it, and the first one's message
 *	is lost, as the queue does not wait.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption between mq_getattr() and mq_send(). Random walk: p >= 1/8. PCT depth 2, 3 tasks, k <= 20: p >= 1/60.
 * executions: 100
 * small: no
 */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static mqd_t queue;

/* Whether it has sent its message, as far as it knows. */
static void *sender(void *arg)
{
	struct mq_attr now;

	if (mq_getattr(queue, &now))
		exit(2);
	if (now.mq_curmsgs == now.mq_maxmsg)
		return NULL;
#ifdef FIXED
	if (mq_send(queue, "x", 1, 0))
		return NULL;
#else
	mq_send(queue, "x", 1, 0);
#endif
	return arg;
}

int main(void)
{
	struct mq_attr room = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	int sent = 0, received = 0;
	pthread_t threads[2];
	char message[8];
	void *told;

	queue = mq_open("/queue-room", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &room);
	if (queue == (mqd_t)-1)
		exit(2);
	mq_unlink("/queue-room");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, sender, &room);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], &told);
		sent += told != NULL;
	}
	while (mq_receive(queue, message, sizeof(message), NULL) > 0)
		received++;
	if (sent == received)
		return 0;
	fprintf(stderr, "sent %d, received %d\n", sent, received);
	return 1;
}
