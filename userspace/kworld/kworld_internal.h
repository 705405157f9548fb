/* SPDX-License-Identifier: GPL-2.0-only */
/* kworld_internal.h - what the parts of the kernel's world share; kworld_pump.c is the place to begin */
#ifndef ZUG_KWORLD_INTERNAL_H
#define ZUG_KWORLD_INTERNAL_H

#include <limits.h>
#include <sys/socket.h>
#include <sys/user.h>
#include "kworld/kworld.h"
#include "kernel/lane_watch.h"
#include "kworld/locks.h"
#include "kworld/spin.h"
#include "kworld/timers.h"
#include "lib/base/clock.h"
#include "lib/base/id_map.h"
#include "lib/base/remote.h"

/* A read-modify-write in two steps: see kworld_code.c. */
struct split {
	enum { SPLIT_NONE = 0, SPLIT_READ, SPLIT_WRITE } phase;	/* what the task is parked before */
	uint8_t size;
	bool known;		/* old was read */
	uint64_t addr;
	uint8_t old[16];
};

/* Where the caller of a place is found, by kworld_callers.c. */
struct caller_step {
	enum { CALLER_UNKNOWN, CALLER_HERE, CALLER_ABOVE } kind;
	struct symfile_step step;	/* ABOVE */
	uint64_t site;
	bool told;
	uint32_t round;		/* told: of probes (kernel_probes_round()) when the kernel side was told */
};
struct caller_steps {
	struct id_map index;	/* by site */
	struct caller_step *steps;
	size_t room;
	uint32_t round;		/* of probes, in which all of them were told */
	struct id_map judged;	/* enum probes_verdict, by site */
	struct id_map users;	/* whether it is the user's own code, by site */
	/*
	 * how often it was asked for this method of the language's data, and which of its calls were points, in this
	 * execution
	 */
	struct id_map undecided, calls;
};

/* The folder that is / for the test's tasks, kept open (kworld_labels.c). */
struct test_root {
	uint64_t mnt, dentry;	/* of struct zug_call; 0: there is none */
	int fd;
};

/* How often code places are reached, and whether several tasks use what they access. */
#define HEAT_OBJECTS	4
struct heat_site {
	uint32_t hits;		/* in this execution */
	uint32_t most;		/* in one so far */
	uint64_t objects[HEAT_OBJECTS];	/* some that it accessed in this execution */
	uint8_t nr;
	bool contended;
};
struct heat_object {
	uint32_t task;		/* first user */
	bool shared;
};
struct heat {
	struct heat_site *sites;
	uint32_t nr_sites;
	struct id_map index;	/* objects of this execution, by id */
	struct heat_object *objects;
	size_t room_objects;
};

/* A task in loops that wait: its last visits of so many of their loads. */
#define ROUNDS_SITES	8

struct rounds {
	struct {
		uint32_t site;		/* + 1; 0: none */
		uint32_t visits;	/* since one was a yield */
		uint64_t stands;	/* how the task stood there */
	} at[ROUNDS_SITES];
	uint32_t next;			/* that is given to the next site */
};

