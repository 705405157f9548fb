/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug_note.h - how a program that uses libzug tells zug what it is about to do: prctl(ZUG_NOTE, ...)
 *
 * No kernel knows that call, which does nothing outside of zug. It is no probe, so it works in static
 * and in stripped programs, too. Arguments, after ZUG_NOTE:
 *
 *	what	an operation (enum zug_op) in the low 16 bits, ZUG_NOTE_* above
 *	object	that it acts on, or (ZUG_NOTE_CHOICE) the number of values
 *	caller	the return address in the program
 *	name	of the object, of which ZUG_NOTE_NAME bytes count; NULL: none
 *	answer	where a word is written: the value (ZUG_NOTE_CHOICE), or ZUG_NOTE (ZUG_NOTE_HELLO)
 *
 * A futex call whose sixth argument is ZUG_NOTE is part of the last note's operation.
 */
#ifndef ZUG_NOTE_H
#define ZUG_NOTE_H

#define ZUG_NOTE		0x7a75676e
#define ZUG_NOTE_NAME		24

#define ZUG_NOTE_HELLO		(1u << 16)	/* asks whether zug is there; no point */
#define ZUG_NOTE_NEXT		(1u << 17)	/* no point: the next primitive has that caller, a task that it makes */
						/* that name */
#define ZUG_NOTE_OWN		(1u << 18)	/* the object is one of this process */
#define ZUG_NOTE_CHOICE		(1u << 19)	/* the search chooses a value */

#endif
