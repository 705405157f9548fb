/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The place in the program that makes a system call: the caller of the C library's function around it.
 *
 * Part of the label, so it has to be the same in all executions, and cheap. Where a function's caller is found
 * depends on the place in its code alone: so far above the stack or the frame pointer. So call frame information
 * (or the code itself, sym_depth.c) is read once for each place, and each call costs a look at a page of the task's
 * stack. Where that does not lead to code of the program, the instruction that calls the kernel is the place.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "kworld/kworld_internal.h"
#include "lib/base/array.h"
#include "lib/base/remote.h"

#define WINDOW 2048
/* So often is it asked in one execution who calls a method of the language's data. */
#define ASKED_MOST 3
/* Looks of Python's interpreter in a function of the library that the program calls, in an execution. */
#define BEGINS_MOST 200
/* Of a method that a call of the program's leads to by so many, an access may be the first one of the next call. */
#define CALLED_DIRECTLY 2
/* So often is it asked in one execution of a method that the program calls, or whose calls have to be told apart. */
#define CALLS_MOST 500
/*
 * Where Java's interpreter has a method's variables, behind the frame pointer (frame_x86.hpp), and the number of that
 * register.
 */
#define JAVA_LOCALS (-56)
#define REG_FRAME 6
/* So many frames say it. */
#define ASKED_FRAMES 12
/* So many are read at first where more may have to be. */
#define FIRST_FRAMES 4

struct stack {
	int pid;
	uint64_t at;
	size_t len;
	unsigned char data[WINDOW];
};

static void stack_begin(struct stack *s, const struct world_task *t, uint64_t sp)
{
	s->pid = t->tgid;
	s->at = sp;
	s->len = 0;
}

static bool word_at(struct stack *s, uint64_t addr, uint64_t *word)
{
	ssize_t n;

	if (addr < s->at || addr + sizeof(*word) > s->at + s->len) {
		/* up to the end of the stack, if that comes first */
		n = remote_read_some(s->pid, addr, s->data, sizeof(s->data));
		s->at = addr;
		s->len = n > 0 ? n : 0;
		if (s->len < sizeof(*word))
			return false;
	}
	memcpy(word, s->data + (addr - s->at), sizeof(*word));
	return true;
}

static void read_step(struct kworld *k, uint64_t site, struct caller_step *s)
{
	const struct place_site *ps = places_find_site(k->o.places, site);
	struct symfile *f = probes_module(k->o.probes, ps->module)->file;

	switch (symfile_owner(f, ps->offset)) {
	case SYMOWNER_PROGRAM:
		s->kind = CALLER_HERE;
		break;
	case SYMOWNER_LIBRARY:
		s->kind = symfile_step(f, ps->offset, &s->step) ? CALLER_UNKNOWN : CALLER_ABOVE;
		break;
	case SYMOWNER_UNKNOWN:
		s->kind = CALLER_UNKNOWN;
		break;
	}
}

/* The kernel side goes the way of a system call that passes under a lease. */
static void tell_step(struct kworld *k, uint64_t site, struct caller_step *s)
{
	static const uint32_t what[] = {
		[CALLER_UNKNOWN] = ZUG_CALLER_NONE, [CALLER_HERE] = ZUG_CALLER_IN, [CALLER_ABOVE] = ZUG_CALLER_ABOVE,
	};
	const struct place_site *ps = places_find_site(k->o.places, site);
	uint32_t round = kernel_probes_round(k->o.kernel);

	if (s->told && s->round == round)
		return;
	s->told = true;
	s->round = round;
	kernel_tell_step(k->o.kernel, ps->module, ps->offset, &(struct zug_caller){
		.what = what[s->kind], .size = s->step.size, .by_bp = s->step.by_bp,
		.bp_at = s->step.bp_kept ? s->step.bp_at : 0 });
}

void kworld_callers_begin(struct kworld *k)
{
	struct caller_steps *c = &k->callers;
	uint32_t round = kernel_probes_round(k->o.kernel);

	for (size_t i = 0; c->round != round && i < c->index.nr; i++)
		tell_step(k, c->steps[i].site, &c->steps[i]);
	c->round = round;
}

/* NULL: out of memory. */
static const struct caller_step *step_of(struct kworld *k, uint64_t site)
{
	struct caller_steps *c = &k->callers;
	const uint32_t *i;
	bool added;

	if (!ARRAY_RESERVE(c->steps, c->room, c->index.nr + 1))
		return NULL;
	i = id_map_add(&c->index, site, c->index.nr, &added);
	if (!i)
		return NULL;
	if (added) {
		c->steps[*i] = (struct caller_step){ .site = site };
		read_step(k, site, &c->steps[*i]);
	}
	tell_step(k, site, &c->steps[*i]);
	return &c->steps[*i];
}