/* What the kernel world knows of a task beyond struct world_task. */
struct ktask {
	uint32_t kid;		/* the BPF side's number; 0: none */
	uint32_t site;		/* of probes: where it stands; ZUG_NO_SITE: at none */
	uint32_t nr_children;
	uint64_t lock;		/* address of the primitive its label acts on, 0 none */
	uint64_t mutex;		/* cond_wait: the mutex it takes again */
	struct zug_where at[2];	/* where the objects of its label lie, if these are in memory; offset 0: unknown */
	uint64_t timer_site;	/* where it sets a timer now, or did last */
	int64_t timer_time[2];	/* the time of that, where a constant has it: forced out of memory meanwhile */
	bool timer_forced;
	uint64_t fault;		/* site where it died; 0: it did not, or otherwise */
	struct trace_frame script;	/* the line of a script that it executes, or that has started it; file NULL: none */
	bool left_script;	/* it has executed another program since, or none of its own */
	enum symlibc libc;
	struct {
		uint64_t object, addr;
		unsigned int op;
		enum symlibc libc;
	} mutexes[2];		/* of its last two operations on one, the last first */
	bool asked_for_turn;	/* its wait for the interpreter's lock was over: until it has the lock the next one takes */
				/* its time */
	bool lent;		/* its turn was lent, and it has not come back from the kernel since */
	bool pointed;		/* it has come to a point */
	struct call {		/* the last one of the program's of a method that serves threads (symbols_call_of()) */
		const char *caller, *callee;
		uint32_t line;
		uint64_t first, access, object;	/* the method that accessed a field first, and which; its object */
		bool reads;	/* it changes nothing */
		bool begins;	/* its point is where it begins */
	} call;
	/* of the last call that it came to of a function which lets the kernel access the program's memory */
	struct {
		uint64_t addr, object;
		bool write;
	} buffer;
	bool have_words;
	uint32_t words[LOCK_WORDS];	/* of the lock (of a wait: the mutex), when the point was reached */
	/* the system call it stands before (--faults, --flows); -1: none */
	int call_nr;
	uint32_t call_mode;	/* inode mode of its descriptor, 0 none */
	uint64_t call_args[4];
	uint32_t flow_most;	/* bytes it can be cut to, 0 none; of kworld_flows() */
	/* of the timed wait it is in, with virtual time */
	bool timed;		/* it is in kworld.timed */
	int wait_nr;		/* the call */
	uint64_t wait_args[4];
	bool real_timer;	/* the kernel's own timer runs, too */
	bool endless;		/* it stands in that call without a time-out: time_reg has it */
	uint64_t time_reg;	/* the register that told the time-out */
	uint64_t scratch_addr;	/* memory of the test that lends that register a time without end; 0: none does */
	uint64_t scratch[2];	/* what was there */
	bool held;		/* the timer has run out too early: kworld_settle() sends it back */
	uint32_t waker;		/* kernel number of the task that seems to have woken it */
	uint64_t timer_ns;	/* real_timer: when it runs out, at the latest, on the machine's clock */
	bool watched;		/* stands before a probed instruction that accesses watched memory */
	uint64_t told_site;	/* libzug: the caller of the primitive that comes next, 0: not told */
	uint64_t answer;	/* libzug: where the value goes that it asks for */
	char child_name[16];	/* libzug: the name of the next task that it makes */
	bool yields;		/* its point is one at which others are to have a turn */
	struct rounds rounds;
	/* before a lock (kworld_waiting.c); task numbers + 1, 0: none */
	uint32_t waits;		/* its index in the list + 1; 0: it is not there */
	uint32_t wait_next, wait_prev;	/* before the same one */
	uint64_t waits_for;
	bool outlives;		/* the end of any task may change its lock */
	uint64_t used[2];	/* objects of the primitive that it called last */
	bool would_block, would_block_known;	/* what its memory said when the engine asked last */
	struct split split;
};

/* Tasks that stand before a lock (kworld_waiting.c). */
struct lock_waiters {
	uint32_t *list;
	uint32_t nr, room;
	uint32_t nr_outlive;	/* of these, before locks that the end of any task may change */
	struct id_map index;	/* by object (0: not known): the first that stands before it, + 1 */
	uint32_t check;		/* the next to be checked */
	bool wild;		/* the program changes its locks by other means than their operations */
};

/* What was sent, and is on its way (--flows). */
struct flow_message {
	int fd;			/* a copy of its sender's */
	bool pipe, datagram;
	bool overtaken;		/* the next datagram of that socket comes first */
	uint32_t overtaker;	/* kernel number of the task that sends that now; 0: none yet */
	uint32_t task;		/* that sent it */
	uint64_t ino;		/* of the socket or pipe */
	uint64_t due;		/* on the clock of the sandbox */
	uint8_t *bytes;
	size_t len;
	struct sockaddr_storage to;
	socklen_t tolen;	/* 0: where the descriptor leads */
};
struct flows {
	struct flow_message *list;	/* in the order in which they were sent */
	uint32_t nr, room;
};

