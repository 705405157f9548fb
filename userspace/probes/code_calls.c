/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_calls.c - where the calls of the C library's functions on blocks of memory go, those of its functions that keep
 * something for all threads, and those of libstdc++'s functions that link the nodes of containers, or change strings and
 * streams
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
#include <time.h>
#include "lib/base/array.h"
#include "probes/code_internal.h"

/*
 * What functions of a C library keep for all threads. POSIX lets each of them overwrite what the others of its group have
 * returned; that glibc's have a lock for themselves helps nobody who uses the result.
 */
static const char *const kept[] = {
	[1] = "the environment",
	[2] = "the position of strtok()",
	[3] = "the result of localtime() and its kin",
	[4] = "the result of gethostbyname() and its kin",
	[5] = "the result of getpwnam() and its kin",
	[6] = "the result of getgrnam() and its kin",
	[7] = "the result of getservbyname() and its kin",
	[8] = "the result of ttyname()",
	[9] = "the state of drand48() and its kin",
	[10] = "the table of hsearch()",
};

static const struct keeper {
	const char *name;
	uint8_t keeps;		/* in kept[] */
	enum { CHANGES, READS, RETURNS } how;	/* RETURNS: it changes what it keeps, and returns that */
} keepers[] = {
	{ "getenv", 1, READS }, { "secure_getenv", 1, READS },
	{ "setenv", 1, CHANGES }, { "unsetenv", 1, CHANGES }, { "putenv", 1, CHANGES }, { "clearenv", 1, CHANGES },
	{ "strtok", 2, CHANGES },
	{ "localtime", 3, RETURNS }, { "gmtime", 3, RETURNS },
	{ "ctime", 3, RETURNS }, { "asctime", 3, RETURNS },
	{ "gethostbyname", 4, RETURNS }, { "gethostbyaddr", 4, RETURNS },
	{ "gethostbyname2", 4, RETURNS },
	{ "getpwnam", 5, RETURNS }, { "getpwuid", 5, RETURNS }, { "getpwent", 5, RETURNS },
	{ "getgrnam", 6, RETURNS }, { "getgrgid", 6, RETURNS }, { "getgrent", 6, RETURNS },
	{ "getservbyname", 7, RETURNS }, { "getservbyport", 7, RETURNS },
	{ "ttyname", 8, RETURNS },
	{ "drand48", 9, CHANGES }, { "lrand48", 9, CHANGES }, { "mrand48", 9, CHANGES }, { "srand48", 9, CHANGES },
	{ "seed48", 9, CHANGES }, { "lcong48", 9, CHANGES },
	{ "hsearch", 10, CHANGES }, { "hcreate", 10, CHANGES }, { "hdestroy", 10, CHANGES },
};

static const struct keeper *keeper(const char *name)
{
	for (size_t i = 0; i < sizeof(keepers) / sizeof(keepers[0]); i++)
		if (!strcmp(name, keepers[i].name))
			return &keepers[i];
	return NULL;
}