/*
 * The first caller in the program of the code at site, whose function's stack and frame pointer these are; 0: not known.
 * mm, unless 0: the kernel side is told the way, from the return address *addr on, which becomes that of the one found.
 */
static uint64_t walk(struct kworld *k, const struct world_task *t, struct stack *s, uint64_t site, uint64_t sp, uint64_t bp,
		     uint32_t mm, uint64_t *addr)
{
	uint64_t end, ret;

	for (int i = 0; i < ZUG_CALLER_DEPTH && site; i++) {
		const struct caller_step *step = step_of(k, site);

		if (!step || step->kind == CALLER_UNKNOWN)
			break;
		if (step->kind == CALLER_HERE)
			return site;
		end = (step->step.by_bp ? bp : sp) + step->step.size;
		/* callers lie above, and only there */
		if (end <= sp)
			break;
		if (!word_at(s, end - sizeof(ret), &ret) ||
		    (step->step.bp_kept && !word_at(s, end + step->step.bp_at, &bp)))
			break;
		if (mm) {
			kernel_tell_caller(k->o.kernel, mm, 0, *addr, &(struct zug_caller){
				.what = ZUG_CALLER_ABOVE, .size = step->step.size, .by_bp = step->step.by_bp,
				.bp_at = step->step.bp_kept ? step->step.bp_at : 0 });
			*addr = ret;
		}
		sp = end;
		site = places_site(k->o.places, t->process, ret - 1);
	}
	return 0;
}

uint64_t kworld_caller(struct kworld *k, const struct world_task *t, const struct zug_event *e)
{
	uint64_t first = places_site(k->o.places, t->process, e->ip - 2), site;
	const struct zug_call *c = kworld_call(k, e);
	struct stack s;

	/* the kernel side has gone the way */
	if (e->flags & ZUG_EF_LEASED) {
		site = e->sp ? places_site(k->o.places, t->process, e->sp) : 0;
		return site ? site : first;
	}
	stack_begin(&s, t, e->sp);
	/* most often all that will be asked for */
	if (c && c->stack_len <= sizeof(s.data)) {
		memcpy(s.data, c->stack, c->stack_len);
		s.len = c->stack_len;
	}
	site = walk(k, t, &s, first, e->sp, e->bp, 0, NULL);
	return site ? site : first;
}

/* ---- --only and --not ---- */

/* What they say of a place, kept. */
static enum probes_verdict judge(struct kworld *k, uint64_t site)
{
	const struct place_site *ps;
	uint32_t *known;
	bool added;

	known = id_map_add(&k->callers.judged, site, PROBES_NEITHER, &added);
	if (known && !added)
		return *known;
	ps = places_find_site(k->o.places, site);
	if (!ps || !known)
		return PROBES_NEITHER;
	return *known = probes_judge(k->o.probes, ps->module, ps->offset);
}

bool kworld_is_users(struct kworld *k, uint64_t site)
{
	const struct place_site *ps;
	uint32_t *known;
	bool added;

	known = id_map_add(&k->callers.users, site, false, &added);
	if (known && !added)
		return *known;
	ps = places_find_site(k->o.places, site);
	return ps && known && (*known = probes_is_of_user(k->o.probes, ps->module, ps->offset));
}

/* No caller of that code can be found, or has to be. */
static bool stands_alone(struct kworld *k, uint64_t site)
{
	/* code that was made at run time lies in no file */
	const struct caller_step *step = site ? step_of(k, site) : NULL;

	return !step || step->kind != CALLER_ABOVE;
}

/* The module of an interpreter in that process of which --only and --not name what it executes; NULL: there is none. */
static struct symfile *interpreter_of(struct kworld *k, uint32_t process, uint64_t *bias)
{
	for (unsigned int m = 0; probes_scope_interpreted(k->o.probes) && m < probes_nr_modules(k->o.probes); m++) {
		struct symfile *f = probes_module(k->o.probes, m)->file;

		if (f && symfile_interprets(f) && !places_bias(k->o.places, process, m, bias))
			return f;
	}
	return NULL;
}

