/* A journal of what was done to a person's files, so that all of it can be undone, and so that a
 * run that was killed is finished by the next one.
 *
 * It is a text of lines "CRC NUMBER VERB\tFIELD\tFIELD...\n" that only grows. CRC is the CRC-32, 8
 * hexadecimal digits, of what follows its space; NUMBER counts the lines from 0. In fields \\, \t,
 * \n and \r stand for a backslash, a tab and line ends; all other bytes are as they are. An entry
 * is on the disk before what it announces is done. Line 0 is "begin\tKIND\t1".
 */
#ifndef VIT_CLI_PHOTOS_JOURNAL_H
#define VIT_CLI_PHOTOS_JOURNAL_H

#include "vit/base/sys.h"
#include "vit/base/text.h"

typedef enum vit_entry_state {
    VIT_ENTRY_PENDING, /* announced; nobody wrote how it ended */
    VIT_ENTRY_DONE,
    VIT_ENTRY_FAILED, /* given up: what it announced is not so */
    VIT_ENTRY_UNDONE,
    VIT_ENTRY_COUNT,
} vit_entry_state;

typedef struct vit_journal_entry {
    char **fields; /* [count]; the first is the verb; one block */
    size_t count;
    vit_entry_state state; /* of an entry that announces something */
} vit_journal_entry;

typedef struct vit_journal {
    char *path;
    int file; /* locked: one process at a time */
    uint64_t size;
    vit_journal_entry *entries;
    size_t count, capacity;
} vit_journal;

/* Opens and locks the journal of this kind ("sort", "tags"), which is made if it is missing, unless
 * must_exist. A last line that was cut short, as by a power failure, is taken off: what it
 * announces was not begun. Errors: FORMAT for a file that is no such journal, or is damaged, which
 * is not changed; IO, also if another process has it. Closed by vit_journal_close, also on failure.
 */
vit_status vit_journal_open(vit_journal *out, const char *path, const char *kind, bool must_exist,
                            vit_error *error);
void vit_journal_close(vit_journal *journal);

/* Appends an entry and brings it to the disk; *number is its own. On failure the file is as it was.
 */
vit_status vit_journal_add(vit_journal *journal, size_t *number, const char *const *fields,
                           size_t count, vit_error *error);

/* Appends "done", "failed" or "undone", for an entry. */
vit_status vit_journal_end(vit_journal *journal, size_t number, vit_entry_state state,
                           vit_error *error);

/* The kind of a journal, "" if the file is none. */
void vit_journal_kind(char kind[16], const char *path);

#endif