/* What the engine is to be told, in order: list[first..end). */
struct told_events {
	struct world_event *list;
	size_t first, end, room;
};

/* What zugzwang does with one task on its own account (kworld_pump.c). */
struct errand {
	uint32_t kid;		/* kernel number of the task; 0: there is no errand */
	enum zug_event_kind awaits;	/* the event that it waits for; 0: none */
	bool strayed;		/* the task went another way */
	struct zug_event came;	/* the last event that was waited for */
};

/* Where an object in memory lies, and a task that has come to it. */
#define FOUND_OBJECTS	16
struct found_object {
	uint64_t object;
	uint32_t task;
	struct zug_where at;
};

/* Of a task that goes on without stopping (kworld_lease.c). */
struct lease {
	uint32_t nr;		/* points that it may pass: the next grant's; 0: there is none */
	enum search_until until;
	uint64_t clock;
	bool known;		/* they are those of a trace */
	int tgid;		/* of the one that was granted last: its locks, as they were at its last point */
	struct lock_memory locks;	/* ZUG_LEASE_LOCKS at most, in the kernel side's order */
	struct zug_call call;	/* of the next system call that was passed: its path */
	struct world_plan plan;	/* the next grant's, if planned */
	bool planned;
	enum ask_cause ended;	/* why the kernel side has none; ASK_NR: it has one, and says what ends it */
	struct found_object found[FOUND_OBJECTS];	/* of rules, that some task has come to */
	uint32_t nr_found;
	bool handed;		/* at the point that comes next the turn goes to the task `to` */
	uint32_t to;
	/* the task that has the turn, while the engine decides about the point at which it got or kept it; or WORLD_NO_TASK */
	uint32_t ahead;
};

/* Before the search begins a task is taken for one that waits for another after so many stops in a computation in a row, */
#define QUIET_STOPS 50
/* and for one that does so in a loop when all were within so many bytes. */
#define QUIET_LOOP 256

struct quiet_stops {
	uint32_t task, passed;	/* its number; zug_sandbox.nr_quiet then */
	unsigned int nr;
	uint32_t module;
	uint64_t low, high;	/* offsets of the first and the last place */
	bool scattered;		/* they lie farther apart, or in no file */
};

/* What is of one execution alone, and plain: kworld_start() sets it anew. */
struct kworld_run {
	int root_pid;		/* 0: the root is not our child */
	bool have_root;
	bool left;		/* a process has moved itself to another cgroup */
	bool cwd_ahead;		/* kworld_cwd_ahead() has looked */
	bool several;		/* a process other than the root has executed a program */
	uint32_t root;		/* number */
	int root_status;	/* wait status of a root that is not our child; -1: it has not ended */
	bool asked;		/* no task has the turn: a decision is due */
	struct zug_turn turn;	/* what is said with the next grants */
	uint64_t lone_ns;	/* turn.lone_ns while no task is on trial */
	bool stop_always;	/* as start() was told; stop() may want more */
	uint64_t begun_ns;
	uint64_t cpu_ns;	/* processor time of the sandbox when it was looked at first, early in the execution */
	bool cpu_known;
	uint32_t injected;	/* the task that has the turn already, for a call with a fault; or WORLD_NO_TASK */
	struct errand errand;
	const char *broken;	/* why events cannot be followed any more; NULL: they can */
	uint32_t wakes_for;	/* kernel number of the task that counts as the waker of tasks that zugzwang wakes now; */
				/* 0: none */
	uint32_t goes_on;	/* kernel number of the task that stopped for zugzwang alone; 0: none */
	int goes_on_pid;
	bool goes_on_now;	/* its turn is free: at the next call */
	uint32_t stepping;	/* kernel number of the task that the watches are off for; 0: none */
	uint32_t nr_held;
	uint32_t nr_lent;	/* tasks that may stand in the kernel with locks of a file system held */
	uint32_t split_task;	/* its second step is to be told next; or WORLD_NO_TASK */
	bool split_passed, split_leased;
	uint64_t input;		/* inode of the pipe that is the test's standard input; 0: it is none */
	uint32_t computes;	/* the task that was stopped in a computation last, and has reached no point since */
	unsigned int nr_stops;
	uint64_t stops[KWORLD_STOPS];	/* sites */
	bool lone_stop;		/* no other task could run at the last stop in a computation */
	uint32_t in_computation;	/* 1 + the task that was stopped there while others could run; 0: another point came */
	struct quiet_stops quiet_stops;
	bool begun;		/* a task has come to where the search begins, at which an interpreter is asked */
	bool computed_long;	/* a task did: those stops stay */
	uint32_t told_modules;	/* that this execution's trace knows */
	struct lease lease;
	struct spent spent;	/* what the kernel side does not know */
};