/* What they say of the functions that an interpreter executes in the task, which stands still. *any: whether there is one. */
static enum probes_verdict judge_interpreted(struct kworld *k, const struct world_task *t, bool *any)
{
	uint64_t bias, regs[18];
	struct symfile *f = interpreter_of(k, t->process, &bias);
	struct trace_frame frames[64];

	*any = f;
	if (!f || kworld_registers(&k->w, t, regs))
		return PROBES_NEITHER;
	return probes_judge_interpreted(k->o.probes, frames, symbols_interpreted_by(k->o.symbols, f, bias, t->pid, regs[17],
										    frames, 64));
}

/*
 * What is done at addr, with these stack and frame pointers: the place before or at it (site) says whether it is left out,
 * or, where that is a library's, the program's code that called that. The task stands still.
 */
static bool ask_callers(struct kworld *k, const struct world_task *t, uint32_t mm, uint64_t site, uint64_t addr,
			uint64_t sp, uint64_t bp)
{
	enum probes_verdict here = judge(k, site), above = here;
	/* it says so whatever calls it */
	bool final = here == PROBES_NOT || stands_alone(k, site), interprets = false, out;
	enum probes_verdict interpreted = PROBES_NEITHER;
	uint64_t caller;
	struct stack s;

	if (!final) {
		stack_begin(&s, t, sp);
		caller = walk(k, t, &s, site, sp, bp, here == PROBES_NEITHER ? mm : 0, &addr);
		above = caller ? judge(k, caller) : PROBES_NEITHER;
		final = caller && here == PROBES_NEITHER;
	}
	if (here != PROBES_NOT)
		interpreted = judge_interpreted(k, t, &interprets);
	/* it may execute another function next time */
	final &= !interprets;
	out = probes_judged_out(k->o.probes, here, above, interpreted);
	if (final)
		kernel_tell_caller(k->o.kernel, mm, 0, addr, &(struct zug_caller){
			.what = out ? ZUG_CALLER_LEFT_OUT : ZUG_CALLER_IN });
	return out;
}

/*
 * The interpreter is to call a function before it executes one of these bytecodes, whatever its stack's state is: but for bytes
 * and chars, which the language's library accesses ten thousands of times where it loads classes.
 */
static void step_into(const struct symfile_fields *x, int pid, uint64_t bias, uint32_t first)
{
	uint64_t code[ZUG_JAVA_ARRAYS];

	for (uint32_t state = 0; state < SYMFILE_TABLE_STATES; state++) {
		uint64_t at = bias + (state * SYMFILE_TABLE_CODES + first) * sizeof(code[0]);

		if (!remote_read(pid, x->stepping + at, code, sizeof(code)) || !code[0])
			continue;
		remote_write(pid, x->table + at, code, ZUG_JAVA_BYTES * sizeof(code[0]));
		remote_write(pid, x->table + at + ZUG_JAVA_SHORTS * sizeof(code[0]), &code[ZUG_JAVA_SHORTS], sizeof(code[0]));
	}
}

/* The interpreter is to tell of accesses of fields: by then it could, and then it does. */
static void want_fields(const struct probe_module *m, const struct probe_site *s, int pid, uint64_t bias, bool quiet)
{
	const struct symfile_fields *x = symfile_fields(m->file);
	bool then = s->fields == PROBE_FIELDS_WANTED;

	for (int i = 0; x && i < (then ? SYMFILE_WANTED : SYMFILE_POSSIBLE); i++) {
		const struct symfile_setting *v = then ? &x->wanted[i] : &x->possible[i];

		/* the interpreter starts up by thousands of them */
		if (!then || !quiet)
			remote_write(pid, v->vaddr + bias, &v->value, v->size);
	}
	if (x && then && !quiet && x->steps.nr) {
		step_into(x, pid, bias, ZUG_JAVA_LOADS);
		step_into(x, pid, bias, ZUG_JAVA_STORES);
	}
}

/*
 * A method of the language's lists and maps accesses a field: for the program, if that calls it. *final: this is said of the
 * method from now on. The machine uses them itself to load and link, by many calls.
 */
static bool accesses_for_program(struct kworld *k, const struct zug_event *e, const struct trace_frame *frames, int nr,
				 bool *final)
{
	uint32_t *times = id_map_add(&k->callers.undecided, e->arg[0] ^ (uint64_t)e->mm << 48, 0, NULL);
	bool own = symbols_accesses_by(frames, nr);

	*final = own || !times || ++*times >= ASKED_MOST;
	return own;
}

