/* SPDX-License-Identifier: GPL-2.0-only */
/* syscalls.c - the table of system calls, by number and by name (syscalls.h) */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include "kernel/syscalls.h"
#include "lib/label.h"

#define S(x, o, ...) { .name = #x, .nr = SYS_##x, .op = ZUG_OP_##o, __VA_ARGS__ }
#define FILE_ .class = ZUG_SYS_FILE
#define IPC .class = ZUG_SYS_IPC
#define SIG .class = ZUG_SYS_SIGNAL
#define ALLOC .class = ZUG_SYS_ALLOC
#define WAIT .class = ZUG_SYS_WAIT
#define POLLS .class = ZUG_SYS_WAIT | ZUG_SYS_POLL, .polls = 1
#define PROC .class = ZUG_SYS_PROCESS
#define FD(n) .fd_arg = (n)
#define PATH(n) .path_arg = (n)
#define WAITS .wait_fd = 1
#define PTR(n) .time_arg = (n)
#define MS(n) .time_arg = (n), .time_kind = ZUG_TIME_MS
#define VAL(n) .time_arg = (n), .time_kind = ZUG_TIME_VAL
#define SLEEPS(n) .time_arg = (n), .time_kind = ZUG_TIME_ALWAYS
#define ABS .time_abs = 1
#define LEFT .time_left = 1
#define TIMER .timer = 1
#define W .flags = ZUG_L_WRITE
#define IO .io = 1
#define SEM .sysv = 1
#define QUEUE .sysv = 2
#define SHM .sysv = 3
#define RCVTIMEO .sock_time = 1
#define SNDTIMEO .sock_time = 2
#define PASSES .lease = ZUG_CALL_PASSES
#define READS .lease = ZUG_CALL_READS
#define OPENS .lease = ZUG_CALL_OPENS
#define ENDS .lease = ZUG_CALL_ENDS
#define MASKS .lease = ZUG_CALL_MASKS
#define EXECS .lease = ZUG_CALL_EXECS
#define KILLS .lease = ZUG_CALL_KILLS
#define MOVES .lease = ZUG_CALL_MOVES
#define CONNECTS .lease = ZUG_CALL_CONNECTS
#define BINDS .lease = ZUG_CALL_BINDS