#define UNREAD_LOCKS 64

/* How an execution from a template begins (kworld_prefix.c). */
struct prefix {
	struct zug_event *list;		/* of the execution in which the template was made */
	size_t nr, room;
	size_t next;			/* the next one that takes effect */
	bool recording;
	bool hastened;			/* the prototype makes most of its calls without a stop */
	pid_t pid;			/* the first process of the next execution, which stands still; 0: there is none yet */
	bool used;			/* this execution was forked */
	bool feeding;			/* it stands still until the whole list has taken effect */
	bool looks_out;			/* zug_turn.looks_out, of the template */
	/*
	 * Locks that the kernel side could not read when a task of the first process came to them: their pages were not
	 * there.
	 */
	uint64_t unread[UNREAD_LOCKS];
	uint32_t nr_unread, nr_touched;	/* the first ones of them are there in this template */
};

/* The breakpoints at an interpreter's looks (kworld_looks.c). */
struct look;
struct looks {
	struct look *list;
	size_t nr, room;
	bool known;
	uint64_t changed;		/* kernel_probes_changed() when they were found */
};

/* A file for what the test prints; path "": it is not one of ours, or not known yet. */
struct output {
	dev_t dev;
	ino_t ino;
	char path[32];
};

struct kworld {
	struct world w;
	struct kworld_options o;
	bool debug;
	struct ktask *kt;	/* by task number */
	uint32_t nr_kt;		/* room */
	uint32_t *by_kid;	/* number + 1, by the kernel's number */
	uint32_t nr_kid;	/* room */
	struct id_map by_tid;	/* the first living task that has that number for the test, or another that had it */
	struct kworld_run run;
	struct prefix prefix;
	struct told_events told_events;
	struct lock_memory locks;
	struct lock_waiters waiters;
	struct spin_trial spin;
	struct lane_watch lane_watch;
	struct timers timers;
	struct {
		uint32_t *list;
		uint32_t nr, room;
	} timed;		/* all tasks that wait with a deadline; others, too, until the next grant */
	struct flows flows;
	struct heat heat;
	struct caller_steps callers;
	unsigned int nr_judged;	/* modules of which it is known whether they are interpreters */
	bool interpreters;	/* some are */
	struct looks looks;
	struct test_root root;
	struct test_root cwd;		/* the current folder of the task that used a relative path last ... */
	char cwd_path[PATH_MAX];	/* ... and its name, as long as nothing has moved files */
	bool uses_cwd;			/* some task of some execution has used one */
	struct id_map told;	/* ids that this execution's trace knows */
	struct output outputs[2];
};

/* What the kernel side has read for a ZUG_EV_SYSCALL that was passed, or whose task stands still; NULL: it was not that one. */
static inline const struct zug_call *kworld_call(struct kworld *k, const struct zug_event *e)
{
	const struct zug_call *c = kernel_call(k->o.kernel, sandbox_slot(k->o.sandbox));

	if (e->flags & ZUG_EF_LEASED)
		return &k->run.lease.call;
	return c && c->task == e->task && c->sp == e->sp ? c : NULL;
}

/* The kernel side's state of the sandbox. */
static inline const volatile struct zug_sandbox *kworld_state(struct kworld *k)
{
	return kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox));
}

/* A ZUG_EV_OUTPUT writes what --from-output names: the sandbox is not quiet any more. */
bool kworld_begins_search(struct kworld *k, const struct zug_event *e);