/*
 * The object whose method the innermost frame of the interpreter executes, which has called the function at hand; 0: not
 * known.
 */
static uint64_t receiver_of(const struct world_task *t, const uint64_t regs[18])
{
	const uint64_t frame = regs[REG_FRAME];
	uint64_t locals, object;

	return remote_read(t->tgid, frame + JAVA_LOCALS, &locals, sizeof(locals)) && locals > frame &&
	       remote_read(t->tgid, locals, &object, sizeof(object)) ? object : 0;
}

static bool same_call(const struct call *a, const struct call *b)
{
	return a->caller && b->caller && a->line == b->line && !strcmp(a->caller, b->caller) && !strcmp(a->callee, b->callee);
}

/*
 * A method of the language's for data that threads share accesses a field: where the program has called it, and this is
 * the first access of that call, that is where the call begins. In a loop a call begins again where the last one of the
 * same place began. *final: this is said of the method from now on: it is the library that calls it, or the program has
 * called it often.
 */
static bool calls_method(struct kworld *k, const struct world_task *t, const struct zug_event *e, const uint64_t regs[18],
			 const struct trace_frame *frames, int nr, bool *final)
{
	uint64_t method = e->arg[0] ^ (uint64_t)e->mm << 48;
	bool atomic = symbols_is_atomic(frames), begins, often;
	struct call *last = &k->kt[t->task].call, c = { .first = e->arg[0], .access = e->arg[2] };
	uint32_t *times;
	int own = symbols_call_of(frames, nr);

	if (own) {
		c.caller = frames[own].function;
		c.line = frames[own].line;
		c.callee = frames[own - 1].function;
		c.reads = symbols_only_reads(&frames[own - 1]);
		/* a static field says nothing of an object */
		c.object = e->arg[1] ? e->arg[1] : receiver_of(t, regs);
	}
	begins = c.object && (!same_call(last, &c) || (last->first == c.first && last->access == c.access));
	if (begins)
		*last = c;
	often = begins || atomic || (own && own <= CALLED_DIRECTLY);
	times = id_map_add(often ? &k->callers.calls : &k->callers.undecided, method, 0, NULL);
	*final = !times || ++*times >= (often ? CALLS_MOST : ASKED_MOST);
	last->begins = begins && !*final;
	/* the library uses these itself: then all of it is the program's */
	return *final ? atomic : begins;
}

/*
 * Python's library begins a function: if the program calls it, that is a place of the program's, between what comes before the
 * call and what the library does. Another call of the function may be the library's own. *final: this is said of the function
 * from now on.
 */
static bool begins_for_program(struct kworld *k, const struct probe_module *m, uint64_t bias, const struct world_task *t,
			       uint64_t tls, const struct zug_event *e, const struct trace_frame *frames, int nr, bool *final)
{
	uint32_t *times;

	if (nr < 2 || symbols_own_frame(frames, nr) != 1 || symbols_begins_thread(frames, nr))
		return false;
	times = id_map_add(&k->callers.undecided, e->arg[0] ^ (uint64_t)e->mm << 48, 0, NULL);
	*final = !times || ++*times >= BEGINS_MOST;
	return !*final && symbols_interpreted_begins(k->o.symbols, m->file, bias, t->pid, tls);
}

/*
 * The kernel side is told what the functions are that the task executes, which stands still: it goes that way itself then. True
 * when it knows the innermost.
 */
static bool tell_codes(struct kworld *k, const struct world_task *t, struct symfile *f, uint64_t bias, uint64_t tls)
{
	uint64_t codes[ZUG_FRAMES_MOST];
	struct zug_code told[ZUG_FRAMES_MOST];
	int nr = symbols_interpreted_codes(k->o.symbols, f, bias, t->pid, tls, codes, told, ZUG_FRAMES_MOST);

	for (int i = 0; i < nr; i++)
		if (told[i].what != ZUG_CODE_UNKNOWN)
			kernel_tell_code(k->o.kernel, sandbox_slot(k->o.sandbox), codes[i], &told[i]);
	return nr > 0 && told[0].what != ZUG_CODE_UNKNOWN;
}