const char *code_keeps(const char *name)
{
	const struct keeper *k = keeper(name);

	return k ? kept[k->keeps] : NULL;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* The part of a mangled name behind its begin; NULL: it begins otherwise. */
static const char *behind(const char *name, const char *begin)
{
	return begins(name, begin) ? name + strlen(begin) : NULL;
}

#define STRING_CLASS "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"

/* Of a member of std::string that does not change it. */
static enum code_block const_member(const char *member)
{
	static const char *const read[] = {
		"7compareE", "4findE", "5rfindE", "13find_first_ofE", "12find_last_ofE", "17find_first_not_ofE",
		"16find_last_not_ofE", "4copyE",
	};
	static const char *const look[] = {
		"2atE", "ixE", "4sizeE", "6lengthE", "5emptyE", "4dataE", "5c_strE", "7_M_dataE", "5frontE", "4backE",
		"5beginE", "3endE", "6cbeginE", "4cendE", "8_M_checkE", "8_M_limitE", "cvSt17basic_string_view",
	};

	/* its result is a string, whose address is the first argument */
	if (begins(member, "6substrE"))
		return CODE_BLOCK_STRING_COPY;
	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
		if (begins(member, read[i]))
			return begins(member + strlen(read[i]), "RKS4_") ? CODE_BLOCK_STRING_READ_TWO : CODE_BLOCK_STRING_READ;
	for (size_t i = 0; i < sizeof(look) / sizeof(look[0]); i++)
		if (begins(member, look[i]))
			return CODE_BLOCK_STRING_LOOK;
	return 0;
}

/* Of one that may change it, or that is not const because it returns a reference. */
static enum code_block member(const char *member)
{
	static const char *const look[] = { "2atE", "ixE", "4dataE", "5frontE", "4backE", "5beginE", "3endE" };
	static const char *const change[] = {
		"6appendE", "9_M_appendE", "6assignE", "9_M_assignE", "aSE", "pLE", "6insertE", "6insertI", "5eraseE",
		"8_M_eraseE", "7replaceE", "10_M_replaceE", "14_M_replace_auxE", "15_M_replace_coldE",
		"9push_backE", "8pop_backE", "7reserveE", "6resizeE", "5clearE", "4swapE", "13shrink_to_fitE",
		"13_M_set_lengthE", "9_M_lengthE",
	};
	static const struct {
		const char *begin;
		enum code_block block;
	} buffer[] = {
		{ "D1E", CODE_BLOCK_STRING_ENDS }, { "D2E", CODE_BLOCK_STRING_ENDS }, { "10_M_disposeE", CODE_BLOCK_STRING_ENDS },
		{ "9_M_mutateE", CODE_BLOCK_STRING_ENDS }, { "7reserveEm", CODE_BLOCK_STRING_RESERVES },
		{ "9_M_appendEPKcm", CODE_BLOCK_STRING_APPENDS }, { "6appendEPKcm", CODE_BLOCK_STRING_APPENDS },
		{ "pLERKS4_", CODE_BLOCK_STRING_ADDS }, { "6assignERKS4_", CODE_BLOCK_STRING_ASSIGNS },
		{ "9_M_assignERKS4_", CODE_BLOCK_STRING_ASSIGNS }, { "aSERKS4_", CODE_BLOCK_STRING_ASSIGNS },
	};
	const char *args;

	/* what is made is no other task's yet */
	if (begins(member, "C1E") || begins(member, "C2E"))
		return begins(member + 3, "RKS4_") ? CODE_BLOCK_STRING_COPY :
		       begins(member + 3, "OS4_") ? CODE_BLOCK_STRING_MOVE : 0;
	for (size_t i = 0; i < sizeof(look) / sizeof(look[0]); i++)
		if (begins(member, look[i]))
			return CODE_BLOCK_STRING_LOOK;
	/* with further arguments only a part of the other string counts */
	if (!strcmp(member, "6appendERKS4_"))
		return CODE_BLOCK_STRING_ADDS;
	if (!begins(member, "6assignERKS4_m"))
		for (size_t i = 0; i < sizeof(buffer) / sizeof(buffer[0]); i++)
			if (begins(member, buffer[i].begin))
				return buffer[i].block;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		args = behind(member, change[i]);
		if (args)
			return begins(args, "RKS4_") ? CODE_BLOCK_STRING_TAKES :
			       begins(args, "PKc") ? CODE_BLOCK_STRING_TEXT :
			       begins(args, "RS4_") || begins(args, "OS4_") ? CODE_BLOCK_STRING_SWAP : CODE_BLOCK_STRING;
	}
	return 0;
}

