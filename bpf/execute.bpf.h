/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * execute.bpf.h - simple instructions with a breakpoint are executed here, in their place
 *
 * The kernel executes the instruction under a uprobe out of line, in a single step: it copies the
 * instruction to a page of its own, returns to user mode, and traps once more. That is more than half of
 * the cost of a point that is passed. What begins most functions, and most accesses of data, is a move or
 * a comparison: the uprobe's own program does that, when the task goes on, and sets the instruction
 * pointer behind it. Where it cannot (a page that is not there, say) the kernel goes on as always.
 *
 * Changing registers takes Linux 6.18; without, nothing is executed here. Nor is an instruction that a
 * debugger may have to see, or, while data is watched, a watchpoint. But for one case: a task that is alone
 * comes to an instruction that is known to access watched data (execute_watched()).
 */
#ifndef ZUG_EXECUTE_BPF_H
#define ZUG_EXECUTE_BPF_H

#define USER_CODE_64		0x33	/* the code segment of 64-bit programs */
#define REGS_AX			10	/* words of struct pt_regs */
#define REGS_IP			16
#define REGS_CS			17
#define REGS_FLAGS		18
#define REGS_SP			19

#define EFLAGS_CF		0x1ull
#define EFLAGS_PF		0x4ull
#define EFLAGS_AF		0x10ull
#define EFLAGS_ZF		0x40ull
#define EFLAGS_SF		0x80ull
#define EFLAGS_TF		0x100ull
#define EFLAGS_OF		0x800ull
#define EFLAGS_ARITHMETIC	0x8d5ull	/* all of these */

/* What a register holds after its lower part was written: 4 bytes clear the upper half. */
static __always_inline __u64 merged(__u64 old, __u64 v, __u32 size)
{
	return size == 8 ? v : size == 4 ? (__u32)v : size == 2 ? (old & ~0xffffull) | (__u16)v :
	       (old & ~0xffull) | (__u8)v;
}

/* The context can be written at constant offsets only: no compiler may make one access of all. */
#define PUT(nr, reg) case nr: asm volatile("" ::: "memory"); ctx->reg = merged(ctx->reg, v, size); break

/* nr: of the word in struct pt_regs. */
static __noinline void put_register(struct pt_regs *ctx, __u32 nr, __u64 v, __u32 size)
{
	switch (nr) {
	PUT(0, r15); PUT(1, r14); PUT(2, r13); PUT(3, r12); PUT(4, bp); PUT(5, bx); PUT(6, r11); PUT(7, r10);
	PUT(8, r9); PUT(9, r8); PUT(10, ax); PUT(11, cx); PUT(12, dx); PUT(13, si); PUT(14, di); PUT(19, sp);
	}
}

static __always_inline __u64 cut_to(__u64 v, __u32 size)
{
	return size == 8 ? v : size == 4 ? (__u32)v : size == 2 ? (__u16)v : (__u8)v;
}

static __always_inline __u64 sign_extended(__u64 v, __u32 size)
{
	return size == 8 ? v : size == 4 ? (__u64)(__s64)(__s32)v : size == 2 ? (__u64)(__s64)(__s16)v :
	       (__u64)(__s64)(__s8)v;
}

static __always_inline __u64 insn_address(const __u64 *regs, const struct zug_insn *in)
{
	__u64 addr = (__s64)in->disp;

	if (in->base == ZUG_INSN_IP)
		addr += in->len;
	if (in->base != ZUG_INSN_NO_REG)
		addr += regs[in->base & 31];
	if (in->index != ZUG_INSN_NO_REG)
		addr += regs[in->index & 31] << (in->shift & 3);
	return addr;
}

static __always_inline bool load(__u64 addr, __u32 size, __u64 *v)
{
	*v = 0;
	switch (size) {
	case 1:
		return !bpf_probe_read_user(v, 1, (void *)addr);
	case 2:
		return !bpf_probe_read_user(v, 2, (void *)addr);
	case 4:
		return !bpf_probe_read_user(v, 4, (void *)addr);
	}
	return !bpf_probe_read_user(v, 8, (void *)addr);
}

