/* SPDX-License-Identifier: GPL-2.0-only */
/* installed.h - where a distribution installs its files */
#ifndef ZUG_INSTALLED_H
#define ZUG_INSTALLED_H

#include <stdbool.h>

/*
 * The absolute path is below one of these folders: /usr, but for /usr/local and /usr/src, and /bin, /sbin, /lib, /lib32 and
 * /lib64. What users build themselves does not lie there. Containers and virtual machines mount the machine's root below /run
 * (/run/host, /run/vm/root), and links lead there: what is in its /usr counts, too. bpf/distribution.bpf.h asks the same of a
 * system call's path.
 */
bool path_is_installed(const char *path);

#endif
