// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_java_jars.c - the classes of Java that come from jars of libraries
 *
 * A server is some classes of its own, and a thousand of its framework's. Their names do not tell them apart, but the places
 * of their jars do: the distribution has installed them (/usr/share/java), or a build tool has fetched them (~/.m2,
 * ~/.gradle, ...). HotSpot keeps a jar open once it has looked for a class there. So where a class is seen for the first
 * time, the directories of those jars are read that the process has open and that were not read yet. They list all files of
 * a jar (APPNOTE.TXT of PKWARE, 4.3.12 and 4.3.16); what a jar of more than 65,535 files or 4 GB has is not read.
 */
#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "lib/base/mounts.h"
#include "symbols/sym_java.h"

#define END_SIGNATURE	0x06054b50	/* of the end of the directory, which has 22 bytes and a comment */
#define END_BYTES	22
#define ENTRY_SIGNATURE	0x02014b50
#define ENTRY_BYTES	46		/* and a name, something extra, and a comment */
#define DIRECTORY_MAX	(16 << 20)
#define JARS_MAX	4096

/* Behind these lie libraries, whoever the user is. */
static const char *const folders[] = { "/usr/share/java/", "/usr/share/maven-repo/", "/usr/share/openjfx/", "/.m2/", "/.gradle/",
				       "/.ivy2/", "/.sbt/", "/coursier/" };

static uint32_t half_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint32_t short_at(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

/* Of "com/acme/Bank$Account" and of com/acme/Bank.class the same: the class that the source file is named after, most often. */
static uint64_t hash_of_class(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && name[n] != '$' && name[n] != '+' && name[n] != '.')
		n++;
	return hash_bytes(HASH_BEGIN, name, n);
}

int sym_java_jar_classes(const uint8_t *directory, size_t len, void (*fn)(void *arg, const char *name, size_t len), void *arg)
{
	static const char ending[] = ".class";
	size_t at = 0, name, all, end = sizeof(ending) - 1;
	int nr = 0;

	for (; len - at >= ENTRY_BYTES && half_at(directory + at) == ENTRY_SIGNATURE; at += all) {
		name = short_at(directory + at + 28);
		all = ENTRY_BYTES + name + short_at(directory + at + 30) + short_at(directory + at + 32);
		if (all > len - at)
			break;
		if (name <= end || memcmp(directory + at + ENTRY_BYTES + name - end, ending, end))
			continue;
		fn(arg, (const char *)directory + at + ENTRY_BYTES, name - end);
		nr++;
	}
	return nr;
}

/* Where the directory lies, by the end of the file. false: there is none. */
static bool find_directory(int fd, off_t size, uint32_t *at, uint32_t *len)
{
	uint8_t tail[END_BYTES + UINT16_MAX];
	size_t n = size < (off_t)sizeof(tail) ? (size_t)size : sizeof(tail);

	if (n < END_BYTES || pread(fd, tail, n, size - n) != (ssize_t)n)
		return false;
	for (const uint8_t *p = tail + n - END_BYTES; p >= tail; p--)
		if (half_at(p) == END_SIGNATURE && p + END_BYTES + short_at(p + 20) == tail + n) {
			*len = half_at(p + 12);
			*at = half_at(p + 16);
			return *len <= DIRECTORY_MAX && *len <= size && *at <= size - *len;
		}
	return false;
}

struct noted {
	struct symfile_java *l;
	uint32_t jar;
};

static void note_class(void *arg, const char *name, size_t len)
{
	const struct noted *n = arg;
	uint32_t *jar = id_map_add(&n->l->jar_of, hash_of_class(name, len), n->jar, NULL);

	/* it was asked for before this jar was open */
	if (jar && *jar == JAVA_NO_JAR)
		*jar = n->jar;
}

static void read_jar(struct symfile_java *l, uint32_t jar, int fd)
{
	uint8_t *directory = NULL;
	uint32_t at, len;
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && find_directory(fd, st.st_size, &at, &len))
		directory = malloc(len + 1);
	if (directory && pread(fd, directory, len, at) == (ssize_t)len)
		sym_java_jar_classes(directory, len, note_class, &(struct noted){ l, jar });
	free(directory);
}

bool sym_java_is_library_jar(const char *path)
{
	size_t n = strlen(path);

	if (n < 4 || strcmp(path + n - 4, ".jar"))
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strstr(path, folders[i]))
			return true;
	return false;
}

static bool was_read(const struct symfile_java *l, const char *path)
{
	for (size_t i = 0; i < l->nr_jars; i++)
		if (!strcmp(l->jars[i], path))
			return true;
	return false;
}

/* The jars of libraries that the process has open by now. */
static void read_open_jars(struct symfile_java *l, struct sym_string **strings, int pid)
{
	char dir[64], link[65 + NAME_MAX], path[PATH_MAX];
	const struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", pid);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		ssize_t n;
		int fd;

		snprintf(link, sizeof(link), "%s/%s", dir, e->d_name);
		n = readlink(link, path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		if (!sym_java_is_library_jar(path) || was_read(l, path) || l->nr_jars == JARS_MAX ||
		    !ARRAY_RESERVE(l->jars, l->room_jars, l->nr_jars + 1))
			continue;
		l->jars[l->nr_jars] = sym_string(strings, path);
		fd = l->jars[l->nr_jars] ? open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
		if (fd < 0)
			continue;
		read_jar(l, l->nr_jars++, fd);
		close(fd);
	}
	if (d)
		closedir(d);
}

const char *sym_java_jar_of(struct symfile_java *l, struct sym_string **strings, int pid, const char *class)
{
	uint64_t hash = hash_of_class(class, strlen(class));
	uint32_t *jar = id_map_find(&l->jar_of, hash);

	/* the jar may lie where a task of the test would have to answer */
	if (!jar && !mounts_own_fuse(pid)) {
		read_open_jars(l, strings, pid);
		jar = id_map_add(&l->jar_of, hash, JAVA_NO_JAR, NULL);
	}
	return jar && *jar != JAVA_NO_JAR ? l->jars[*jar] : NULL;
}

void sym_java_jars_release(struct symfile_java *l)
{
	id_map_free(&l->jar_of);
	free(l->jars);
	l->jars = NULL;
	l->nr_jars = l->room_jars = 0;
}