static __always_inline bool store(__u64 addr, __u32 size, __u64 v)
{
	switch (size) {
	case 1:
		return !bpf_probe_write_user((void *)addr, &v, 1);
	case 2:
		return !bpf_probe_write_user((void *)addr, &v, 2);
	case 4:
		return !bpf_probe_write_user((void *)addr, &v, 4);
	}
	return !bpf_probe_write_user((void *)addr, &v, 8);
}

/* The arithmetic flags of r = a OP b, all cut to size bytes. */
static __always_inline __u64 flags_of(__u32 op, __u64 a, __u64 b, __u64 r, __u32 size)
{
	__u64 top = 1ull << (size * 8 - 1), f = 0;
	__u8 parity = (__u8)r;

	parity ^= parity >> 4;
	parity ^= parity >> 2;
	parity ^= parity >> 1;
	if (!(parity & 1))
		f |= EFLAGS_PF;
	if (!r)
		f |= EFLAGS_ZF;
	if (r & top)
		f |= EFLAGS_SF;
	if (op == ZUG_INSN_ADD) {
		f |= r < a ? EFLAGS_CF : 0;
		f |= (a ^ r) & (b ^ r) & top ? EFLAGS_OF : 0;
		f |= (a ^ b ^ r) & EFLAGS_AF;
	} else if (op == ZUG_INSN_SUB || op == ZUG_INSN_CMP) {
		f |= a < b ? EFLAGS_CF : 0;
		f |= (a ^ b) & (a ^ r) & top ? EFLAGS_OF : 0;
		f |= (a ^ b ^ r) & EFLAGS_AF;
	}
	return f;
}

static __always_inline __u64 result_of(__u32 op, __u64 a, __u64 b)
{
	switch (op) {
	case ZUG_INSN_ADD:
		return a + b;
	case ZUG_INSN_SUB:
	case ZUG_INSN_CMP:
		return a - b;
	case ZUG_INSN_AND:
	case ZUG_INSN_TEST:
		return a & b;
	case ZUG_INSN_OR:
		return a | b;
	case ZUG_INSN_XOR:
		return a ^ b;
	}
	return b;
}

/* What the instruction computes, with registers as they are before it. False: its memory is not there. */
static __always_inline bool compute(const __u64 *regs, const struct zug_insn *in, struct computed *c)
{
	__u32 op = in->op, size = in->size;
	__u64 a = 0, b;

	c->addr = 0;
	if (in->to == ZUG_INSN_MEM || in->from == ZUG_INSN_MEM || in->from == ZUG_INSN_ADDR)
		c->addr = insn_address(regs, in);
	if (in->from == ZUG_INSN_REG)
		b = regs[in->from_reg & 31];
	else if (in->from == ZUG_INSN_IMM)
		b = (__s64)in->imm;
	else if (in->from == ZUG_INSN_ADDR)
		b = c->addr;
	else if (!load(c->addr, in->from_size, &b))
		return false;
	if (in->from != ZUG_INSN_IMM) {
		b = cut_to(b, in->from_size);
		if (in->extend_sign)
			b = sign_extended(b, in->from_size);
	}
	b = cut_to(b, size);
	if (op != ZUG_INSN_MOVE) {
		if (in->to == ZUG_INSN_REG)
			a = cut_to(regs[in->to_reg & 31], size);
		else if (!load(c->addr, size, &a))
			return false;
	}
	c->a = a;
	c->b = b;
	c->r = cut_to(result_of(op, a, b), size);
	return true;
}

/* Its effect on memory. False: it has none yet, and the processor has to execute it. */
static __always_inline bool change_memory(const struct zug_insn *in, const struct computed *c)
{
	return in->op >= ZUG_INSN_CMP || in->to == ZUG_INSN_REG || store(c->addr, in->size, c->r);
}