const struct syscall_desc syscall_table[] = {
	S(open, OPEN, IO, FILE_, PATH(1), OPENS),
	S(openat, OPEN, IO, FILE_, PATH(2), OPENS),
	S(openat2, OPEN, IO, FILE_, PATH(2), W),
	S(creat, OPEN, IO, FILE_, PATH(1), W),
	S(read, READ, .class = ZUG_SYS_FILE | ZUG_SYS_IPC, FD(1), WAITS, RCVTIMEO, READS),
	S(pread64, READ, IO, FILE_, FD(1), READS),
	S(readv, READ, .class = ZUG_SYS_FILE | ZUG_SYS_IPC, FD(1), WAITS, RCVTIMEO, READS),
	S(preadv, READ, IO, FILE_, FD(1), READS),
	S(preadv2, READ, IO, FILE_, FD(1), READS),
	S(write, WRITE, .class = ZUG_SYS_FILE | ZUG_SYS_IPC, FD(1), WAITS, SNDTIMEO, W, PASSES),
	S(pwrite64, WRITE, IO, FILE_, FD(1), W, PASSES),
	S(writev, WRITE, .class = ZUG_SYS_FILE | ZUG_SYS_IPC, FD(1), WAITS, SNDTIMEO, W, PASSES),
	S(pwritev, WRITE, IO, FILE_, FD(1), W, PASSES),
	S(pwritev2, WRITE, IO, FILE_, FD(1), W, PASSES),
	S(sendfile, WRITE, .class = ZUG_SYS_FILE | ZUG_SYS_IPC, FD(1), WAITS, SNDTIMEO, W, PASSES),
	S(splice, WRITE, .class = ZUG_SYS_IPC, FD(3), WAITS, SNDTIMEO, W, PASSES),
	S(tee, WRITE, IPC, FD(2), WAITS, W, PASSES),
	S(copy_file_range, WRITE, IO, FILE_, FD(3), W, PASSES),
	S(truncate, TRUNCATE, IO, FILE_, PATH(1), W),
	S(ftruncate, TRUNCATE, IO, FILE_, FD(1), W, PASSES),
	S(unlink, UNLINK, IO, FILE_, PATH(1), W),
	S(unlinkat, UNLINK, IO, FILE_, PATH(2), W),
	S(rename, RENAME, IO, FILE_, PATH(1), .path2_arg = 2, W),
	S(renameat, RENAME, IO, FILE_, PATH(2), .path2_arg = 4, W),
	S(renameat2, RENAME, IO, FILE_, PATH(2), .path2_arg = 4, W),
	S(link, LINK, IO, FILE_, PATH(1), .path2_arg = 2, W),
	S(linkat, LINK, IO, FILE_, PATH(2), .path2_arg = 4, W),
	S(symlink, LINK, IO, FILE_, PATH(2), W),
	S(symlinkat, LINK, IO, FILE_, PATH(3), W),
	S(mkdir, MKDIR, IO, FILE_, PATH(1), W),
	S(mkdirat, MKDIR, IO, FILE_, PATH(2), W),
	S(rmdir, RMDIR, IO, FILE_, PATH(1), W),
	S(stat, STAT, IO, FILE_, PATH(1), PASSES),
	S(lstat, STAT, IO, FILE_, PATH(1), PASSES),
	S(fstat, STAT, IO, FILE_, FD(1), PASSES),
	S(newfstatat, STAT, IO, FILE_, PATH(2), PASSES),
	S(statx, STAT, IO, FILE_, PATH(2), PASSES),
	S(access, STAT, IO, FILE_, PATH(1), PASSES),
	S(faccessat, STAT, IO, FILE_, PATH(2), PASSES),
	S(faccessat2, STAT, IO, FILE_, PATH(2), PASSES),
	S(readlink, STAT, IO, FILE_, PATH(1), PASSES),
	S(readlinkat, STAT, IO, FILE_, PATH(2), PASSES),
	/* depend on all that makes, moves or removes names in the folder, whose labels do not have it */
	S(getdents, LIST, IO, FILE_, FD(1), .flags = ZUG_L_ENDS_ALL, PASSES),
	S(getdents64, LIST, IO, FILE_, FD(1), .flags = ZUG_L_ENDS_ALL, PASSES),
	S(inotify_add_watch, ADD_WATCH, IO, FILE_, PATH(2), .flags = ZUG_L_WRITE | ZUG_L_ENDS_ALL),
	S(mknod, MKNOD, IO, FILE_, PATH(1), W, MOVES),
	S(mknodat, MKNOD, IO, FILE_, PATH(2), W, MOVES),
	S(chmod, CHMOD, IO, FILE_, PATH(1), W),
	S(fchmodat, CHMOD, IO, FILE_, PATH(2), W),
	S(fchmod, CHMOD, IO, FILE_, FD(1), W),
	S(flock, FLOCK, FILE_, FD(1), .flags = ZUG_L_WRITE | ZUG_L_RELEASE, WAITS, PASSES),
	S(close, CLOSE, IO, IPC, FD(1), .flags = ZUG_L_WRITE | ZUG_L_RELEASE, PASSES),
	S(pipe, PIPE, IPC, PASSES), S(pipe2, PIPE, IPC, PASSES),
	S(socket, SOCKET, IPC, PASSES), S(socketpair, SOCKET, IPC, PASSES),
	S(connect, CONNECT, IPC, FD(1), WAITS, SNDTIMEO, W, CONNECTS),
	S(accept, ACCEPT, IPC, FD(1), WAITS, RCVTIMEO, W, PASSES),
	S(accept4, ACCEPT, IPC, FD(1), WAITS, RCVTIMEO, W, PASSES),
	S(bind, BIND, IO, IPC, FD(1), W, BINDS),
	S(listen, LISTEN, IPC, FD(1), W, PASSES),
	S(sendto, SEND, IPC, FD(1), WAITS, SNDTIMEO, W, PASSES),
	S(sendmsg, SEND, IPC, FD(1), WAITS, SNDTIMEO, W, PASSES),
	S(sendmmsg, SEND, IPC, FD(1), WAITS, SNDTIMEO, W, PASSES),
	S(recvfrom, RECV, IPC, FD(1), WAITS, RCVTIMEO, W, PASSES),
	S(recvmsg, RECV, IPC, FD(1), WAITS, RCVTIMEO, W, PASSES),
	S(recvmmsg, RECV, IPC, FD(1), WAITS, PTR(5), RCVTIMEO, W, PASSES),
	S(shutdown, SEND, IPC, FD(1), W, PASSES),
	S(kill, KILL, SIG, W), S(tkill, KILL, SIG, W, KILLS), S(tgkill, KILL, SIG, W, KILLS),
	S(rt_sigqueueinfo, KILL, SIG, W), S(rt_tgsigqueueinfo, KILL, SIG, W),
	S(pidfd_send_signal, KILL, SIG, W),
	S(rt_sigaction, SIGACTION, SIG, W, PASSES),
	/* where it blocks a signal that was not blocked, or while one is pending */
	S(rt_sigprocmask, SIGPROCMASK, SIG, W, MASKS),
	S(rt_sigsuspend, SIGNAL_WAIT, SIG), S(pause, SIGNAL_WAIT, SIG),
	S(rt_sigtimedwait, SIGNAL_WAIT, SIG, PTR(3)),
	S(wait4, WAITPID, PROC, PASSES), S(waitid, WAITPID, PROC, PASSES),
	S(prctl, PDEATHSIG, PROC, .some = 1),
	S(futex, SYSCALL, .class = ZUG_SYS_FUTEX, W, PASSES),
	S(futex_waitv, FUTEX_WAIT, .class = ZUG_SYS_FUTEX, PTR(4), PASSES),
	S(poll, POLL, POLLS, MS(3), PASSES), S(ppoll, POLL, POLLS, PTR(3), LEFT, PASSES),
	S(select, POLL, POLLS, VAL(5), LEFT, PASSES), S(pselect6, POLL, POLLS, PTR(5), LEFT, PASSES),
	S(epoll_wait, POLL, POLLS, MS(4), PASSES), S(epoll_pwait, POLL, POLLS, MS(4), PASSES),
	S(epoll_pwait2, POLL, POLLS, PTR(4), PASSES),
	/* of the watched descriptor */
	S(epoll_ctl, EPOLL_CTL, IPC, FD(3), PASSES),
	S(nanosleep, SLEEP, WAIT, SLEEPS(1)), S(clock_nanosleep, SLEEP, WAIT, SLEEPS(3)),
	/* which of a set's semaphores it is about is read in the task's memory, while it stands */
	S(semop, SEMOP, IPC, SEM, W), S(semtimedop, SEMOP, IPC, SEM, PTR(4), W), S(semctl, SEMCTL, IPC, SEM, W),
	S(msgsnd, SEND, IPC, QUEUE, W, PASSES), S(msgrcv, RECV, IPC, QUEUE, W, PASSES), S(msgctl, MSGCTL, IPC, QUEUE, W),
	S(mq_timedsend, SEND, IPC, FD(1), PTR(5), ABS, WAITS, W), S(mq_timedreceive, RECV, IPC, FD(1), PTR(5), ABS, WAITS, W),
	S(mq_getsetattr, STAT, IPC, FD(1)), S(mq_notify, MQ_NOTIFY, IPC, FD(1), W),
	/* which memory shmdt() is about follows from the mapping at its address */
	S(shmat, SHMAT, IPC, SHM, W), S(shmctl, SHMCTL, IPC, SHM, W), S(shmdt, SHMDT, IO, IPC, W),
	S(semget, IPC_GET, IPC), S(shmget, IPC_GET, IPC), S(msgget, IPC_GET, IPC),
	S(mq_open, OPEN, IPC, W), S(mq_unlink, UNLINK, IPC, W),
	S(timerfd_settime, TIMERFD_SETTIME, SIG, FD(1), W, TIMER),
	S(io_getevents, SYSCALL, PTR(5)),
	S(fcntl, FLOCK, FILE_, FD(1), .some = 1, .flags = ZUG_L_WRITE | ZUG_L_RELEASE, WAITS, PASSES),
	S(lseek, STAT, IO, FILE_, FD(1), .some = 1, PASSES),
	S(sched_yield, YIELD), S(exit, END, IO), S(exit_group, END, PROC, IO, W, ENDS),
	S(clone, FORK, ALLOC), S(clone3, FORK, ALLOC), S(fork, FORK, ALLOC), S(vfork, FORK, ALLOC),
	 S(execve, EXEC, PROC, IO, EXECS),
	S(execveat, EXEC, PROC, IO, EXECS), S(restart_syscall, SYSCALL), S(fsync, SYSCALL, IO), S(fdatasync, SYSCALL, IO),
	S(alarm, SYSCALL, TIMER), S(setitimer, SYSCALL, TIMER), S(timer_create, SYSCALL, TIMER),
	S(timer_settime, SYSCALL, TIMER), S(timer_delete, SYSCALL, TIMER),
	S(mmap, MMAP, IO, ALLOC), S(munmap, SYSCALL, IO), S(mprotect, SYSCALL, IO), S(brk, SYSCALL, IO),
	S(io_uring_setup, SYSCALL), S(sched_setscheduler, SYSCALL), S(sched_setparam, SYSCALL), S(sched_setattr, SYSCALL),
	S(sched_setaffinity, SYSCALL),
	/* in a process with several threads, which have them in common; dup2() closes what the descriptor was */
	S(chdir, CHDIR, IO, W), S(fchdir, CHDIR, IO, W), S(umask, UMASK, W), S(dup2, DUP2, IO, FD(2)), S(dup3, DUP2, IO, FD(2)),
	S(utimensat, SYSCALL, IO), S(statfs, SYSCALL, IO), S(madvise, SYSCALL, IO), S(msync, SYSCALL, IO),
	/* bash asks whether its script is a terminal: of a file only a file system in user space makes that wait */
	S(ioctl, SYSCALL, WAITS),
	/* what may have to ask a file system in user space, and waits for nothing else */
	S(fallocate, SYSCALL, IO), S(fadvise64, SYSCALL, IO), S(readahead, SYSCALL, IO),
	S(getcwd, SYSCALL, IO),
	S(chroot, SYSCALL, IO, MOVES), S(chown, SYSCALL, IO), S(lchown, SYSCALL, IO),
	S(fchown, SYSCALL, IO), S(fchownat, SYSCALL, IO), S(utime, SYSCALL, IO), S(utimes, SYSCALL, IO),
	S(futimesat, SYSCALL, IO), S(fstatfs, SYSCALL, IO), S(sync, SYSCALL, IO),
	S(syncfs, SYSCALL, IO), S(sync_file_range, SYSCALL, IO), S(mremap, SYSCALL, IO), S(mlock, SYSCALL, IO),
	S(getxattr, SYSCALL, IO), S(lgetxattr, SYSCALL, IO), S(fgetxattr, SYSCALL, IO),
	S(setxattr, SYSCALL, IO), S(lsetxattr, SYSCALL, IO), S(fsetxattr, SYSCALL, IO),
	S(listxattr, SYSCALL, IO), S(llistxattr, SYSCALL, IO), S(flistxattr, SYSCALL, IO),
	S(removexattr, SYSCALL, IO), S(lremovexattr, SYSCALL, IO), S(fremovexattr, SYSCALL, IO),
	S(mount, SYSCALL, IO, MOVES), S(umount2, SYSCALL, IO, MOVES),
	S(name_to_handle_at, SYSCALL, IO), S(open_by_handle_at, SYSCALL, IO), S(mlock2, SYSCALL, IO),
	S(mlockall, SYSCALL, IO),
	S(pivot_root, SYSCALL, MOVES), S(move_mount, SYSCALL, MOVES), S(mount_setattr, SYSCALL, MOVES), S(setns, SYSCALL, MOVES),
	S(unshare, SYSCALL, MOVES),
	S(close_range, SYSCALL, IO),
};
const unsigned int syscall_table_nr = sizeof(syscall_table) / sizeof(syscall_table[0]);

