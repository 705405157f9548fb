/* A function whose first instruction has a LOCK prefix: the kernel's uprobes refuse such a place. */
void lock_first(int *word);

__asm__(".text\n"
	".globl lock_first\n"
	".type lock_first, @function\n"
	"lock_first:\n"
	"	lock; decl (%rdi)\n"
	"	ret\n"
	".size lock_first, . - lock_first\n");

int main(void)
{
	static int word = 1;

	lock_first(&word);
	return word;
}