/* Its effect on registers, and the way behind it. */
static __always_inline void change_registers(struct pt_regs *ctx, const struct zug_insn *in, const struct computed *c)
{
	if (in->op < ZUG_INSN_CMP && in->to == ZUG_INSN_REG)
		put_register(ctx, in->to_reg, c->r, in->size);
	if (in->op != ZUG_INSN_MOVE)
		ctx->flags = (ctx->flags & ~EFLAGS_ARITHMETIC) | flags_of(in->op, c->a, c->b, c->r, in->size);
	ctx->ip += in->len;
}

/*
 * At the breakpoint of an instruction that accesses watched data, before which its task does not stop; t->regs are its
 * registers. The memory is changed now, so that nothing can come between the point and its end; zug_plant() does the rest.
 * Watchpoints do not see what the kernel does. 0: the processor has to execute it.
 */
__noinline int execute_watched(__u32 number)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_site *site = bpf_map_lookup_elem(&sites, &number);
	struct task_state *t = state_of(p);

	if (!bpf_core_field_exists(struct bpf_prog_aux___writes, kprobe_write_ctx))
		return 0;
	if (!may_write || !t || !site || !site->insn.op || p->ptrace || t->regs[REGS_CS] != USER_CODE_64 ||
	    t->regs[REGS_FLAGS] & EFLAGS_TF)
		return 0;
	if (!compute(t->regs, &site->insn, &t->done) || !change_memory(&site->insn, &t->done))
		return 0;
	t->flags = (t->flags & ~TF_STEP) | TF_DONE;
	return 1;
}

/* The function at whose entry the task stands returns 0 to its caller, and has done nothing. */
static __always_inline void return_at_once(struct pt_regs *ctx, struct task_struct *p, struct task_state *t)
{
	struct zug_sandbox *s = sandbox_of(t);
	__u64 ret;

	if (!s || bpf_probe_read_user(&ret, sizeof(ret), (void *)ctx->sp))
		return;
	ctx->ip = ret;
	put_register(ctx, REGS_SP, ctx->sp + sizeof(ret), 8);
	put_register(ctx, REGS_AX, 0, 8);
	fault_over(s, p, t, true);
}

/* The breakpoint of a place. zug_breakpoint() has done the work when this runs; the cookie has the place's number plus 1. */
SEC("uprobe.multi")
int zug_plant(struct pt_regs *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 number = (__u32)cookie - 1;
	struct zug_sandbox *s;
	struct zug_site *site;
	struct task_state *t;
	struct computed c;

	if (!bpf_core_field_exists(struct bpf_prog_aux___writes, kprobe_write_ctx))
		return 0;
	if (!(__u32)cookie || !live_rounds[ZUG_COOKIE_ROUND(cookie)])
		return 0;
	t = state_of(p);
	/* who was killed while it stood here executes no more; nor does the kernel step for it then */
	if (!t || is_dying(p, t))
		return 0;
	if (t->fault == ZUG_FAULT_RETURN) {
		return_at_once(ctx, p, t);
		return 0;
	}
	site = bpf_map_lookup_elem(&sites, &number);
	if (!site || !site->insn.op)
		return 0;
	if (t->flags & TF_DONE) {
		t->flags &= ~TF_DONE;
		change_registers(ctx, &site->insn, &t->done);
		return 0;
	}
	if (ctx->cs != USER_CODE_64 || p->ptrace || ctx->flags & EFLAGS_TF)
		return 0;
	if (t->flags & TF_STEP || !(s = sandbox_of(t)) || s->setup.stepped || any_watch(t))
		return 0;
	if (!bpf_probe_read_kernel(t->regs, sizeof(*ctx), ctx) && compute(t->regs, &site->insn, &c) &&
	    change_memory(&site->insn, &c))
		change_registers(ctx, &site->insn, &c);
	return 0;
}

#endif