/* Of what libstdc++ has compiled of std::string and of streams of characters. */
static enum code_block cxx_block(const char *name)
{
	static const struct {
		const char *begin;
		enum code_block block;
	} streams[] = {
		{ "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostream", CODE_BLOCK_OUT_STRING },
		{ "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", CODE_BLOCK_OUT_TEXT },
		{ "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostream", CODE_BLOCK_OUT_TEXT },
		{ "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_", CODE_BLOCK_OUT },
		{ "_ZNSo5writeEPKcl", CODE_BLOCK_OUT_TEXT },
		{ "_ZNSolsE", CODE_BLOCK_OUT }, { "_ZNSo9_M_insertI", CODE_BLOCK_OUT }, { "_ZNSo3putEc", CODE_BLOCK_OUT },
		{ "_ZNSo5flushEv", CODE_BLOCK_OUT }, { "_ZSt4endlIcSt11char_traitsIcEE", CODE_BLOCK_OUT },
		{ "_ZSt5flushIcSt11char_traitsIcEE", CODE_BLOCK_OUT },
		{ "_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istream", CODE_BLOCK_IN_STRING },
		{ "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istream", CODE_BLOCK_IN_STRING },
		{ "_ZNSirsE", CODE_BLOCK_IN }, { "_ZNSi10_M_extractI", CODE_BLOCK_IN }, { "_ZNSi3getE", CODE_BLOCK_IN },
		{ "_ZNSi4readEPcl", CODE_BLOCK_IN }, { "_ZNSi7getlineE", CODE_BLOCK_IN },
		{ "_ZNKSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv", CODE_BLOCK_STREAM_TEXT },
		{ "_ZNKSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv", CODE_BLOCK_STREAM_TEXT },
		{ "_ZNKSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv", CODE_BLOCK_STREAM_TEXT },
		{ "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strE", CODE_BLOCK_STREAM_SET },
		{ "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strE", CODE_BLOCK_STREAM_SET },
		{ "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strE", CODE_BLOCK_STREAM_SET },
	};
	const char *m;

