#include "tests/support/power.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 64
#define LENGTH 256

/* A file with data, or a change of names, that a failure would lose. */
typedef struct change {
    enum { NOTHING, DATA, NAMES } kind;
    ino_t inode;        /* DATA: of the file */
    char from[LENGTH];  /* NAMES: the name before a renaming; "" for a removal */
    char to[LENGTH];    /* the file's present name; NAMES: the name that came or went */
    char saved[LENGTH]; /* copy of the file that `to` was before; "" for none */
} change;

static change changes[MOST];
static size_t count;
static int saved_files;
static atomic_bool watching, failed;
static atomic_long left;
static char pending[LENGTH]; /* saved by power_will_replace */

void power_watch(long n) {
    if (mkdir(".power", 0777) != 0) abort();
    count = 0;
    saved_files = 0;
    left = n;
    failed = false;
    watching = true;
}

bool power_failed(void) {
    return failed;
}

bool power_gone(void) {
    if (watching && !failed && left > 0 && atomic_fetch_sub(&left, 1) == 1) failed = true;
    return watching && failed;
}

static change *add(int kind) {
    if (count == MOST) abort();
    changes[count] = (change){.kind = kind};
    return &changes[count++];
}

static ino_t inode_of(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 ? info.st_ino : 0;
}

void power_opened(int fd, const char *path) {
    if (!watching) return;
    change *c = add(NOTHING);
    c->inode = inode_of(fd);
    snprintf(c->to, LENGTH, "%s", path);
}

void power_wrote(int fd) {
    if (!watching) return;
    for (size_t i = 0; i < count; i++)
        if (changes[i].kind == NOTHING && changes[i].inode == inode_of(fd)) changes[i].kind = DATA;
}

/* The data of a file are safe, or the names in a directory. */
void power_synced(int fd) {
    struct stat info;
    if (!watching || fstat(fd, &info) != 0) return;
    for (size_t i = 0; i < count; i++) {
        if (changes[i].kind == DATA && changes[i].inode == info.st_ino) changes[i].kind = NOTHING;
        if (changes[i].kind == NAMES && S_ISDIR(info.st_mode)) {
            changes[i].kind = NOTHING;
            changes[i].inode = 0;
        }
    }
}

void power_will_replace(const char *path) {
    if (!watching) return;
    snprintf(pending, LENGTH, ".power/%d", saved_files++);
    if (link(path, pending) != 0) pending[0] = 0;
}

void power_renamed(const char *from, const char *to) {
    if (!watching) return;
    for (size_t i = 0; i < count; i++)
        if (changes[i].kind != NAMES && strcmp(changes[i].to, from) == 0)
            snprintf(changes[i].to, LENGTH, "%s", to);
    change *c = add(NAMES);
    snprintf(c->from, LENGTH, "%s", from);
    snprintf(c->to, LENGTH, "%s", to);
    snprintf(c->saved, LENGTH, "%s", pending);
}

void power_removed(const char *path) {
    if (!watching) return;
    change *c = add(NAMES);
    snprintf(c->to, LENGTH, "%s", path);
    snprintf(c->saved, LENGTH, "%s", pending);
}

static void lose_data(const change *c, bool zeros) {
    struct stat info;
    if (stat(c->to, &info) != 0 || info.st_ino != c->inode) return;
    if (truncate(c->to, 0) != 0 || (zeros && truncate(c->to, info.st_size) != 0)) abort();
}

static void lose_name(const change *c) {
    if (c->from[0] && rename(c->to, c->from) != 0) abort();
    if (c->saved[0] && link(c->saved, c->to) != 0) abort();
}

void power_restore(power_loss loss) {
    watching = false;
    for (size_t i = 0; i < count; i++)
        if (changes[i].kind == DATA) lose_data(&changes[i], loss == POWER_LEAVES_ZEROS);
    for (size_t i = count; i-- > 0 && loss == POWER_LOSES_NAMES;)
        if (changes[i].kind == NAMES) lose_name(&changes[i]);
    for (int i = 0; i < saved_files; i++) {
        char name[LENGTH];
        snprintf(name, LENGTH, ".power/%d", i);
        unlink(name);
    }
    if (rmdir(".power") != 0) abort();
}
