/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_calls.c - where the calls of the C library's functions on blocks of memory go, and those of libstdc++'s functions
 * that link the nodes of containers
 *
 * By a word of the global offset table, through a stub or not; in a static program to the function itself, or
 * through a stub to the one that suits the processor (an IFUNC). Functions that a program has itself may be called send()
 * and read(), too: those are told by their symbols only where the file has the C library in it.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "lib/base/array.h"
#include "probes/code_internal.h"

enum code_block code_block(const char *name)
{
	static const struct {
		const char *name;
		enum code_block block;
	} known[] = {
		{ "memcpy", CODE_BLOCK_COPY }, { "memmove", CODE_BLOCK_COPY }, { "mempcpy", CODE_BLOCK_COPY },
		{ "memset", CODE_BLOCK_FILL }, { "memcmp", CODE_BLOCK_COMPARE }, { "bcmp", CODE_BLOCK_COMPARE },
		{ "strcpy", CODE_BLOCK_STRCPY }, { "stpcpy", CODE_BLOCK_STRCPY },
		{ "strlen", CODE_BLOCK_STRLEN }, { "strcmp", CODE_BLOCK_STRCMP },
		{ "atoi", CODE_BLOCK_TEXT }, { "atol", CODE_BLOCK_TEXT }, { "atoll", CODE_BLOCK_TEXT },
		{ "strtol", CODE_BLOCK_TEXT }, { "strtoul", CODE_BLOCK_TEXT }, { "strtoll", CODE_BLOCK_TEXT },
		{ "strtoull", CODE_BLOCK_TEXT }, { "strtod", CODE_BLOCK_TEXT }, { "sscanf", CODE_BLOCK_TEXT },
		{ "strchr", CODE_BLOCK_TEXT }, { "strrchr", CODE_BLOCK_TEXT }, { "strdup", CODE_BLOCK_TEXT },
		{ "strncmp", CODE_BLOCK_TEXTS }, { "strcasecmp", CODE_BLOCK_TEXTS },
		{ "strncasecmp", CODE_BLOCK_TEXTS }, { "strstr", CODE_BLOCK_TEXTS },
		{ "strncpy", CODE_BLOCK_STRNCPY },
		{ "sprintf", CODE_BLOCK_PRINT }, { "vsprintf", CODE_BLOCK_PRINT },
		{ "snprintf", CODE_BLOCK_PRINT_N }, { "vsnprintf", CODE_BLOCK_PRINT_N },
		{ "puts", CODE_BLOCK_PUTS }, { "fputs", CODE_BLOCK_PUTS }, { "fputs_unlocked", CODE_BLOCK_PUTS },
		{ "free", CODE_BLOCK_FREE }, { "realloc", CODE_BLOCK_FREE }, { "reallocarray", CODE_BLOCK_FREE },
		{ "g_free", CODE_BLOCK_FREE },
		/* operator delete and delete[], with the size, the alignment, both, or where nothing may be thrown */
		{ "_ZdlPv", CODE_BLOCK_FREE }, { "_ZdlPvSt11align_val_t", CODE_BLOCK_FREE },
		{ "_ZdlPvRKSt9nothrow_t", CODE_BLOCK_FREE }, { "_ZdlPvm", CODE_BLOCK_FREE_SIZED },
		{ "_ZdlPvmSt11align_val_t", CODE_BLOCK_FREE_SIZED },
		{ "_ZdaPv", CODE_BLOCK_FREE }, { "_ZdaPvSt11align_val_t", CODE_BLOCK_FREE },
		{ "_ZdaPvRKSt9nothrow_t", CODE_BLOCK_FREE }, { "_ZdaPvm", CODE_BLOCK_FREE_SIZED },
		{ "_ZdaPvmSt11align_val_t", CODE_BLOCK_FREE_SIZED },
		{ "__rust_dealloc", CODE_BLOCK_FREE_SIZED }, { "__rust_realloc", CODE_BLOCK_FREE_SIZED },
		/* in static programs of glibc */
		{ "__libc_free", CODE_BLOCK_FREE }, { "__libc_realloc", CODE_BLOCK_FREE }, { "cfree", CODE_BLOCK_FREE },
		{ "fgets", CODE_BLOCK_FGETS }, { "fgets_unlocked", CODE_BLOCK_FGETS },
		{ "fread", CODE_BLOCK_FREAD }, { "fread_unlocked", CODE_BLOCK_FREAD },
		{ "fwrite", CODE_BLOCK_FWRITE }, { "fwrite_unlocked", CODE_BLOCK_FWRITE },
		{ "write", CODE_BLOCK_SEND }, { "pwrite", CODE_BLOCK_SEND }, { "pwrite64", CODE_BLOCK_SEND },
		{ "send", CODE_BLOCK_SEND }, { "sendto", CODE_BLOCK_SEND },
		{ "read", CODE_BLOCK_RECEIVE }, { "pread", CODE_BLOCK_RECEIVE }, { "pread64", CODE_BLOCK_RECEIVE },
		{ "recv", CODE_BLOCK_RECEIVE }, { "recvfrom", CODE_BLOCK_RECEIVE },
		{ "writev", CODE_BLOCK_SEND_PIECES }, { "pwritev", CODE_BLOCK_SEND_PIECES },
		{ "pwritev64", CODE_BLOCK_SEND_PIECES }, { "pwritev2", CODE_BLOCK_SEND_PIECES },
		{ "pwritev64v2", CODE_BLOCK_SEND_PIECES }, { "sendmsg", CODE_BLOCK_SEND_MESSAGE },
		{ "readv", CODE_BLOCK_RECEIVE_PIECES }, { "preadv", CODE_BLOCK_RECEIVE_PIECES },
		{ "preadv64", CODE_BLOCK_RECEIVE_PIECES }, { "preadv2", CODE_BLOCK_RECEIVE_PIECES },
		{ "preadv64v2", CODE_BLOCK_RECEIVE_PIECES }, { "recvmsg", CODE_BLOCK_RECEIVE_MESSAGE },
		/* in static programs of glibc, where the others may be local */
		{ "__libc_write", CODE_BLOCK_SEND }, { "__libc_pwrite", CODE_BLOCK_SEND },
		{ "__libc_send", CODE_BLOCK_SEND }, { "__libc_sendto", CODE_BLOCK_SEND },
		{ "__libc_read", CODE_BLOCK_RECEIVE }, { "__libc_pread", CODE_BLOCK_RECEIVE },
		{ "__libc_recv", CODE_BLOCK_RECEIVE }, { "__libc_recvfrom", CODE_BLOCK_RECEIVE },
		{ "__writev", CODE_BLOCK_SEND_PIECES }, { "__libc_writev", CODE_BLOCK_SEND_PIECES },
		{ "__readv", CODE_BLOCK_RECEIVE_PIECES }, { "__libc_readv", CODE_BLOCK_RECEIVE_PIECES },
		{ "__libc_sendmsg", CODE_BLOCK_SEND_MESSAGE }, { "__libc_recvmsg", CODE_BLOCK_RECEIVE_MESSAGE },
		{ "_IO_puts", CODE_BLOCK_PUTS }, { "_IO_fputs", CODE_BLOCK_PUTS }, { "_IO_fgets", CODE_BLOCK_FGETS },
		{ "_IO_fread", CODE_BLOCK_FREAD }, { "_IO_fwrite", CODE_BLOCK_FWRITE },
		{ "_ZNSt8__detail15_List_node_base7_M_hookEPS0_", CODE_BLOCK_LIST_TWO },
		{ "_ZNSt8__detail15_List_node_base9_M_unhookEv", CODE_BLOCK_LIST },
		{ "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_", CODE_BLOCK_LIST_TWO },
		{ "_ZNSt8__detail15_List_node_base10_M_reverseEv", CODE_BLOCK_LIST },
		{ "_ZNSt8__detail15_List_node_base4swapERS0_S1_", CODE_BLOCK_LIST_TWO },
		{ "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", CODE_BLOCK_TREE_WALK },
		{ "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base", CODE_BLOCK_TREE_WALK },
		{ "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", CODE_BLOCK_TREE_WALK },
		{ "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base", CODE_BLOCK_TREE_WALK },
		{ "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_", CODE_BLOCK_TREE_ERASE },
		{ "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_", CODE_BLOCK_TREE_INSERT },
		/* of today's C */
		{ "__isoc99_sscanf", CODE_BLOCK_TEXT }, { "__isoc23_sscanf", CODE_BLOCK_TEXT },
		{ "__isoc23_strtol", CODE_BLOCK_TEXT }, { "__isoc23_strtoul", CODE_BLOCK_TEXT },
		{ "__isoc23_strtoll", CODE_BLOCK_TEXT }, { "__isoc23_strtoull", CODE_BLOCK_TEXT },
		/* with _FORTIFY_SOURCE */
		{ "__strncpy_chk", CODE_BLOCK_STRNCPY },
		{ "__memcpy_chk", CODE_BLOCK_COPY }, { "__memmove_chk", CODE_BLOCK_COPY },
		{ "__mempcpy_chk", CODE_BLOCK_COPY }, { "__memset_chk", CODE_BLOCK_FILL },
		{ "__strcpy_chk", CODE_BLOCK_STRCPY }, { "__stpcpy_chk", CODE_BLOCK_STRCPY },
		{ "__sprintf_chk", CODE_BLOCK_PRINT }, { "__vsprintf_chk", CODE_BLOCK_PRINT },
		{ "__snprintf_chk", CODE_BLOCK_PRINT_N }, { "__vsnprintf_chk", CODE_BLOCK_PRINT_N },
		{ "__read_chk", CODE_BLOCK_RECEIVE }, { "__pread_chk", CODE_BLOCK_RECEIVE },
		{ "__pread64_chk", CODE_BLOCK_RECEIVE }, { "__recv_chk", CODE_BLOCK_RECEIVE },
		{ "__recvfrom_chk", CODE_BLOCK_RECEIVE },
		{ "__fgets_chk", CODE_BLOCK_FGETS }, { "__fgets_unlocked_chk", CODE_BLOCK_FGETS },
		/* their arguments are moved by one: the first byte at least */
		{ "__fread_chk", CODE_BLOCK_FGETS }, { "__fread_unlocked_chk", CODE_BLOCK_FGETS },
	};