/* world_ops.next */
int kworld_next(struct world *w, struct world_event *ev, int64_t timeout_us, char *err, size_t errlen);
/* The state of an execution that has not begun. */
void kworld_begin(struct kworld *k, bool stop_always);
/* Takes the next event, if it has come, and lets it take effect. 1; 0: none has come; -EIO: k->run.broken says why. */
int kworld_pump(struct kworld *k);
/* The same, and waits for it. */
int kworld_pump_for(struct kworld *k, int64_t timeout_us);
/* The only task gets the turn, as it would without a choice. */
void kworld_answer_alone(struct kworld *k);

/* A task has come to a lock there, whose memory could not be read at once. */
void kworld_unread(struct kworld *k, const struct world_task *t, uint64_t addr);
/* An event has come: it is kept, if a template is being made. */
void kworld_prefix_note(struct kworld *k, const struct zug_event *e);
/* Takes the first process that kworld_fork() has made. false: there is none, the execution is to be started by exec. */
bool kworld_take_copy(struct kworld *k);
/* Lets the next event of the prefix take effect. 1; 0: none, or a question comes first; -EIO: k->run.broken. */
int kworld_prefix_next(struct kworld *k);
/* The engine is told that after, or before, all that it is to be told already. false: out of memory (k->run.broken). */
bool kworld_tell(struct kworld *k, const struct world_event *ev);
bool kworld_tell_first(struct kworld *k, const struct world_event *ev);
/* An event takes effect on its task, and the engine is told. */
void kworld_handle(struct kworld *k, const struct zug_event *e);
/* Task n, which is blocked, wakes up; waker is a kernel number. */
void kworld_wakes(struct kworld *k, uint32_t n, uint32_t waker, struct world_event *ev);

/*
 * An errand with task n: what its events say is waited for with kworld_await(), which drives the pump: other tasks may
 * appear meanwhile, so that pointers to tasks are worth nothing after it. 0: k->run.errand.came is the event; -EAGAIN: the task
 * went another way; -ETIME: nothing has come for long; -EIO: k->run.broken.
 */
void kworld_errand_begin(struct kworld *k, uint32_t n);
int kworld_await(struct kworld *k, enum zug_event_kind kind);
/* Gives it the turn, and waits until it has blocked and the turn is free again. */
int kworld_run_errand(struct kworld *k);
void kworld_errand_end(struct kworld *k);
/* When a wait has kept the turn for long the others go on. True: they do. */
bool kworld_lend(struct kworld *k);
/* The test has mounted a file system that it may serve itself: nothing is to be looked up there while its tasks stand still. */
bool kworld_serves_files(struct kworld *k, pid_t pid);
/* world_ops.grant */
int kworld_grant(struct world *w, uint32_t task);
/* The turn, to a task by its kernel number, and the machine's. 0 or -errno. */
int kworld_give_turn(struct kworld *k, uint32_t kid, int pid);

/* kworld_lease.c. world_ops.lease_ended */
enum ask_cause kworld_lease_ended(struct world *w);
/* world_ops.lease */
void kworld_lease(struct world *w, uint32_t nr, enum search_until until, uint64_t clock, bool known,
		  const struct world_plan *plan);
/* Before a grant: the task gets the lease that was said, if it can have one. */
void kworld_lease_begin(struct kworld *k, uint32_t task);
/* A task goes on that has stopped to be prepared, perhaps under its lease: what that says of files may not be so any more. */
void kworld_lease_fresh(struct kworld *k);
/* ZUG_EV_HAND. */
void kworld_lease_hand(struct kworld *k, const struct zug_event *e);
/* ZUG_EV_LOCK; a point that was passed under the lease: what is known of memory then. */
void kworld_lease_lock(struct kworld *k, const struct zug_event *e);
/* ZUG_EV_PATH; the system call that was passed: what else is known of it (kworld_call()). */
void kworld_lease_path(struct kworld *k, const struct zug_event *e);
void kworld_lease_call(struct kworld *k, const struct zug_event *e);
void kworld_lease_point(struct kworld *k, const struct world_task *t, const struct zug_event *e, struct world_event *ev);

