/* The system layer: every allocation, file and clock of the library goes through here, so that
 * tests can make the n-th call fail (see tests/support/fault.h).
 *
 * All functions may be called from any thread; objects belong to one thread at a time.
 */
#ifndef VIT_BASE_SYS_H
#define VIT_BASE_SYS_H

#include "vit/base/error.h"

/* ---- memory ---- */

/* Allocates count * size bytes, zeroed, aligned to 64; NULL if that overflows or there is no
 * memory. vit_alloc(0, n) is a valid pointer. Freed by vit_free, which takes NULL. */
void *vit_alloc(size_t count, size_t size);
void vit_free(void *memory);

/* The same without zeroing, so that the system provides pages as they are first written. In builds
 * with VIT_POISON (make debug) all bytes are VIT_POISON_BYTE, which makes floats NaN. */
void *vit_alloc_unset(size_t count, size_t size);

/* Zeroes data[0..size), a part of such memory; whole pages in it are given back to the system until
 * they are written again. */
void vit_clear(void *data, size_t size);

/* Gives back memory that will not be used again before it is freed: with VIT_POISON it becomes NaN,
 * and AddressSanitizer reports accesses. */
void vit_discard(void *data, size_t size);

#define VIT_POISON_BYTE 0xff

/* Resizes an array of vit_alloc from old_count to new_count elements, of which new ones are zero.
 * NULL, and `memory` unchanged, on failure. */
void *vit_realloc(void *memory, size_t old_count, size_t new_count, size_t size);

/* Makes room for one more element in an array of `count` ones that has room for `capacity`: if it
 * is full, a larger one takes its place. False, with an error that names `what` and the array
 * unchanged, if there is no memory. */
#define VIT_MAKE_ROOM(array, count, capacity, what, error)                             \
    ((array) = vit_make_room(array, count, &(capacity), sizeof *(array), what, error), \
     (count) < (capacity))
/* The same where the size is not the array's type's; it worked if count < *capacity then. */
void *vit_make_room(void *array, size_t count, size_t *capacity, size_t size, const char *what,
                    vit_error *error);

/* *product = a * b; false if that does not fit a size_t. */
bool vit_multiply(size_t a, size_t b, size_t *product);

/* A copy of a string, freed by vit_free; NULL if there is no memory. */
char *vit_strdup(const char *text);

/* ---- reading ---- */

typedef struct vit_bytes {
    uint8_t *data;
    size_t size;
} vit_bytes;

/* Reads a regular file or a pipe, or standard input for "-", of at most `limit` bytes. out->data is
 * not NULL, ends with a zero byte that `size` does not count, so that it can be used as a text, and
 * is freed by vit_free. VIT_ERROR_IO for directories, devices and files that cannot be
 * read; VIT_ERROR_UNSUPPORTED for larger ones. */
vit_status vit_read_file(vit_bytes *out, const char *path, size_t limit, vit_error *error);

/* The same for a regular file alone, which is opened without waiting: a pipe that is named, or that
 * was put in its place, is refused. "-" is a name. For names that somebody else has written. */
vit_status vit_read_regular(vit_bytes *out, const char *path, size_t limit, vit_error *error);

/* Opens a regular file for reading parts of it, by any threads at once; *size = its bytes. Closed
 * by vit_file_close. */
vit_status vit_file_open(int *file, uint64_t *size, const char *path, vit_error *error);
/* data = bytes offset .. offset + size - 1 of the file, which messages call `path`. VIT_ERROR_IO if
 * it ends before that, or cannot be read. */
vit_status vit_file_read(void *data, size_t size, int file, uint64_t offset, const char *path,
                         vit_error *error);
void vit_file_close(int file); /* takes -1 */

/* Maps a regular file read-only; data is NULL for an empty file. */
vit_status vit_map_file(vit_bytes *out, const char *path, vit_error *error);
void vit_unmap_file(vit_bytes *file);

/* Gives the memory of mapped pages that data[0..size) touches back to the system, which reads them
 * from the file again when they are next used. Does nothing if `data` is not in the mapped file. */
void vit_map_release(const vit_bytes *file, const void *data, size_t size);

/* What a path leads to, through symbolic links. NONE: nothing, or a pipe, device or socket. */
typedef enum vit_path_kind { VIT_PATH_NONE, VIT_PATH_FILE, VIT_PATH_DIRECTORY } vit_path_kind;
vit_path_kind vit_path_look(const char *path);

/* Whether a name in a folder is a person's: neither hidden nor left by macOS, Windows or a NAS. */
bool vit_name_is_wanted(const char *name);