	/* Rust gives these functions names of another crate in each version of its compiler */
	static const char *const of_rust[] = { "___rust_dealloc", "___rust_realloc" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return known[i].block;
	for (size_t i = 0; !strncmp(name, "_RNv", 4) && i < sizeof(of_rust) / sizeof(of_rust[0]); i++)
		if (len > strlen(of_rust[i]) && !strcmp(name + len - strlen(of_rust[i]), of_rust[i]))
			return CODE_BLOCK_FREE_SIZED;
	return 0;
}

const struct code_block_access *code_block_access(enum code_block b)
{
	enum { R = CODE_READ, W = CODE_WRITE, LIST = 2 * sizeof(void *), TREE = 4 * sizeof(void *) };
	static const struct code_block_access known[CODE_NR_BLOCKS] = {
		[CODE_BLOCK_COPY]	 = { .operand = W, .second = R, .base = CODE_RDI },
		[CODE_BLOCK_FILL]	 = { .operand = W, .base = CODE_RDI },
		[CODE_BLOCK_COMPARE]	 = { .operand = R, .second = R, .base = CODE_RDI },
		[CODE_BLOCK_STRCPY]	 = { .operand = W, .second = R, .base = CODE_RDI, .text = true },
		[CODE_BLOCK_STRLEN]	 = { .operand = R, .base = CODE_RDI, .text = true },
		[CODE_BLOCK_STRCMP]	 = { .operand = R, .second = R, .base = CODE_RDI, .text = true },
		[CODE_BLOCK_TEXT]	 = { .operand = R, .base = CODE_RDI, .bytes = 1 },
		[CODE_BLOCK_TEXTS]	 = { .operand = R, .second = R, .base = CODE_RDI, .bytes = 1 },
		[CODE_BLOCK_STRNCPY]	 = { .operand = W, .second = R, .base = CODE_RDI, .bytes = 1 },
		[CODE_BLOCK_PRINT]	 = { .operand = W, .base = CODE_RDI, .bytes = 1 },
		[CODE_BLOCK_PRINT_N]	 = { .operand = W, .base = CODE_RDI },
		[CODE_BLOCK_PUTS]	 = { .operand = R, .base = CODE_RDI, .text = true, .common = true },
		[CODE_BLOCK_FREE]	 = { .operand = W, .base = CODE_RDI, .frees = true },
		[CODE_BLOCK_FREE_SIZED]	 = { .operand = W, .base = CODE_RDI, .frees = true },
		[CODE_BLOCK_FGETS]	 = { .operand = W, .base = CODE_RDI, .bytes = 1, .common = true, .later = true },
		[CODE_BLOCK_FREAD]	 = { .operand = W, .base = CODE_RDI, .common = true, .later = true },
		[CODE_BLOCK_FWRITE]	 = { .operand = R, .base = CODE_RDI, .common = true },
		[CODE_BLOCK_SEND]	 = { .operand = R, .base = CODE_RSI, .call = true, .common = true },
		[CODE_BLOCK_RECEIVE]	 = { .operand = W, .base = CODE_RSI, .call = true, .common = true, .later = true },
		[CODE_BLOCK_SEND_PIECES] = { .operand = R, .second = R, .base = CODE_RSI, .call = true, .common = true,
					     .pieces = true },
		[CODE_BLOCK_RECEIVE_PIECES] = { .operand = W, .second = W, .base = CODE_RSI, .call = true, .common = true,
						.later = true, .pieces = true },
		[CODE_BLOCK_SEND_MESSAGE] = { .operand = R, .second = R, .base = CODE_RSI, .call = true, .common = true,
					      .pieces = true, .message = offsetof(struct msghdr, msg_iov) },
		[CODE_BLOCK_RECEIVE_MESSAGE] = { .operand = W, .second = W, .base = CODE_RSI, .call = true, .common = true,
						 .later = true, .pieces = true,
						 .message = offsetof(struct msghdr, msg_iov) },
		[CODE_BLOCK_LIST]	 = { .operand = W, .base = CODE_RDI, .bytes = LIST },
		[CODE_BLOCK_LIST_TWO]	 = { .operand = W, .second = W, .base = CODE_RDI, .bytes = LIST },
		[CODE_BLOCK_TREE_WALK]	 = { .operand = R, .base = CODE_RDI, .bytes = TREE },
		[CODE_BLOCK_TREE_ERASE]	 = { .operand = W, .second = W, .base = CODE_RDI, .bytes = TREE },
		[CODE_BLOCK_TREE_INSERT] = { .operand = W, .second = W, .base = CODE_RCX, .bytes = TREE },
	};

	return &known[b];
}

static int add_target(struct code *c, uint64_t vaddr, enum code_block block, bool word)
{
	if (!ARRAY_RESERVE(c->targets, c->size_targets, c->nr_targets + 1))
		return -ENOMEM;
	c->targets[c->nr_targets++] = (struct code_target){ .vaddr = vaddr, .block = block, .word = word };
	return 0;
}

static int compare_targets(const void *pa, const void *pb)
{
	const struct code_target *a = pa, *b = pb;

	return a->vaddr != b->vaddr ? (a->vaddr < b->vaddr ? -1 : 1) : a->word - b->word;
}

/* Among the first nr, which are in order. */
static enum code_block find(const struct code *c, size_t nr, uint64_t vaddr, bool word)
{
	const struct code_target key = { .vaddr = vaddr, .word = word }, *t;

