/*
 * Never fails, and has six data races. In each of them the two accesses are of different bytes, or one is a call
 * of the C library: half of a word is written and all of it read; a member is written and the structure copied, by an
 * instruction, by `rep movs`, by memcpy(), by memset(), by strcpy(). Only one task accesses the bytes beside them.
 * build: -O2 -fno-builtin
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

struct four {
	int a, b, c, d;
};

static union {
	uint64_t whole;
	uint32_t half[2];
} word;
static struct four four, repeated[8], copied[64], filled[64];
static char name[32] = "nobody", other_name[] = "somebody";
/* each thread its own half */
static struct {
	uint32_t left, right;
} beside;

static uint64_t __attribute__((noinline)) read_whole(void)
{
	return *(volatile uint64_t *)&word.whole;
}

static void __attribute__((noinline)) write_half(void)
{
	*(volatile uint32_t *)&word.half[1] = 1;
}

static void __attribute__((noinline)) copy_four(struct four *to)
{
	__asm__ volatile("movdqu %1, %%xmm0; movdqu %%xmm0, %0" : "=m"(*to) : "m"(four) : "xmm0");
}

static void __attribute__((noinline)) write_member(void)
{
	*(volatile int *)&four.c = 1;
}

static void __attribute__((noinline)) copy_repeated(struct four *to)
{
	const void *from = repeated;
	size_t n = sizeof(repeated) / 8;

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void __attribute__((noinline)) write_repeated(void)
{
	*(volatile int *)&repeated[3].b = 1;
}

static void __attribute__((noinline)) copy_all(struct four *to, size_t nr)
{
	memcpy(to, copied, nr * sizeof(*to));
}

static void __attribute__((noinline)) write_copied(void)
{
	*(volatile int *)&copied[33].d = 1;
}

static void __attribute__((noinline)) fill_all(size_t nr)
{
	memset(filled, 0, nr * sizeof(filled[0]));
}

static int __attribute__((noinline)) read_filled(void)
{
	return *(volatile int *)&filled[50].a;
}

static void __attribute__((noinline)) set_name(void)
{
	strcpy(name, other_name);
}

static char __attribute__((noinline)) read_letter(void)
{
	return *(volatile char *)&name[4];
}

static void __attribute__((noinline)) write_left(void)
{
	*(volatile uint32_t *)&beside.left = 1;
}

static void __attribute__((noinline)) write_right(void)
{
	*(volatile uint32_t *)&beside.right = 1;
}

static void *whole(void *arg)
{
	struct four mine[64];

	read_whole();
	copy_four(mine);
	copy_repeated(mine);
	copy_all(mine, sizeof(copied) / sizeof(copied[0]));
	fill_all(sizeof(filled) / sizeof(filled[0]));
	set_name();
	write_left();
	return arg;
}

static void *part(void *arg)
{
	write_half();
	write_member();
	write_repeated();
	write_copied();
	read_filled();
	read_letter();
	write_right();
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, whole, NULL);
	pthread_create(&threads[1], NULL, part, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
