/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answers.bpf.h - what a program asks the processor itself: rdtsc, rdtscp, rdrand, rdseed
 *
 * A uprobe on the instruction gives the answer in its place, from the sandbox's clock or seed, and goes on behind it. (It is no
 * point.) Changing registers there takes Linux 6.18; without, nothing is planted.
 */
#ifndef ZUG_ANSWERS_BPF_H
#define ZUG_ANSWERS_BPF_H

/* CF says that there was a number; OF, SF, ZF, AF and PF are cleared. */
#define EFLAGS_CF		0x1ull
#define EFLAGS_ARITHMETIC	0x8d5ull

SEC("uprobe.multi")
int zug_answer(struct pt_regs *ctx)
{
	struct task_state *t = state_of(bpf_get_current_task_btf());
	struct zug_sandbox *s;
	__u64 how, v;

	if (!bpf_core_field_exists(struct bpf_prog_aux___writes, kprobe_write_ctx))
		return 0;
	how = bpf_get_attach_cookie(ctx);
	if (!live_rounds[ZUG_COOKIE_ROUND(how)])
		return 0;
	/* what stands there now is rdtsc */
	if (how & ZUG_ANSWER_CPU)
		ctx->cx = 0;
	if (!t || !(s = sandbox_of(t)) || !controlled(t, s))
		return 0;
	if (how & ZUG_ANSWER_RANDOM) {
		if (!s->setup.seeded)
			return 0;
		put_register(ctx, ZUG_ANSWER_REG(how), random_next(s, t), ZUG_ANSWER_SIZE(how));
		ctx->flags = (ctx->flags & ~EFLAGS_ARITHMETIC) | EFLAGS_CF;
	} else {
		if (!s->setup.virtual_time)
			return 0;
		clock_look(s);
		v = s->setup.clock_mono + s->clock;
		ctx->ax = (__u32)v;
		ctx->dx = v >> 32;
	}
	ctx->ip += ZUG_ANSWER_LEN(how);
	return 0;
}

#endif