	t = nr ? bsearch(&key, c->targets, nr, sizeof(key), compare_targets) : NULL;
	return t ? t->block : 0;
}

enum code_block code_target(const struct code *c, uint64_t vaddr, bool word)
{
	return find(c, c->nr_targets, vaddr, word);
}

/* The name of a symbol that the file itself has a function for; NULL: it is none. */
static const char *own_function(Elf *elf, const GElf_Shdr *sh, Elf_Data *data, size_t i, GElf_Sym *sym)
{
	if (!gelf_getsym(data, i, sym) || sym->st_shndx == SHN_UNDEF ||
	    (GELF_ST_TYPE(sym->st_info) != STT_FUNC && GELF_ST_TYPE(sym->st_info) != STT_GNU_IFUNC))
		return NULL;
	return elf_strptr(elf, sh->sh_link, sym->st_name);
}

static int on_symbols(struct code *c, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	bool has_libc = false;
	int ret = 0;

	for (size_t i = 0; i < nr && !has_libc; i++) {
		GElf_Sym sym;
		const char *name = own_function(elf, sh, data, i, &sym);

		has_libc = name && !strcmp(name, "__libc_start_main");
	}
	for (size_t i = 0; i < nr && !ret; i++) {
		GElf_Sym sym;
		const char *name = own_function(elf, sh, data, i, &sym);
		enum code_block block = name ? code_block(name) : 0;

		if (block && code_block_access(block)->common &&
		    (!has_libc || (GELF_ST_BIND(sym.st_info) == STB_LOCAL && name[0] != '_')))
			continue;
		if (block)
			ret = add_target(c, sym.st_value, block, false);
	}
	return ret;
}

static int on_relocations(struct code *c, size_t functions, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL), *symbols = NULL;
	size_t nr = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	Elf_Scn *table = elf_getscn(elf, sh->sh_link);
	GElf_Shdr names = { 0 };
	int ret = 0;

