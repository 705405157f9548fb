// SPDX-License-Identifier: GPL-2.0-only
/* sym_needed.c - the files that starting a program maps */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "symbols/sym_internal.h"

#define SCRIPT_DEPTH 4		/* the kernel's limit is 5 interpreters of interpreters */

struct path_list {
	char **paths;
	size_t nr, size;
};

/* The path as the kernel will show it in /proc/PID/maps; one entry a file. */
static void add_path(struct path_list *l, const char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		return;
	for (size_t i = 0; i < l->nr; i++) {
		if (!strcmp(l->paths[i], real)) {
			free(real);
			return;
		}
	}
	if (!ARRAY_RESERVE(l->paths, l->size, l->nr + 2)) {
		free(real);
		return;
	}
	l->paths[l->nr++] = real;
	l->paths[l->nr] = NULL;
}

/* "libc.so.6 => /lib/libc.so.6 (0x7f...)" or "/lib64/ld-linux-x86-64.so.2 (0x7f...)" */
static void add_listed(struct path_list *l, char *line)
{
	char *arrow = strstr(line, " => "), *path = arrow ? arrow + 4 : line, *end;

	path += strspn(path, " \t");
	end = strstr(path, " (0x");
	if (path[0] != '/' || !end)
		return;
	*end = '\0';
	add_path(l, path);
}

static void add_libraries(struct path_list *l, const char *interp, const char *exe,
			  char *const *envp)
{
	char *argv[] = { (char *)interp, "--list", (char *)exe, NULL };
	posix_spawn_file_actions_t actions;
	char line[2 * PATH_MAX];
	pid_t pid = -1;
	int fds[2];
	FILE *out;

	if (pipe2(fds, O_CLOEXEC))
		return;
	/* not fork(): to copy the page tables of all that zugd has mapped takes as long as the program */
	if (!posix_spawn_file_actions_init(&actions)) {
		if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) ||
		    posix_spawn_file_actions_adddup2(&actions, fds[1], 1) ||
		    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) ||
		    posix_spawn(&pid, interp, &actions, NULL, argv, envp))
			pid = -1;
		posix_spawn_file_actions_destroy(&actions);
	}
	close(fds[1]);
	out = fdopen(fds[0], "r");
	while (out && fgets(line, sizeof(line), out))
		add_listed(l, line);
	if (out)
		fclose(out);
	else
		close(fds[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static const char *variable(char *const *envp, const char *name)
{
	size_t n = strlen(name);

	for (; envp && *envp; envp++)
		if (!strncmp(*envp, name, n) && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

/* The first executable of that name in PATH; false: none. */
static bool in_path(const char *name, char *const *envp, char *buf, size_t len)
{
	const char *dirs = variable(envp, "PATH");

	for (const char *p = dirs ? dirs : "/usr/bin:/bin"; *p;) {
		size_t n = strcspn(p, ":");

		snprintf(buf, len, "%.*s/%s", n ? (int)n : 1, n ? p : ".", name);
		if (access(buf, X_OK) == 0)
			return true;
		p += n + (p[n] == ':');
	}
	return false;
}

/* The program in a script's #! line, and what env(1) there would start. */
static bool script_interpreter(const char *path, char *interp, size_t len, char *program,
			       size_t program_len)
{
	char line[256] = { 0 }, *p, *word;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	program[0] = '\0';
	if (n < 3 || strncmp(line, "#!", 2))
		return false;
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &p);
	if (!word)
		return false;
	snprintf(interp, len, "%s", word);
	if (strrchr(word, '/') && !strcmp(strrchr(word, '/'), "/env")) {
		word = strtok_r(NULL, " \t", &p);
		while (word && (word[0] == '-' || strchr(word, '=')))
			word = strtok_r(NULL, " \t", &p);
		if (word)
			snprintf(program, program_len, "%s", word);
	}
	return true;
}

static void add_program(struct symbols *s, struct path_list *l, const char *exe, char *const *envp,
			int depth)
{
	char interp[PATH_MAX], program[NAME_MAX + 1], found[PATH_MAX + NAME_MAX + 2], err[256];
	struct symfile *f;
	char *real;

	if (depth > SCRIPT_DEPTH)
		return;
	if (script_interpreter(exe, interp, sizeof(interp), program, sizeof(program))) {
		add_program(s, l, interp, envp, depth + 1);
		if (program[0] && in_path(program, envp, found, sizeof(found)))
			add_program(s, l, found, envp, depth + 1);
		return;
	}
	real = realpath(exe, NULL);
	f = real ? symbols_file(s, real, NULL, err, sizeof(err)) : NULL;
	if (f) {
		add_path(l, real);
		if (symfile_interp(f)) {
			add_libraries(l, symfile_interp(f), real, envp);
			add_path(l, symfile_interp(f));
		}
	}
	free(real);
}

char **symbols_needed_paths(struct symbols *s, const char *exe, char *const *envp)
{
	struct path_list l = { 0 };

	add_program(s, &l, exe, envp, 0);
	return l.paths ? l.paths : calloc(1, sizeof(*l.paths));
}

void symbols_free_paths(char **paths)
{
	for (char **p = paths; p && *p; p++)
		free(*p);
	free(paths);
}
