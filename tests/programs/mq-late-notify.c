/*
 * bug: a process finds its message queue empty, asks to be told of the next message, and waits for that
 * how: the message comes between the two. The queue is not empty then, nothing is told, and the process waits for ever.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption: between mq_receive() and mq_notify(). Random walk: the sender passes its begin and mq_send() there,
 *	the receiver one point before: p >= 1/8
 * executions: 100
 * small: no
 * build:
 */
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = 8 };
	struct sigevent tell = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	char message[8];
	sigset_t set;
	int signal;
	mqd_t queue;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	queue = mq_open("/letters", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attr);
	if (queue == (mqd_t)-1)
		return 2;
	if (fork() == 0)
		_exit(mq_send(queue, "hello", 6, 0) ? 3 : 0);
#ifdef FIXED
	mq_notify(queue, &tell);
#endif
	while (mq_receive(queue, message, sizeof(message), NULL) < 0) {
#ifndef FIXED
		mq_notify(queue, &tell);
#endif
		sigwait(&set, &signal);
	}
	wait(NULL);
	mq_unlink("/letters");
	return 0;
}