bool kworld_executes_own(struct kworld *k, const struct world_task *t, const struct zug_event *e)
{
	const struct probe_site *s = probes_site(k->o.probes, e->site);
	const struct probe_module *m = s ? probes_module(k->o.probes, s->module) : NULL;
	enum probes_verdict here = PROBES_NEITHER, interpreted;
	struct trace_frame frames[64];
	uint64_t bias, regs[18];
	bool own, final = true;
	int nr;

	if (!m || places_bias(k->o.places, t->process, s->module, &bias) || kworld_registers(&k->w, t, regs))
		return false;
	if (s->fields == PROBE_FIELDS_POSSIBLE || s->fields == PROBE_FIELDS_WANTED) {
		want_fields(m, s, t->pid, bias, kworld_state(k)->quiet);
		/* a point once, where the search begins there */
		own = s->from && !k->run.begun && !kworld_state(k)->quiet;
		k->run.begun |= own;
		return own;
	}
	/* of an access the innermost says it, else what called that as well, unless there is more to be asked */
	nr = symbols_interpreted_by(k->o.symbols, m->file, bias, t->pid, regs[17], frames,
				    probes_has_scope(k->o.probes) ? 64 : s->fields ? 1 : 2);
	own = nr > 0 && symbols_own_frame(frames, nr) == 0;
	if (nr > 0 && !own && s->fields && symbols_may_access(frames)) {
		nr = symbols_interpreted_by(k->o.symbols, m->file, bias, t->pid, regs[17], frames, ASKED_FRAMES);
		own = accesses_for_program(k, e, frames, nr, &final);
	} else if (nr > 0 && !own && s->java == JAVA_ELEMENT && symbols_serves_threads(frames)) {
		/* the fields of that method say where a call of it begins */
		final = false;
	} else if (nr > 0 && !own && s->fields && symbols_serves_threads(frames)) {
		nr = symbols_interpreted_by(k->o.symbols, m->file, bias, t->pid, regs[17], frames, ASKED_FRAMES);
		own = calls_method(k, t, e, regs, frames, nr, &final);
	}
	if (!own && !s->fields) {
		/* the kernel side knows then where the program has not called it, and asks anew where it has */
		if (m->told_frames && !probes_has_scope(k->o.probes))
			final = !tell_codes(k, t, m->file, bias, regs[17]);
		own = begins_for_program(k, m, bias, t, regs[17], e, frames, nr, &final);
	}
	if (own && probes_has_scope(k->o.probes)) {
		here = probes_judge(k->o.probes, s->module, s->offset);
		interpreted = probes_judge_interpreted(k->o.probes, frames, nr);
		own = !probes_judged_out(k->o.probes, here, PROBES_NEITHER, interpreted);
	}
	if (e->arg[0] && final)
		kernel_tell_caller(k->o.kernel, e->mm, kworld_state(k)->run, e->arg[0], &(struct zug_caller){
			.what = own ? ZUG_CALLER_IN : ZUG_CALLER_LEFT_OUT });
	return own;
}

/* Some module is an interpreter. Modules come, and stay as they are. */
static bool has_interpreters(struct kworld *k)
{
	unsigned int nr = probes_nr_modules(k->o.probes);
	uint64_t begin, size;

	for (; k->nr_judged < nr; k->nr_judged++) {
		struct symfile *f = probes_module(k->o.probes, k->nr_judged)->file;

		k->interpreters |= f && symfile_interpreter_data(f, &begin, &size);
	}
	return k->interpreters;
}

/* Where the next interpreter from module *m on has its own data in that process; *m is the one behind it. */
static bool next_interpreter(struct kworld *k, uint32_t process, unsigned int *m, uint64_t *begin, uint64_t *size)
{
	uint64_t bias;

	if (!k->o.leave_interpreter || !has_interpreters(k))
		return false;
	while (*m < probes_nr_modules(k->o.probes)) {
		unsigned int nr = (*m)++;
		struct symfile *f = probes_module(k->o.probes, nr)->file;

		if (!f || !symfile_interpreter_data(f, begin, size) || places_bias(k->o.places, process, nr, &bias))
			continue;
		*begin += bias;
		return true;
	}
	return false;
}

bool kworld_has_interpreter(struct kworld *k, uint32_t process)
{
	uint64_t begin, size;
	unsigned int m = 0;

	return next_interpreter(k, process, &m, &begin, &size);
}

bool kworld_tells_frames(struct kworld *k, uint32_t process)
{
	uint64_t begin, size;
	unsigned int m = 0;

	return next_interpreter(k, process, &m, &begin, &size) && probes_module(k->o.probes, m - 1)->told_frames;
}

/* Functions of Python: none says whether a thread begins or ends there, or is in the midst. */
static bool all_of_library(const struct trace_frame *frames, int nr)
{
	for (int i = 0; i < nr; i++)
		if (symbols_code_of(&frames[i]) != ZUG_CODE_LIBRARY)
			return false;
	return true;
}