const struct syscall_desc *syscall_desc(int nr)
{
	static const struct syscall_desc *by_number[ZUG_NR_SYSCALLS];

	if (nr < 0 || nr >= ZUG_NR_SYSCALLS)
		return NULL;
	/* the first one of the table is there when all are */
	for (unsigned int i = syscall_table_nr; i-- > 0 && !by_number[syscall_table[0].nr];)
		by_number[syscall_table[i].nr] = &syscall_table[i];
	return by_number[nr];
}

bool syscall_tells(unsigned int op)
{
	static uint8_t tells[ZUG_OP_NR];	/* 1: yes, 2: no */

	/* a futex call says by its command what it does, and some of the others end otherwise, too */
	if (op == ZUG_OP_NONE || op == ZUG_OP_SYSCALL || op == ZUG_OP_FUTEX_WAIT || op == ZUG_OP_FUTEX_WAKE ||
	    op == ZUG_OP_END || op == ZUG_OP_YIELD || op == ZUG_OP_SLEEP || op >= ZUG_OP_NR)
		return false;
	for (unsigned int i = 0; !tells[op] && i < syscall_table_nr; i++)
		if (syscall_table[i].op == op)
			tells[op] = 1;
	if (!tells[op])
		tells[op] = 2;
	return tells[op] == 1;
}

int syscall_number(const char *name)
{
	for (unsigned int i = 0; i < syscall_table_nr; i++)
		if (!strcmp(syscall_table[i].name, name))
			return syscall_table[i].nr;
	return -1;
}

const char *syscall_name(int nr)
{
	static char unknown[24];
	const struct syscall_desc *d = syscall_desc(nr);

	if (d)
		return d->name;
	snprintf(unknown, sizeof(unknown), "syscall %d", nr);
	return unknown;
}
