/*
 * System calls that other tasks can see, once each. The words `op: NAME OBJECT` at the end of a line
 * are the operation and the object (a part of its name) that the label of its call must have.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* of linux/futex.h, which musl's compiler does not find */
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

static int word;

static void files(void)
{
	struct stat st;
	FILE *stream;
	char buf[8];
	int watch, fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600); /* op: open file */

	flock(fd, LOCK_EX); /* op: flock file */
	if (write(fd, "hello", 5) != 5) /* op: write file */
		_exit(2);
	if (lseek(fd, 0, SEEK_END) != 5) /* op: stat file */
		_exit(2);
	if (fstat(fd, &st) || st.st_size != 5) /* op: stat file */
		_exit(2);
	/* the C library's own name for it differs */
	if (syscall(SYS_fstat, fd, &st)) /* op: stat file */
		_exit(2);
	lseek(fd, 0, SEEK_SET);
	if (read(fd, buf, sizeof(buf)) != 5) /* op: read file */
		_exit(2);
	close(fd); /* op: close file */
	rename("file", "other"); /* op: rename file */
	unlink("other"); /* op: unlink other */
	stream = fopen("stream", "w"); /* op: open stream */
	if (!stream || fwrite("hello", 1, 5, stream) != 5)
		_exit(2);
	fflush(stream); /* op: write stream */
	fclose(stream);
	if (readlink("nothing", buf, sizeof(buf)) >= 0) /* op: stat nothing */
		_exit(2);
	mkdir("folder", 0700); /* op: mkdir folder */
	watch = inotify_add_watch(inotify_init1(0), "folder", IN_CREATE); /* op: inotify-add-watch folder */
	if (watch < 0)
		_exit(2);
	fd = open("folder", O_RDONLY | O_DIRECTORY); /* op: open folder */
	syscall(SYS_getdents64, fd, buf, sizeof(buf)); /* op: list folder */
	close(fd); /* op: close folder */
	rmdir("folder"); /* op: rmdir folder */
}

/* All three look at the pipe. */
static void looks(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	struct epoll_event event = { .events = POLLIN };
	struct timeval none = { 0, 0 };
	int set = epoll_create1(0);
	fd_set fds;

	poll(&one, 1, 0); /* op: poll pipe */
	FD_ZERO(&fds);
	FD_SET(fd, &fds);
	select(fd + 1, &fds, NULL, NULL, &none); /* op: poll pipe */
	epoll_ctl(set, EPOLL_CTL_ADD, fd, &event); /* op: epoll-ctl pipe */
	epoll_wait(set, &event, 1, 0); /* op: poll pipe */
}

static void pipes(void)
{
	char byte = 0;
	int fds[2];

	if (pipe(fds) || /* op: pipe - */
	    write(fds[1], &byte, 1) != 1 || /* op: write pipe */
	    read(fds[0], &byte, 1) != 1) /* op: read pipe */
		_exit(2);
	looks(fds[0]);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) || /* op: socket - */
	    send(fds[0], &byte, 1, 0) != 1 || /* op: send socket */
	    recv(fds[1], &byte, 1, 0) != 1) /* op: recv socket */
		_exit(2);
}

static void server(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), fd;

	if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)) || /* op: bind socket */
	    listen(listener, 1) || /* op: listen socket */
	    connect(client, (struct sockaddr *)&addr, sizeof(addr))) /* op: connect socket */
		_exit(2);
	fd = accept(listener, NULL, NULL); /* op: accept socket */
	close(fd);
	unlink("socket");
}

/* Both name an address that a socket is bound to. */
static void datagrams(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "datagrams" };
	int to = socket(AF_UNIX, SOCK_DGRAM, 0), from = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct iovec byte = { "x", 1 };
	struct msghdr message = { .msg_name = &addr, .msg_namelen = sizeof(addr), .msg_iov = &byte, .msg_iovlen = 1 };

	if (bind(to, (struct sockaddr *)&addr, sizeof(addr)) || /* op: bind socket */
	    sendto(from, "x", 1, 0, (struct sockaddr *)&addr, sizeof(addr)) != 1 || /* op: send socket */
	    sendmsg(from, &message, 0) != 1) /* op: send socket */
		_exit(2);
}

static void processes(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		for (;;)
			pause();
	kill(pid, SIGTERM); /* op: kill - */
	waitpid(pid, &status, 0); /* op: waitpid - */
}

static void others(void)
{
	struct sembuf up = { .sem_op = 1 };
	int sem = semget(IPC_PRIVATE, 1, 0600), shm = shmget(IPC_PRIVATE, 1, 0600), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	void *attached;

	semop(sem, &up, 1); /* op: semop - */
	semctl(sem, 0, IPC_RMID); /* op: semctl - */
	msgctl(msgget(IPC_PRIVATE, 0600), IPC_RMID, NULL); /* op: msgctl - */
	attached = shmat(shm, NULL, 0); /* op: shmat memory */
	shmdt(attached); /* op: shmdt memory */
	shmctl(shm, IPC_RMID, NULL); /* op: shmctl memory */
	timerfd_settime(timer, 0, &(struct itimerspec){ 0 }, NULL); /* op: timerfd-settime - */
}

int main(void)
{
	files();
	pipes();
	server();
	datagrams();
	processes();
	others();
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0); /* op: futex-wake - */
	syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0); /* op: futex-wait - */
	return 0;
}
