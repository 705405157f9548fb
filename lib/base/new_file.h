/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * new_file.h - files that zug writes, as root, in folders of other users
 *
 * All output goes through these calls. A symbolic link on the path is followed only if it belongs to
 * root, to the user of this process, or to the user that new_file_owner() names: any other user may
 * have planted it. What stands in the way of a new file is replaced, and never written through: a
 * link, another name of a file, the file of another user. Devices and FIFOs are opened as they are.
 */
#ifndef ZUG_NEW_FILE_H
#define ZUG_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Files and folders made from now on belong to this user, whose links are trusted, too. */
void new_file_owner(uid_t uid, gid_t gid);

/* True for root, the user of this process, and that one. */
bool new_file_trusts(uid_t uid);
/* An empty file to write to. A descriptor, or -errno; -ELOOP: a link of another user is on the path. */
int new_file(const char *path, mode_t mode);
/* The same where nothing has that name yet; -EEXIST: something has. */
int new_file_only(const char *path, mode_t mode);
/* As new_file(), as a stream; NULL with errno. */
FILE *new_file_stream(const char *path);
/* A file to read and to append to, made if it is not there. A descriptor, or -errno. */
int new_file_append(const char *path, mode_t mode);
/* As mkdir(), rename() and unlink(), with the same rule for links. 0 or -errno; rename sets errno, too. */
int new_folder(const char *path, mode_t mode);
int new_file_rename(const char *from, const char *to);
int new_file_unlink(const char *path);
/* As strerror(), for the errors of these calls. */
const char *new_file_error(int err);

#endif