/*
 * These innermost functions say whether the task starts a thread, and for whom it does that: those further out cannot change
 * it. Of Java a framework's are as good as the program's.
 */
static bool tells(struct symfile *f, const struct trace_frame *frames, int nr)
{
	if (!symfile_is_java(f))
		return !all_of_library(frames, nr);
	for (int i = 0; i < nr; i++)
		if (symbols_of_jar(frames[i].file))
			return true;
	return symbols_own_frame(frames, nr) >= 0 || symbols_begins_thread(frames, nr);
}

/*
 * The task, which stands still, starts a thread or waits for one by the language's library. Who is preempted in there,
 * with that library's own locks, could as well be before it or behind it. by_itself: the interpreter does it, and not
 * for a function: then the thread begins or ends.
 */
static bool begins_thread_by(struct kworld *k, const struct world_task *t, unsigned int module, bool by_itself,
			     bool *for_program)
{
	static const int most[] = { FIRST_FRAMES, 8, 64 };
	struct symfile *f = probes_module(k->o.probes, module)->file;
	struct trace_frame frames[64];
	uint64_t bias, regs[18];
	int nr = 0;

	if (places_bias(k->o.places, t->process, module, &bias) || kworld_registers(&k->w, t, regs))
		return false;
	/* most often the first ones say it, and each one takes some looks at memory */
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		nr = symbols_interpreted_by(k->o.symbols, f, bias, t->pid, regs[17], frames, most[i]);
		if (nr < most[i] || tells(f, frames, nr))
			break;
	}
	if (for_program)
		*for_program = symbols_done_for_program(frames, nr);
	return nr ? symbols_begins_thread(frames, nr) : by_itself;
}

/* The kernel side is told of the methods that the task executes, so that it passes the next monitor that they enter. */
static void tell_methods(struct kworld *k, const struct world_task *t, uint32_t mm, unsigned int module)
{
	const struct zug_caller told = { .what = ZUG_JAVA_CALLER };
	uint64_t bias, regs[18], methods[ZUG_JAVA_FRAMES];
	uint32_t says[ZUG_JAVA_FRAMES];
	int nr;

	if (places_bias(k->o.places, t->process, module, &bias) || kworld_registers(&k->w, t, regs))
		return;
	kernel_tell_caller(k->o.kernel, mm, 0, ZUG_JAVA_TOLD, &told);
	nr = symbols_java_methods(k->o.symbols, probes_module(k->o.probes, module)->file, bias, t->pid, regs[17], methods, says,
				  ZUG_JAVA_FRAMES);
	for (int i = 0; i < nr && says[i] != ZUG_JAVA_UNKNOWN; i++) {
		kernel_tell_caller(k->o.kernel, mm, 0, methods[i], &(struct zug_caller){ .what = says[i] });
		if (says[i] == ZUG_JAVA_OWN || says[i] == ZUG_JAVA_FOREIGN || says[i] == ZUG_JAVA_BEGINS)
			break;
	}
}

/* The module of Java's machine that the process has; UINT_MAX: none. */
static unsigned int java_of(struct kworld *k, uint32_t process)
{
	uint64_t bias;

	for (unsigned int m = 0; k->o.leave_interpreter && m < probes_nr_modules(k->o.probes); m++) {
		struct symfile *f = probes_module(k->o.probes, m)->file;

		if (f && symfile_is_java(f) && !places_bias(k->o.places, process, m, &bias))
			return m;
	}
	return UINT_MAX;
}

/*
 * Java's machine has a thread wait for its creator, and the creator for the thread, before that executes anything of the
 * program.
 */
bool kworld_begins(struct kworld *k, const struct world_task *t)
{
	unsigned int java = kworld_state(k)->quiet ? UINT_MAX : java_of(k, t->process);

	return java != UINT_MAX && (!k->kt[t->task].pointed || begins_thread_by(k, t, java, false, NULL));
}

/* The code of that module calls what the task stands at. */
static bool is_called_by(struct kworld *k, const struct world_task *t, const struct zug_event *e, const struct probe_site *s,
			 unsigned int module)
{
	const struct place_site *at;

	if (!s || !s->entry)
		return false;
	at = places_find_site(k->o.places, places_site(k->o.places, t->process, e->ret - 1));
	return at && at->module == module;
}

/*
 * s: what it stands at; NULL: that is not known. *out: that, or a monitor of Java's own classes that the program has not
 * entered.
 */
