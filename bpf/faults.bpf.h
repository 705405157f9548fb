/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults.bpf.h - calls that fail because the search wants it
 *
 * User space arms a task that stands before a system call with an error (ZUG_CMD_FAULT). The first
 * security hook that the call comes to refuses it with that error, before it has had any effect; a call
 * that comes to none is made as usual. Which it was an event says, ZUG_EV_FAULT: at the hook, else when the call ends,
 * or as soon as it blocks, has made a child, or its turn is lent. With --flows the refusal is for user space, which makes
 * the call instead (kworld_byte_flows.c). Attached only while --faults or --flows is in use.
 */
#ifndef ZUG_FAULTS_BPF_H
#define ZUG_FAULTS_BPF_H

static __always_inline int refuse(int ret)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	__u32 error;

	if (ret || !t || !(s = sandbox_of(t)) || !controlled(t, s))
		return ret;
	error = t->fault & 0xfff;
	if (error)
		fault_over(s, p, t, true);
	return -(int)error;
}

SEC("tp/raw_syscalls/sys_exit")
int zug_fault_exit(struct trace_event_raw_sys_exit *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	__s64 ret = ctx->ret;

	if (!t || !t->fault || !(s = sandbox_of(t)))
		return 0;
	fault_over(s, p, t, t->fault == ZUG_FAULT_SHORT && ret > 0 && (__u64)ret < t->args[2]);
	return 0;
}

/* read(), write() and their kin, on anything */
SEC("lsm/file_permission")
int BPF_PROG(zug_fault_rw, struct file *file, int mask, int ret)
{
	return refuse(ret);
}

SEC("lsm/inode_create")
int BPF_PROG(zug_fault_create, struct inode *dir, struct dentry *dentry, umode_t mode, int ret)
{
	return refuse(ret);
}

SEC("lsm/inode_mkdir")
int BPF_PROG(zug_fault_mkdir, struct inode *dir, struct dentry *dentry, umode_t mode, int ret)
{
	return refuse(ret);
}

SEC("lsm/socket_connect")
int BPF_PROG(zug_fault_connect, struct socket *sock, struct sockaddr *address, int addrlen, int ret)
{
	return refuse(ret);
}

SEC("lsm/socket_accept")
int BPF_PROG(zug_fault_accept, struct socket *sock, struct socket *newsock, int ret)
{
	return refuse(ret);
}

SEC("lsm/socket_sendmsg")
int BPF_PROG(zug_fault_send, struct socket *sock, struct msghdr *msg, int size, int ret)
{
	return refuse(ret);
}

SEC("lsm/socket_recvmsg")
int BPF_PROG(zug_fault_recv, struct socket *sock, struct msghdr *msg, int size, int flags, int ret)
{
	return refuse(ret);
}

SEC("lsm/task_alloc")
int BPF_PROG(zug_fault_fork, struct task_struct *task, unsigned long clone_flags, int ret)
{
	return refuse(ret);
}

SEC("lsm/mmap_file")
int BPF_PROG(zug_fault_mmap, struct file *file, unsigned long reqprot, unsigned long prot, unsigned long flags,
	     int ret)
{
	return refuse(ret);
}

#endif