/* The number of a task by the kernel's, or by the thread id that the test knows; WORLD_NO_TASK: none. */
uint32_t kworld_number(const struct kworld *k, uint32_t kid);
uint32_t kworld_task_of_tid(const struct world *w, int tid);
/* The same of one that has ended. */
uint32_t kworld_dead_of_tid(const struct world *w, int tid);
/* Room for nr tasks. false: out of memory. */
bool kworld_room(struct kworld *k, uint32_t nr);

/* Task n was changed: stands before a lock now, or does not any more. */
void kworld_waiters_follow(struct kworld *k, uint32_t n);
/* Task n has reached the operation of its label, or has begun it. */
void kworld_waiters_touch(struct kworld *k, uint32_t n);
void kworld_waiters_all_changed(struct kworld *k);
/* Something happened. */
void kworld_waiters_event(struct kworld *k, const struct zug_event *e);
void kworld_waiters_reset(struct kworld *k);
void kworld_waiters_free(struct kworld *k);

/* Fill t->label (and *kt) from the event that names the operation. */
void kworld_label_point(struct kworld *k, struct world_task *t, struct ktask *kt,
			const struct zug_event *e);
void kworld_label_syscall(struct kworld *k, struct world_task *t, const struct zug_event *e);
/* What system calls have to do with signals and the ends of processes (kworld_signals.c). */
void kworld_label_signals(struct kworld *k, struct world_task *t, const struct zug_event *e, struct zug_label *l);
/* A task reads descriptor fd. If that is one of signals, it is about the signal as much as about the descriptor. */
void kworld_label_signal_read(struct kworld *k, const struct world_task *t, int fd, struct zug_label *l);
/* What a signal to a process is known by, for those that send it and its handlers. */
uint64_t kworld_signal_object(struct kworld *k, uint32_t process, int signal);
/* A signal that the task will take when it goes on. */
bool kworld_has_signal(struct kworld *k, int pid);
/* The signals that a task blocks now: bit N - 1 is signal N. 0: none, or there is no such task. */
uint64_t kworld_blocked_signals(struct kworld *k, int pid);
/* Its process has a handler for the signal. */
bool kworld_handles(struct kworld *k, int pid, int signal);
/* A signal that is ignored where it is neither handled nor blocked: the task handles or blocks it. */
bool kworld_notices(struct kworld *k, int pid, int signal);
/* The site of a system call whose task stands before it: the place in the program, if it can be told. */
uint64_t kworld_caller(struct kworld *k, const struct world_task *t, const struct zug_event *e);
/* Sets ZUG_L_LEFT_OUT in t->label where --only and --not say so: of a probed place; of a system call or a note of libzug. */
void kworld_scope_point(struct kworld *k, struct world_task *t, const struct zug_event *e);
void kworld_scope_call(struct kworld *k, struct world_task *t, const struct zug_event *e);
int kworld_registers(struct world *w, const struct world_task *t, uint64_t regs[18]);	/* the debugger's */
/*
 * At a look of an interpreter (probes_see_executed()): what it executes in the task is the program's own, and a point
 * there; the kernel side is told what it is.
 */
bool kworld_executes_own(struct kworld *k, const struct world_task *t, const struct zug_event *e);
/* Some of the code that its process executes was not installed with the distribution. */
bool kworld_has_own_code(const struct kworld *k, const struct world_task *t);
/* world_task.begins of a thread that was made now, or of a task that blocks in a futex. */
bool kworld_begins(struct kworld *k, const struct world_task *t);
/*
 * The task is about to execute the main function of a program of Go's: it is given what its runtime's random numbers
 * follow from.
 */