static bool begins_thread(struct kworld *k, const struct world_task *t, const struct zug_event *e, const struct probe_site *s,
			  bool *out)
{
	bool for_program = true, begins;
	uint64_t begin, size;
	unsigned int m = 0;

	if (s && s->java) {
		begins = k->o.leave_interpreter && !s->executes && begins_thread_by(k, t, s->module, false, &for_program);
		*out = begins || (s->java == JAVA_ENTER && !for_program);
		if (s->java == JAVA_ENTER && k->o.leave_interpreter)
			tell_methods(k, t, e->mm, s->module);
		return begins;
	}
	while (next_interpreter(k, t->process, &m, &begin, &size))
		if (begins_thread_by(k, t, m - 1, is_called_by(k, t, e, s, m - 1), NULL))
			return *out = true;
	return *out = false;
}

bool kworld_is_interpreters(struct kworld *k, const struct world_task *t, uint64_t addr)
{
	uint64_t begin, size;
	unsigned int m = 0;

	while (addr && next_interpreter(k, t->process, &m, &begin, &size))
		if (addr - begin < size)
			return true;
	return false;
}

/* The task, which stands still, executes a function of the language's library, or none (kworld_own_only()). */
static bool executes_library(struct kworld *k, const struct world_task *t)
{
	uint64_t begin, size, bias, regs[18];
	struct trace_frame frame;
	unsigned int m = 0;
	struct symfile *f;

	if (!k->o.own_only || t->state != TASK_PARKED || !next_interpreter(k, t->process, &m, &begin, &size))
		return false;
	f = probes_module(k->o.probes, m - 1)->file;
	return !places_bias(k->o.places, t->process, m - 1, &bias) && !kworld_registers(&k->w, t, regs) &&
	       (symbols_interpreted_by(k->o.symbols, f, bias, t->pid, regs[17], &frame, 1) != 1 ||
		symbols_code_of(&frame) != ZUG_CODE_OWN);
}

static void tell_unknown_codes(struct kworld *k, const struct world_task *t, const struct zug_event *e)
{
	uint64_t begin, size, bias, regs[18];
	unsigned int m = 0;

	if (!(e->flags & ZUG_EF_CODE) || t->state != TASK_PARKED || !next_interpreter(k, t->process, &m, &begin, &size) ||
	    places_bias(k->o.places, t->process, m - 1, &bias) || kworld_registers(&k->w, t, regs))
		return;
	tell_codes(k, t, probes_module(k->o.probes, m - 1)->file, bias, regs[17]);
}

/*
 * Called by a library of the distribution for itself, in a process whose program an interpreter executes: that has the order of
 * such operations from its own. The kernel side is told of the place.
 */
static bool calls_for_itself(struct kworld *k, const struct world_task *t, const struct zug_event *e,
			     const struct probe_site *s)
{
	const struct place_site *at;

	if (!s->entry || s->op == ZUG_OP_POINT || probes_has_scope(k->o.probes) || !kworld_has_interpreter(k, t->process))
		return false;
	at = places_find_site(k->o.places, places_site(k->o.places, t->process, e->ret - 1));
	if (!at || !probes_serves_any(k->o.probes, at->module))
		return false;
	kernel_tell_caller(k->o.kernel, e->mm, 0, e->ret, &(struct zug_caller){ .what = ZUG_CALLER_LEFT_OUT });
	return true;
}

void kworld_scope_point(struct kworld *k, struct world_task *t, const struct zug_event *e)
{
	bool out = e->flags & ZUG_EF_LEFT_OUT;
	const struct probe_site *s = probes_site(k->o.probes, e->site);

	if (!s || !s->java)
		tell_unknown_codes(k, t, e);
	if (e->flags & ZUG_EF_CALLER && s)
		out = s->code.kind && !s->here ?
		      ask_callers(k, t, e->mm, places_site(k->o.places, t->process, e->ip), e->ip, e->stack[0],
				  e->stack[1]) :
		      ask_callers(k, t, e->mm, places_site(k->o.places, t->process, e->ret - 1), e->ret,
				  e->arg[2] + sizeof(e->ret), e->arg[3]);
	if (kworld_is_interpreters(k, t, k->kt[t->task].lock))
		out = true;
	else
		k->kt[t->task].asked_for_turn = false;
	if (!out && s && calls_for_itself(k, t, e, s))
		out = true;
	/* a place that is one because of what is executed there has been asked about */
	if (!out && !(e->flags & ZUG_EF_LEASED) && !(s && s->executes))
		out = executes_library(k, t);
	if (!out && t->state == TASK_PARKED && !(e->flags & ZUG_EF_LEASED))
		t->begins = begins_thread(k, t, e, s, &out) && java_of(k, t->process) != UINT_MAX;
	t->begins |= !!(e->flags & ZUG_EF_BEGINS);
	if (out)
		t->label.flags |= ZUG_L_LEFT_OUT;
}