	if ((m = behind(name, "_ZNK" STRING_CLASS)))
		return const_member(m);
	if ((m = behind(name, "_ZN" STRING_CLASS)))
		return member(m);
	for (size_t i = 0; begins(name, "_Z") && i < sizeof(streams) / sizeof(streams[0]); i++)
		if (begins(name, streams[i].begin))
			return streams[i].block;
	return 0;
}

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
		{ "strspn", CODE_BLOCK_TEXTS }, { "strcspn", CODE_BLOCK_TEXTS }, { "strpbrk", CODE_BLOCK_TEXTS },
		{ "strtof", CODE_BLOCK_TEXT }, { "atof", CODE_BLOCK_TEXT }, { "strndup", CODE_BLOCK_TEXT },
		{ "strncpy", CODE_BLOCK_STRNCPY }, { "stpncpy", CODE_BLOCK_STRNCPY }, { "strlcpy", CODE_BLOCK_STRNCPY },
		{ "strcat", CODE_BLOCK_STRCAT }, { "strncat", CODE_BLOCK_STRCAT }, { "strlcat", CODE_BLOCK_STRCAT },
		{ "memchr", CODE_BLOCK_SEARCH }, { "memrchr", CODE_BLOCK_SEARCH }, { "qsort", CODE_BLOCK_SORT },
		{ "localtime_r", CODE_BLOCK_TIME }, { "gmtime_r", CODE_BLOCK_TIME }, { "strftime", CODE_BLOCK_PRINT },
		{ "getcwd", CODE_BLOCK_PRINT }, { "gethostname", CODE_BLOCK_PRINT },
		{ "getline", CODE_BLOCK_WORD }, { "getdelim", CODE_BLOCK_WORD }, { "__getdelim", CODE_BLOCK_WORD },
		{ "asprintf", CODE_BLOCK_WORD }, { "vasprintf", CODE_BLOCK_WORD }, { "__asprintf_chk", CODE_BLOCK_WORD },
		{ "__vasprintf_chk", CODE_BLOCK_WORD }, { "strsep", CODE_BLOCK_WORD },
		{ "gettimeofday", CODE_BLOCK_CLOCK }, { "clock_gettime", CODE_BLOCK_CLOCK_SECOND },
		{ "ctime_r", CODE_BLOCK_TO_SECOND }, { "asctime_r", CODE_BLOCK_TO_SECOND },
		{ "strerror_r", CODE_BLOCK_TO_SECOND }, { "__xpg_strerror_r", CODE_BLOCK_TO_SECOND },
		{ "readlink", CODE_BLOCK_TO_SECOND }, { "inet_ntop", CODE_BLOCK_TO_THIRD },
		{ "sprintf", CODE_BLOCK_PRINT }, { "vsprintf", CODE_BLOCK_PRINT },
		{ "snprintf", CODE_BLOCK_PRINT_N }, { "vsnprintf", CODE_BLOCK_PRINT_N },
		{ "printf", CODE_BLOCK_PRINT_TEXT }, { "dprintf", CODE_BLOCK_PRINT_TEXT },
		{ "__printf_chk", CODE_BLOCK_PRINT_TEXT }, { "__dprintf_chk", CODE_BLOCK_PRINT_TEXT },
		{ "syslog", CODE_BLOCK_PRINT_TEXT }, { "__syslog_chk", CODE_BLOCK_PRINT_TEXT },
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
		{ "fclose", CODE_BLOCK_CLOSE }, { "pclose", CODE_BLOCK_CLOSE }, { "closedir", CODE_BLOCK_CLOSE },
		{ "freeaddrinfo", CODE_BLOCK_CLOSE }, { "_IO_fclose", CODE_BLOCK_CLOSE },
		{ "__atomic_load_16", CODE_BLOCK_ATOMIC_LOAD }, { "__atomic_store_16", CODE_BLOCK_ATOMIC_STORE },
		{ "munmap", CODE_BLOCK_UNMAP }, { "__munmap", CODE_BLOCK_UNMAP },
		{ "fprintf", CODE_BLOCK_STREAM }, { "vfprintf", CODE_BLOCK_STREAM }, { "__fprintf_chk", CODE_BLOCK_STREAM },
		{ "__vfprintf_chk", CODE_BLOCK_STREAM }, { "fflush", CODE_BLOCK_STREAM }, { "fseek", CODE_BLOCK_STREAM },
		{ "ftell", CODE_BLOCK_STREAM }, { "rewind", CODE_BLOCK_STREAM }, { "fgetc", CODE_BLOCK_STREAM },
		{ "getc", CODE_BLOCK_STREAM }, { "fscanf", CODE_BLOCK_STREAM }, { "__isoc99_fscanf", CODE_BLOCK_STREAM },
		{ "__isoc23_fscanf", CODE_BLOCK_STREAM }, { "feof", CODE_BLOCK_STREAM }, { "ferror", CODE_BLOCK_STREAM },
		{ "fileno", CODE_BLOCK_STREAM }, { "readdir", CODE_BLOCK_STREAM }, { "readdir64", CODE_BLOCK_STREAM },
		{ "fputc", CODE_BLOCK_PUTC }, { "putc", CODE_BLOCK_PUTC },
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
		{ "__strncpy_chk", CODE_BLOCK_STRNCPY }, { "__stpncpy_chk", CODE_BLOCK_STRNCPY },
		{ "__strcat_chk", CODE_BLOCK_STRCAT }, { "__strncat_chk", CODE_BLOCK_STRCAT },
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
	const struct keeper *k;
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return known[i].block;
	for (size_t i = 0; !strncmp(name, "_RNv", 4) && i < sizeof(of_rust) / sizeof(of_rust[0]); i++)
		if (len > strlen(of_rust[i]) && !strcmp(name + len - strlen(of_rust[i]), of_rust[i]))
			return CODE_BLOCK_FREE_SIZED;
	/* exchange, compare_exchange, fetch_add, add_fetch and the like */
	if (begins(name, "__atomic_") && len > 3 && !strcmp(name + len - 3, "_16"))
		return CODE_BLOCK_ATOMIC_RMW;
	k = keeper(name);
	return k ? k->how == READS ? CODE_BLOCK_KEEP_READ : CODE_BLOCK_KEEP : cxx_block(name);
}