/* *exists = whether the name exists, even as a link that leads nowhere. Only if the system says "no
 * such file" it is false; any other failure, such as a missing permission, is an error. */
vit_status vit_path_exists(bool *exists, const char *path, vit_error *error);

bool vit_path_same(const char *a, const char *b); /* both exist and are the same file */

bool vit_path_is_link(const char *path); /* a symbolic one */

/* The absolute path of what a path leads to, without links, "." and "..", freed by vit_free; NULL
 * if there is nothing, or no memory. */
char *vit_path_real(const char *path);

/* Whether the path is a symbolic link to a folder that it lies in, so that a walk that follows it
 * would come back. */
bool vit_path_leads_back(const char *path);

/* name = the last part of a path, for titles; for "." or "x/.." that of the directory itself;
 * "data" if there is none. Cut to fit. */
void vit_path_name(char *name, size_t size, const char *path);

/* The last part of a path, a pointer into `path`: what follows its last '/', or all of it. */
const char *vit_path_last(const char *path);

/* The directory of the file `path`, without a final slash; freed by vit_free; NULL if there is no
 * memory. */
char *vit_path_directory(const char *path);

/* The path of `name` in the directory of the file `path`, freed by vit_free; NULL if there is no
 * memory. */
char *vit_path_beside(const char *path, const char *name);

/* directory/name, freed by vit_free; NULL if there is no memory. */
char *vit_path_join(const char *directory, const char *name);

/* *names = the names in a directory except "." and "..", sorted as bytes; one block, freed by
 * vit_free. */
vit_status vit_list_directory(char ***names, size_t *count, const char *path, vit_error *error);

vit_status vit_make_directory(const char *path, vit_error *error);   /* it may exist already */
vit_status vit_make_directories(const char *path, vit_error *error); /* and those it lies in */

/* Removes an empty directory. */
vit_status vit_remove_directory(const char *path, vit_error *error);

/* Removes a file, which may be missing. */
vit_status vit_remove_file(const char *path, vit_error *error);

/* bytes[0..size): random ones that nobody can guess, from the system. VIT_ERROR_IO if it has none.
 */
vit_status vit_secret(uint8_t *bytes, size_t size, vit_error *error);

/* ---- locks between processes ---- */

/* Creates the file `path`, unless it exists, and locks it until vit_lock_drop or until the process
 * ends in any way. VIT_ERROR_IO if another process has locked it. The file is not removed. */
vit_status vit_lock_take(int *lock, const char *path, vit_error *error);
bool vit_lock_holds(int lock, const char *path); /* whether `path` still is the locked file */
void vit_lock_drop(int lock);                    /* takes -1 */

/* ---- writing: all or nothing ---- */

/* A file that appears under its name only when it is complete and on the disk: it is written beside
 * it under a temporary name (.vit-NAME-PID-N.tmp, NAME being 8 digits made from the file's name),
 * then come fsync, close, rename, fsync of the directory. It keeps the mode of the file that it
 * replaces. If `path` is a symbolic link, the file that it leads to is replaced. Directories,
 * devices, pipes and files that may not be written are errors. */
typedef struct vit_writer vit_writer;

vit_status vit_writer_open(vit_writer **out, const char *path, vit_error *error);
vit_status vit_writer_put(vit_writer *writer, const void *data, size_t size, vit_error *error);

/* Ends and frees the writer, whether it succeeds or not. On failure the old file is unchanged and
 * the temporary one is removed, except if the last sync fails: then the new file is in place and
 * complete, and the message says that it may not survive a power failure. */
vit_status vit_writer_commit(vit_writer *writer, vit_error *error);
void vit_writer_abort(vit_writer *writer); /* takes NULL */

/* Writes a whole file in the same way. */
vit_status vit_write_file(const char *path, const void *data, size_t size, vit_error *error);

/* Reserves `size` bytes on the disk for what is put next; VIT_ERROR_IO if there is no space. It is
 * no error if the file system cannot reserve space; a later put may then find the disk full. */
vit_status vit_writer_reserve(vit_writer *writer, size_t size, vit_error *error);

/* Syncs the directory of `path`, so that its name survives a power failure. */
vit_status vit_sync_place(const char *path, vit_error *error);

/* Renames a file within a directory, replacing an existing one, and syncs the directory. */
vit_status vit_rename_file(const char *from, const char *to, vit_error *error);

/* ---- time ---- */

void vit_yield(void);         /* lets another thread use this processor */
void vit_nap(double seconds); /* sleeps for less than a second, or a little longer than that */

double vit_wall_clock(void); /* seconds since 1970 */
double vit_clock(void);      /* seconds since some fixed moment, never going back */

#endif