bool kworld_is_go(struct kworld *k, uint32_t process)
{
	uint64_t bias;

	for (unsigned int m = 0; m < probes_nr_modules(k->o.probes); m++)
		if (probes_module(k->o.probes, m)->go && !places_bias(k->o.places, process, m, &bias))
			return true;
	return false;
}

/*
 * A system call with which Go's runtime lets its threads wait for goroutines, makes threads or memory, or interrupts a thread.
 * Which goroutine does what first is decided at what these do. What it writes is the program's, and so is an end.
 */
static bool is_of_go(struct kworld *k, const struct world_task *t, const struct zug_event *e)
{
	const struct place_site *at;
	struct trace_frame frame;

	switch (t->label.op) {
	case ZUG_OP_FUTEX_WAIT: case ZUG_OP_FUTEX_WAKE: case ZUG_OP_SLEEP: case ZUG_OP_KILL: case ZUG_OP_FORK:
	case ZUG_OP_SIGACTION: case ZUG_OP_SIGPROCMASK: case ZUG_OP_MMAP: case ZUG_OP_SYSCALL:
		break;
	default:
		return false;
	}
	if (!kworld_is_go(k, t->process))
		return false;
	at = places_find_site(k->o.places, places_site(k->o.places, t->process, e->ip - 2));
	return at && symfile_frames(probes_module(k->o.probes, at->module)->file, at->offset, &frame, 1) > 0 &&
	       frame.function && !strncmp(frame.function, "runtime.", 8);
}

/* The name of the file that a system call opens, reads, closes or looks at; NULL: of none. */
static const char *file_of_call(struct kworld *k, const struct world_task *t)
{
	const struct place_object *o;

	switch (t->label.op) {
	case ZUG_OP_OPEN: case ZUG_OP_READ: case ZUG_OP_STAT: case ZUG_OP_CLOSE:
		o = places_find_object(k->o.places, t->label.object);
		return o ? o->name : NULL;
	default:
		return NULL;
	}
}

/* A thread of a runtime reads a file that the kernel makes up: how much memory there is, where its stack lies. */
static bool asks_machine(struct kworld *k, const struct world_task *t)
{
	const char *name = k->o.leave_machine ? file_of_call(k, t) : NULL;

	return name && (!strncmp(name, "/proc/", 6) || !strncmp(name, "/sys/", 5));
}

/* A system call with which Java's machine reads classes, where it comes to the first use of one. */
static bool loads_classes(struct kworld *k, const struct world_task *t)
{
	static const char *const ends[] = { ".class", ".jar", "/lib/modules" };
	const char *name = k->o.leave_interpreter ? file_of_call(k, t) : NULL;
	size_t n = name ? strlen(name) : 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (n > strlen(ends[i]) && !strcmp(name + n - strlen(ends[i]), ends[i]))
			return java_of(k, t->process) != UINT_MAX;
	return false;
}

void kworld_scope_call(struct kworld *k, struct world_task *t, const struct zug_event *e)
{
	bool interprets;
	uint64_t site;

	tell_unknown_codes(k, t, e);
	k->kt[t->task].asked_for_turn = false;
	t->begins = loads_classes(k, t);
	if (is_of_go(k, t, e) || asks_machine(k, t) || t->begins || (!(e->flags & ZUG_EF_LEASED) && executes_library(k, t)))
		t->label.flags |= ZUG_L_LEFT_OUT;
	if (!probes_has_scope(k->o.probes))
		return;
	site = places_site(k->o.places, t->process, e->ip - 2);
	if (probes_judged_out(k->o.probes, judge(k, site), judge(k, t->label.site),
			      judge_interpreted(k, t, &interprets)))
		t->label.flags |= ZUG_L_LEFT_OUT;
}

void kworld_callers_free(struct caller_steps *c)
{
	id_map_free(&c->index);
	id_map_free(&c->judged);
	id_map_free(&c->users);
	id_map_free(&c->undecided);
	id_map_free(&c->calls);
	free(c->steps);
}