	if (table && gelf_getshdr(table, &names))
		symbols = elf_getdata(table, NULL);
	for (size_t i = 0; i < nr && !ret; i++) {
		enum code_block block = 0;
		const char *name;
		GElf_Rela rel;
		GElf_Sym sym;

		if (!gelf_getrela(data, i, &rel))
			continue;
		switch (GELF_R_TYPE(rel.r_info)) {
		case R_X86_64_JUMP_SLOT:
		case R_X86_64_GLOB_DAT:
			if (!symbols || !gelf_getsym(symbols, GELF_R_SYM(rel.r_info), &sym))
				break;
			name = elf_strptr(elf, names.sh_link, sym.st_name);
			block = name ? code_block(name) : 0;
			break;
		case R_X86_64_RELATIVE:
		case R_X86_64_IRELATIVE:
			block = find(c, functions, rel.r_addend, false);
			break;
		}
		if (block)
			ret = add_target(c, rel.r_offset, block, true);
	}
	return ret;
}

/* The symbols first: what a relative relocation is about is told by them. */
int code_targets(struct code *c, Elf *elf)
{
	size_t functions = 0;
	int ret = 0;

	for (int pass = 0; pass < 2 && !ret; pass++) {
		for (Elf_Scn *scn = NULL; !ret && (scn = elf_nextscn(elf, scn));) {
			GElf_Shdr sh;

			if (!gelf_getshdr(scn, &sh))
				continue;
			if (!pass && (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
				ret = on_symbols(c, elf, scn, &sh);
			if (pass && sh.sh_type == SHT_RELA)
				ret = on_relocations(c, functions, elf, scn, &sh);
		}
		if (c->nr_targets)
			qsort(c->targets, c->nr_targets, sizeof(*c->targets), compare_targets);
		functions = c->nr_targets;
	}
	return ret;
}