void kworld_asks_numbers(struct kworld *k, struct world_task *t);
/* The process executes a program of Go's, without C. */
bool kworld_is_go(struct kworld *k, uint32_t process);
/* There lies a lock or condition that an interpreter has for itself, and which is left out (leave_interpreter). */
bool kworld_is_interpreters(struct kworld *k, const struct world_task *t, uint64_t addr);
bool kworld_has_interpreter(struct kworld *k, uint32_t process);	/* there may be any in the process */
/* The kernel side finds out itself what it executes (struct zug_frames). */
bool kworld_tells_frames(struct kworld *k, uint32_t process);
void kworld_callers_free(struct caller_steps *c);
/* An execution begins: the kernel side knows all ways up the stack that were gone, also where probes are others now. */
void kworld_callers_begin(struct kworld *k);
/* The place is in code that the user has written (probes_is_of_user()). */
bool kworld_is_users(struct kworld *k, uint64_t site);
void kworld_root_close(struct test_root *r);
/* The task, which stands, is about to go on: its current folder is known from here on, if tests of this search use theirs. */
void kworld_cwd_ahead(struct kworld *k, int pid);
/* The task goes on from where it stands: what it does there may change where relative paths lead. */
void kworld_cwd_follow(struct kworld *k, uint32_t n);
/* libzug's notes (kworld_notes.c). True when it is no point, but about what comes next. */
bool kworld_note_next(struct kworld *k, uint32_t task, const struct zug_event *e);
void kworld_label_note(struct kworld *k, struct world_task *t, struct ktask *kt, const struct zug_event *e);
/* world_ops.choose */
int kworld_choose(struct world *w, struct world_task *t, uint32_t value);
/* What an operation that synchronises acts on is an access to that memory, where it may be free. */
void kworld_note_use(struct kworld *k, struct world_task *t);
void kworld_label_code(struct kworld *k, struct world_task *t, struct ktask *kt, const struct zug_event *e,
		       const struct probe_site *s);
/* A task that was not stopped at a place (under a lease: leased): if that is split its second step is told next. */
void kworld_split_passed(struct kworld *k, uint32_t task, bool leased);
/* A task is given the turn: true when that was the read, and the kernel is not to be told. */
bool kworld_split_granted(struct kworld *k, uint32_t task);
/* The second step, if one is due. */
bool kworld_split_next(struct kworld *k, struct world_event *ev);
void kworld_heat_hit(struct kworld *k, uint32_t site, uint32_t task, const struct zug_label *l);
/* Task n was stopped in a computation there (0: it reached a point). */
void kworld_computes(struct kworld *k, uint32_t n, uint64_t site);
/*
 * Before the search begins, task t was stopped in a computation and not shown to wait. true: so often that it is taken for a
 * loop that waits for another task.
 */
bool kworld_waits_quietly(struct kworld *k, const struct world_task *t);
/* Task n waits in a loop there, as was shown: that is as good as many stops. */
void kworld_loops(struct kworld *k, uint32_t n, uint64_t site);
/* The end of an execution. */
void kworld_heat_fold(struct heat *h);
/* ZUG_EV_HOT. */
void kworld_take_breakpoint(struct kworld *k, const struct world_task *t, uint32_t site, uint64_t ip);
void kworld_heat_free(struct heat *h);
/* The place of an address, which the event tells with that flag; else it is looked for. */
bool kworld_where(const struct zug_event *e, uint32_t flag, uint64_t addr, struct zug_where *w);
/* The object at an address: flag says which of the event's places it is. 0: unknown. */
uint64_t kworld_memory_object(struct kworld *k, const struct world_task *t, const struct zug_event *e,
			      uint32_t flag, uint64_t addr, unsigned int op);
/* Says what a task that blocked waits for: its label, t->wait, t->where (kworld_blocked.c). */
void kworld_describe_wait(struct kworld *k, struct world_task *t, const struct zug_event *e);
/* world_ops.in_flight */
bool kworld_in_flight(struct world *w);

/* struct world_ops.other_end (kworld_other_end.c). */
bool kworld_other_end(struct world *w, const struct world_task *t, char *text, size_t len);

/* Virtual time (kworld_time.c). A process that stands at its first system call is made ready for it. 0 or -errno. */
int kworld_prepare(struct kworld *k, int pid);
/*
 * Until the search begins the breakpoints at an interpreter's looks are out of a process, which stands still; and put back into
 * all, once it has begun: before each grant. kworld_looks.c
 */