const struct code_block_access *code_block_access(enum code_block b)
{
	enum {
		R = CODE_READ, W = CODE_WRITE, WORD = sizeof(void *), LIST = 2 * WORD, TREE = 4 * WORD,
		STRING = 4 * WORD,	/* std::string */
		OUT = WORD,		/* an ostream: where it has its functions */
		IN = 3 * WORD,		/* an istream: the same, a number, and the ostream that may lie behind them */
	};
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
		[CODE_BLOCK_STRCAT]	 = { .operand = W, .second = R, .base = CODE_RDI, .text = true, .second_bytes = 1 },
		[CODE_BLOCK_SEARCH]	 = { .operand = R, .base = CODE_RDI },
		[CODE_BLOCK_SORT]	 = { .operand = W, .base = CODE_RDI },
		[CODE_BLOCK_TIME]	 = { .operand = W, .base = CODE_RSI, .bytes = sizeof(struct tm) },
		[CODE_BLOCK_WORD]	 = { .operand = W, .base = CODE_RDI, .bytes = WORD, .common = true },
		[CODE_BLOCK_CLOCK]	 = { .operand = W, .base = CODE_RDI, .bytes = sizeof(struct timespec), .common = true },
		[CODE_BLOCK_CLOCK_SECOND] = { .operand = W, .base = CODE_RSI, .bytes = sizeof(struct timespec), .common = true },
		[CODE_BLOCK_TO_SECOND]	 = { .operand = W, .base = CODE_RSI, .bytes = 1, .common = true },
		[CODE_BLOCK_TO_THIRD]	 = { .operand = W, .base = CODE_RDX, .bytes = 1, .common = true },
		[CODE_BLOCK_PRINT]	 = { .operand = W, .base = CODE_RDI, .bytes = 1 },
		[CODE_BLOCK_PRINT_N]	 = { .operand = W, .base = CODE_RDI },
		/* the scanner tells its base */
		[CODE_BLOCK_PRINT_TEXT]	 = { .operand = R, .base = CODE_NO_REG, .text = true, .common = true },
		[CODE_BLOCK_PUTS]	 = { .operand = R, .base = CODE_RDI, .text = true, .common = true },
		[CODE_BLOCK_FREE]	 = { .operand = W, .base = CODE_RDI, .frees = true },
		[CODE_BLOCK_FREE_SIZED]	 = { .operand = W, .base = CODE_RDI, .frees = true },
		[CODE_BLOCK_ATOMIC_LOAD] = { .operand = R, .base = CODE_RDI, .bytes = 2 * WORD, .atomic = true },
		[CODE_BLOCK_ATOMIC_STORE] = { .operand = W, .base = CODE_RDI, .bytes = 2 * WORD, .atomic = true },
		[CODE_BLOCK_ATOMIC_RMW]	 = { .operand = R | W, .base = CODE_RDI, .bytes = 2 * WORD, .atomic = true },
		[CODE_BLOCK_UNMAP]	 = { .operand = W, .base = CODE_RDI, .common = true, .frees = true },
		[CODE_BLOCK_CLOSE]	 = { .operand = W, .base = CODE_RDI, .common = true, .frees = true },
		[CODE_BLOCK_STREAM]	 = { .operand = R, .base = CODE_RDI, .bytes = WORD, .common = true },
		[CODE_BLOCK_PUTC]	 = { .operand = R, .base = CODE_RSI, .bytes = WORD, .common = true },
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
		[CODE_BLOCK_STRING]	 = { .operand = W, .base = CODE_RDI, .bytes = STRING },
		[CODE_BLOCK_STRING_TAKES] = { .operand = W, .second = R, .base = CODE_RDI, .bytes = STRING },
		[CODE_BLOCK_STRING_TEXT] = { .operand = W, .second = R, .base = CODE_RDI, .bytes = STRING, .second_bytes = 1 },
		[CODE_BLOCK_STRING_ENDS] = { .operand = W, .base = CODE_RDI, .bytes = STRING, .grows = CODE_GROWS_ALWAYS },
		[CODE_BLOCK_STRING_RESERVES] = { .operand = W, .base = CODE_RDI, .bytes = STRING, .grows = CODE_GROWS_TO_NUMBER },
		[CODE_BLOCK_STRING_APPENDS] = { .operand = W, .second = R, .base = CODE_RDI, .bytes = STRING, .second_bytes = 1,
						.grows = CODE_GROWS_BY_NUMBER },
		[CODE_BLOCK_STRING_ADDS] = { .operand = W, .second = R, .base = CODE_RDI, .bytes = STRING,
					     .grows = CODE_GROWS_BY_STRING },
		[CODE_BLOCK_STRING_ASSIGNS] = { .operand = W, .second = R, .base = CODE_RDI, .bytes = STRING,
						.grows = CODE_GROWS_TO_STRING },
		[CODE_BLOCK_STRING_SWAP] = { .operand = W, .second = W, .base = CODE_RDI, .bytes = STRING },
		[CODE_BLOCK_STRING_READ] = { .operand = R, .base = CODE_RDI, .bytes = STRING },
		[CODE_BLOCK_STRING_READ_TWO] = { .operand = R, .second = R, .base = CODE_RDI, .bytes = STRING },
		[CODE_BLOCK_STRING_LOOK] = { .operand = R, .base = CODE_RDI, .bytes = 2 * WORD },
		[CODE_BLOCK_STRING_COPY] = { .operand = R, .base = CODE_RSI, .bytes = STRING },
		[CODE_BLOCK_STRING_MOVE] = { .operand = W, .base = CODE_RSI, .bytes = STRING },
		[CODE_BLOCK_OUT]	 = { .operand = W, .base = CODE_RDI, .bytes = OUT, .stream = true },
		[CODE_BLOCK_OUT_TEXT]	 = { .operand = W, .second = R, .base = CODE_RDI, .bytes = OUT, .second_bytes = 1,
					     .stream = true },
		[CODE_BLOCK_OUT_STRING]	 = { .operand = W, .second = R, .base = CODE_RDI, .bytes = OUT, .second_bytes = STRING,
					     .stream = true },
		[CODE_BLOCK_IN]		 = { .operand = W, .base = CODE_RDI, .bytes = IN, .stream = true },
		[CODE_BLOCK_IN_STRING]	 = { .operand = W, .second = W, .base = CODE_RDI, .bytes = IN, .second_bytes = STRING,
					     .stream = true },
		[CODE_BLOCK_STREAM_TEXT] = { .operand = R, .base = CODE_RSI, .bytes = IN },
		[CODE_BLOCK_STREAM_SET]	 = { .operand = W, .second = R, .base = CODE_RDI, .bytes = IN, .second_bytes = STRING },
		[CODE_BLOCK_KEEP]	 = { .operand = W, .base = CODE_RIP, .bytes = WORD, .common = true, .keeps = true },
		[CODE_BLOCK_KEEP_READ]	 = { .operand = R, .base = CODE_RIP, .bytes = WORD, .common = true, .keeps = true },
		[CODE_BLOCK_KEPT]	 = { .operand = R, .base = CODE_RIP, .bytes = WORD, .keeps = true },
	};

	return &known[b];
}

