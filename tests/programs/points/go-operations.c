/*
 * Go's operations without Go: functions with the names of its runtime and library, each called once as Go calls it, with
 * arguments in rax, rbx, rcx, rdi and rsi, and the goroutine in r14. The words `op: NAME OBJECT` at the end of a line are the
 * operation and the objects (- for none) that the label of its call must have.
 */
#include <pthread.h>
#include <stddef.h>

static long first, second, third, group, cond;
static long goroutine[3] = { 0, 0, -1 };	/* the third word: where its stack ends */

struct one_case {
	void *channel, *element;
};
static struct one_case two[] = { { &first, NULL }, { &second, NULL } }, nil[] = { { NULL, NULL }, { &second, NULL } },
		       three[] = { { &first, NULL }, { &second, NULL }, { &third, NULL } };

/* It looks whether its stack is large enough, and begins once more when that was made larger, which it is at each call. */
#define LOOKS(name, compare)							\
	__asm__(".type \"" name "\",@function\n\"" name "\":\n"			\
		compare "\n\tjbe 1f\n\tmovq $-1,0x10(%r14)\n\tret\n"		\
		"1:\tmovq $0,0x10(%r14)\n\tjmp \"" name "\"\n.size \"" name "\",.-\"" name "\"")
#define SMALL "cmp 0x10(%r14),%rsp"
/* It does not look. */
#define PLAIN(name) \
	__asm__(".type \"" name "\",@function\n\"" name "\":\n\tsub $8,%rsp\n\tadd $8,%rsp\n\tret\n.size \"" name "\",.-\"" name "\"")

PLAIN("runtime.chansend1");
PLAIN("runtime.chanrecv1");
PLAIN("runtime.chanrecv2");
LOOKS("runtime.closechan", SMALL);
LOOKS("runtime.selectnbsend", SMALL);
LOOKS("runtime.selectnbrecv", SMALL);
LOOKS("runtime.selectgo", "lea -0xb8(%rsp),%r12\n\tcmp 0x10(%r14),%r12");
LOOKS("sync.(*WaitGroup).Add", SMALL);
LOOKS("sync.(*WaitGroup).Wait", SMALL);
LOOKS("sync.(*Cond).Wait", "lea -0x20(%rsp),%r12\n\tcmp 0x10(%r14),%r12");
LOOKS("sync.(*Cond).Signal", SMALL);
LOOKS("sync.(*Cond).Broadcast", SMALL);

static void *calls(void *arg)
{
	register long *g __asm__("r14") = goroutine;

#define GO(name, a, b, sends, receives)							\
	__asm__ volatile("sub $128,%%rsp\n\tcall \"" name "\"\n\tadd $128,%%rsp"	\
			 : : "a"(a), "b"(b), "c"(0), "D"((long)(sends)), "S"((long)(receives)), "r"(g) : "r12", "memory", "cc")
	GO("runtime.chansend1", &first, NULL, 0, 0); /* op: chan-send first */
	GO("runtime.chanrecv1", &first, NULL, 0, 0); /* op: chan-recv first */
	GO("runtime.chanrecv2", &second, NULL, 0, 0); /* op: chan-recv second */
	GO("runtime.selectnbsend", &second, NULL, 0, 0); /* op: chan-send second */
	GO("runtime.selectnbrecv", NULL, &second, 0, 0); /* op: chan-recv second */
	GO("runtime.selectgo", two, NULL, 1, 0); /* op: select first */
	GO("runtime.selectgo", two, NULL, 1, 1); /* op: select first second */
	GO("runtime.selectgo", nil, NULL, 0, 2); /* op: select second */
	GO("runtime.selectgo", three, NULL, 1, 2); /* op: select - */
	GO("runtime.chanrecv1", NULL, NULL, 0, 0); /* op: chan-recv - */
	GO("runtime.closechan", &first, NULL, 0, 0); /* op: chan-close first */
	GO("sync.(*WaitGroup).Add", &group, NULL, 0, 0); /* op: group-add group */
	GO("sync.(*WaitGroup).Wait", &group, NULL, 0, 0); /* op: group-wait group */
	GO("sync.(*Cond).Wait", &cond, NULL, 0, 0); /* op: cond-wait cond */
	GO("sync.(*Cond).Signal", &cond, NULL, 0, 0); /* op: cond-signal cond */
	GO("sync.(*Cond).Broadcast", &cond, NULL, 0, 0); /* op: cond-broadcast cond */
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, calls, NULL);
	pthread_join(t, NULL);
	return 0;
}