void kworld_looks_take_out(struct kworld *k, uint32_t process, int pid);
void kworld_looks_put_back(struct kworld *k);
void kworld_looks_free(struct looks *l);
/* Before a grant: sets the time from which on the granted task stops because a time-out may expire. */
void kworld_set_alarm(struct kworld *k);
bool kworld_virtual(struct kworld *k);
/* The clock of the test goes on to that time. */
void kworld_set_clock(struct kworld *k, uint64_t clock);
/* Task t has blocked with a time-out: puts that back into its memory, and sets t->deadline. */
/*
 * A timer is about to be set whose time only we can write (SYNC), as a constant's: the kernel gets one that never comes. Behind
 * the call (TIMER) it is put back.
 */
void kworld_timer_take(struct ktask *kt, const struct zug_event *e);
void kworld_timer_give_back(struct ktask *kt, const struct zug_event *e);
void kworld_wait_begins(struct kworld *k, struct world_task *t, struct ktask *kt,
			const struct zug_event *e);
/* world_ops.expire */
int kworld_expire(struct world *w, uint32_t task);
uint64_t kworld_next_timer(const struct kworld *k);
/* world_ops.timer */
bool kworld_timer(struct world *w, struct world_timer *t);
/* world_ops.timer_kills */
bool kworld_timer_kills(struct world *w);
/* True when a task is blocked with a time-out. */
bool kworld_waits_timed(const struct kworld *k);
/* Task n was woken. True: perhaps by the kernel's timer, before its time; then the task is held, and not awake. */
bool kworld_hold(struct kworld *k, uint32_t n, uint32_t waker);
/* The same where the task has not slept at all (ZUG_EF_OVER). */
void kworld_hold_over(struct kworld *k, uint32_t n);
/* The task is not held any more. */
void kworld_unhold(struct kworld *k, uint32_t n);
/*
 * Makes task n come out of its wait, up to where it would return to its program, and lets change() see and
 * replace its registers. parked: it is awake already. 0 when it stands parked again, its WAKE seen.
 */
int kworld_take_out(struct kworld *k, uint32_t n, bool parked,
		    void (*change)(struct kworld *k, uint32_t n, struct user_regs_struct *r, void *arg), void *arg);
/* A copy of a task's descriptor, close-on-exec, or -errno. */
int kworld_copy_fd(int pid, int fd);
/* Faults (kworld_faults.c): as in struct world_ops. */
void kworld_faults(struct world *w, const struct world_task *t, uint32_t wanted, struct world_faults *f);
int kworld_inject(struct world *w, struct world_task *t, int fault, uint32_t amount);
/* Flows (kworld_byte_flows.c), the same. */
uint32_t kworld_flows(struct kworld *k, const struct world_task *t, uint32_t wanted);
unsigned int kworld_flow_amounts(const struct kworld *k, const struct world_task *t, int flow, uint32_t *amounts);
int kworld_flow(struct kworld *k, struct world_task *t, int fault, uint32_t amount);
/* When the next bytes that are on their way arrive (UINT64_MAX: none are); lets them arrive. */
uint64_t kworld_flows_next(const struct kworld *k);
int kworld_flows_deliver(struct kworld *k);
/* A task has done what it stood before, or come to a call before which bytes on their way have to arrive. */
void kworld_flows_event(struct kworld *k, const struct world_task *t, const struct zug_event *e);
void kworld_flows_reset(struct kworld *k);
void kworld_flows_free(struct kworld *k);
bool kworld_waits_may_fail(struct kworld *k);
/*
 * Task n is parked before a call that waits: it makes the call, which ends with EINTR if it would have to wait, and
 * is parked again. 0; WORLD_FAULT_MISSED: it did not have to; -errno.
 */
int kworld_interrupt(struct kworld *k, uint32_t n);
/* While no task has the turn: sends held tasks back. How many turned out to be awake for good, which the engine is told. */
int kworld_settle(struct kworld *k);

#endif