static int add_target(struct code *c, struct code_target t)
{
	if (!ARRAY_RESERVE(c->targets, c->size_targets, c->nr_targets + 1))
		return -ENOMEM;
	c->targets[c->nr_targets++] = t;
	return 0;
}

/* Which argument says what the function of that name prints, from 1 on; 0: none, or it is given a va_list. */
static uint8_t format_of(const char *name)
{
	static const struct {
		const char *name;
		uint8_t format;
	} known[] = {
		{ "printf", 1 }, { "__printf_chk", 2 }, { "dprintf", 2 }, { "__dprintf_chk", 3 }, { "fprintf", 2 },
		{ "__fprintf_chk", 3 }, { "sprintf", 2 }, { "__sprintf_chk", 4 }, { "snprintf", 3 }, { "__snprintf_chk", 5 },
		{ "asprintf", 2 }, { "__asprintf_chk", 3 }, { "syslog", 2 }, { "__syslog_chk", 3 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return known[i].format;
	return 0;
}

int code_printed_string(const char *format, unsigned int i)
{
	int nr = 0;

	for (const char *f = format; *f; f++) {
		bool limited = false, wide = false;

		if (*f != '%')
			continue;
		f += 1 + strspn(f + 1, "-+ #0'I");
		for (; *f && strchr("0123456789.*", *f); f++) {
			nr += *f == '*';
			limited |= *f == '.';
		}
		for (; *f && strchr("hlLqjzt", *f); f++)
			wide |= *f == 'l';
		if (!*f || *f == '$')
			return -1;
		if (*f == 's' && !limited && !wide && i-- == 0)
			return nr;
		/* floating point is elsewhere; %m takes none */
		nr += !strchr("%maAeEfFgG", *f);
	}
	return -1;
}

/* What a call of the function of that name is about; block 0: nothing of interest. */
static struct code_target target_of(const char *name)
{
	const struct keeper *k = keeper(name);

	return (struct code_target){ .block = code_block(name), .role = code_role(name), .keeps = k ? k->keeps : 0,
				     .returns = k && k->how == RETURNS, .format = format_of(name) };
}

static int compare_targets(const void *pa, const void *pb)
{
	const struct code_target *a = pa, *b = pb;

	return a->vaddr != b->vaddr ? (a->vaddr < b->vaddr ? -1 : 1) : a->word - b->word;
}

/* Among the first nr, which are in order. */
static const struct code_target *find(const struct code *c, size_t nr, uint64_t vaddr, bool word)
{
	const struct code_target key = { .vaddr = vaddr, .word = word };

	return nr ? bsearch(&key, c->targets, nr, sizeof(key), compare_targets) : NULL;
}

const struct code_target *code_target(const struct code *c, uint64_t vaddr, bool word)
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
		struct code_target t = name ? target_of(name) : (struct code_target){ 0 };

		if ((!t.block && !t.role) || (t.block && code_block_access(t.block)->common &&
				 (!has_libc || (GELF_ST_BIND(sym.st_info) == STB_LOCAL && name[0] != '_'))))
			continue;
		t.vaddr = sym.st_value;
		ret = add_target(c, t);
	}
	return ret;
}

struct more {
	struct code *c;
	int ret;
};

static int on_name(const struct symdef *d, void *arg)
{
	struct more *more = arg;
	struct code_target t = target_of(d->name);

	if (!d->is_function || (!t.block && !t.role))
		return 0;
	t.vaddr = d->vaddr;
	more->ret = add_target(more->c, t);
	return more->ret;
}

/* Those that the archive of its C library has for a file without symbols. */
static int on_names(struct code *c, struct symfile *names)
{
	struct more more = { .c = c };

	symfile_find(names, "*", on_name, &more);
	return more.ret;
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
		struct code_target t = { 0 };
		const struct code_target *function;
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
			if (name)
				t = target_of(name);
			break;
		case R_X86_64_RELATIVE:
		case R_X86_64_IRELATIVE:
			function = find(c, functions, rel.r_addend, false);
			if (function)
				t = *function;
			break;
		}
		if (!t.block && !t.role)
			continue;
		t.vaddr = rel.r_offset;
		t.word = true;
		ret = add_target(c, t);
	}
	return ret;
}

/* One place of the file stands for what a group of functions keeps: all of its targets have it. */
static void find_keepers(struct code *c)
{
	uint64_t first[sizeof(kept) / sizeof(kept[0])] = { 0 };

	for (size_t i = 0; i < c->nr_targets; i++)
		if (!first[c->targets[i].keeps])
			first[c->targets[i].keeps] = c->targets[i].vaddr;
	for (size_t i = 0; i < c->nr_targets; i++)
		c->targets[i].keeper = first[c->targets[i].keeps];
}

/* The symbols first: what a relative relocation is about is told by them. */
int code_targets(struct code *c, Elf *elf, struct symfile *names)
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
		if (!pass && !ret && names)
			ret = on_names(c, names);
		if (c->nr_targets)
			qsort(c->targets, c->nr_targets, sizeof(*c->targets), compare_targets);
		functions = c->nr_targets;
	}
	find_keepers(c);
	return ret;
}
