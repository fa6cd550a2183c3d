/* The system layer: every allocation, file and clock of the library goes through here, so that
 * tests can make the n-th call fail (see tests/fault.h).
 *
 * All functions may be called from any thread; objects belong to one thread at a time.
 */
#ifndef VIT_BASE_SYS_H
#define VIT_BASE_SYS_H

#include "vit/base/error.h"

/* ---- memory ---- */

/* count * size bytes, zeroed, aligned to 64; NULL when that overflows or there are none.
 * vit_alloc(0, n) is a valid pointer to nothing. Freed by vit_free, which takes NULL. */
void *vit_alloc(size_t count, size_t size);
void vit_free(void *memory);

/* The same but not cleared: the system gives the memory page by page as it is first written. In a
 * build with VIT_POISON (make debug) its bytes are VIT_POISON_BYTE, and floats of them NaN. */
void *vit_alloc_unset(size_t count, size_t size);

/* data[0..size), a part of such memory, becomes 0; the pages that lie wholly within it go back to
 * the system and take no memory until they are written again. */
void vit_clear(void *data, size_t size);

/* The same of memory that is not used again until it is freed: with VIT_POISON it becomes NaN, and
 * AddressSanitizer reports whoever uses it. */
void vit_discard(void *data, size_t size);

#define VIT_POISON_BYTE 0xff

/* Grows or shrinks an array made by vit_alloc from old_count to new_count elements, the new ones
 * zero; NULL (and `memory` untouched) on failure. */
void *vit_realloc(void *memory, size_t old_count, size_t new_count, size_t size);

/* An array of `count` elements with room for one more: `array`, or where it is full a larger copy
 * in its place, *capacity being changed. NULL, and `array` as it was, when there is no memory for
 * `what`. */
void *vit_make_room(void *array, size_t count, size_t *capacity, size_t size, const char *what,
                    vit_error *error);

/* *product = a * b; false when that does not fit a size_t. */
bool vit_multiply(size_t a, size_t b, size_t *product);

/* A copy of a string, freed by vit_free; NULL when there is no memory. */
char *vit_strdup(const char *text);

/* ---- reading ---- */

typedef struct vit_bytes {
    uint8_t *data;
    size_t size;
} vit_bytes;

/* The whole of a regular file or of a pipe, at most `limit` bytes; with path "-", standard input
 * to its end. data, never NULL, is freed by vit_free(bytes.data). Directories and devices are
 * VIT_ERROR_IO, as is a file that cannot be read; a larger file is VIT_ERROR_UNSUPPORTED. */
vit_status vit_read_file(vit_bytes *out, const char *path, size_t limit, vit_error *error);

/* A regular file mapped read-only; data is NULL for an empty file. */
vit_status vit_map_file(vit_bytes *out, const char *path, vit_error *error);
void vit_unmap_file(vit_bytes *file);

/* Gives the memory of mapped pages that lie wholly or in part in data[0..size) back to the system,
 * which reads them from the file again when they are next used. Does nothing where `data` was not
 * mapped. */
void vit_map_release(const vit_bytes *file, const void *data, size_t size);

/* What a path leads to, through symbolic links. NONE: nothing, or a pipe, device or socket. */
typedef enum vit_path_kind { VIT_PATH_NONE, VIT_PATH_FILE, VIT_PATH_DIRECTORY } vit_path_kind;
vit_path_kind vit_path_look(const char *path);

/* Whether something has that name, be it a link that leads nowhere. Only the system's "no such
 * file" means no; any other failure to look, such as a missing permission, is an error. */
vit_status vit_path_exists(bool *exists, const char *path, vit_error *error);

bool vit_path_same(const char *a, const char *b); /* both exist and are the same file */

bool vit_path_is_link(const char *path); /* a symbolic one */

/* The last part of a path as it is given, for titles; of "." or "x/.." that of the directory
 * itself; "data" where there is none. Cut to fit. */
void vit_path_name(char *name, size_t size, const char *path);

/* The last part of a path, as a pointer into `path`: what follows its last '/', or all of it. */
const char *vit_path_last(const char *path);

/* `name` in the directory of the file `path`; freed by vit_free; NULL when there is no memory. */
char *vit_path_beside(const char *path, const char *name);

/* directory/name into a new string, freed by vit_free; NULL when there is no memory. */
char *vit_path_join(const char *directory, const char *name);

/* The names in a directory except "." and "..", sorted by bytes; one block, freed by
 * vit_free(names). */
vit_status vit_list_directory(char ***names, size_t *count, const char *path, vit_error *error);

vit_status vit_make_directory(const char *path, vit_error *error); /* one that exists is fine */

/* Removes an empty directory. */
vit_status vit_remove_directory(const char *path, vit_error *error);

/* Removes a file; one that is absent is fine. */
vit_status vit_remove_file(const char *path, vit_error *error);

/* ---- locks between processes ---- */

/* Makes the file `path` where it is absent and locks it until vit_lock_drop or the end of the
 * process, however it ends. VIT_ERROR_IO where another process has it. The file stays. */
vit_status vit_lock_take(int *lock, const char *path, vit_error *error);
bool vit_lock_holds(int lock, const char *path); /* and `path` still is that file */
void vit_lock_drop(int lock);                    /* takes -1 */

/* ---- writing: all or nothing ---- */

/* A file that appears under its name only when it is complete and on the disk: written beside it
 * under a temporary name (.vit-NAME-PID-N.tmp, NAME 8 digits that follow from the file's name),
 * then fsync, close, rename, fsync of the directory. It keeps the mode of the file it replaces.
 * Where `path` is a symbolic link, the file behind it is replaced. Directories, devices, pipes and
 * files that may not be written are errors. */
typedef struct vit_writer vit_writer;

vit_status vit_writer_open(vit_writer **out, const char *path, vit_error *error);
vit_status vit_writer_put(vit_writer *writer, const void *data, size_t size, vit_error *error);
/* Ends and frees the writer, whether it succeeds or not; on failure the old file is untouched and
 * the temporary one gone. The one exception is that the last sync fails: then the new file is in
 * place, complete, and the message says that it may not survive a power failure. */
vit_status vit_writer_commit(vit_writer *writer, vit_error *error);
void vit_writer_abort(vit_writer *writer); /* takes NULL */

/* A whole file in one call. */
vit_status vit_write_file(const char *path, const void *data, size_t size, vit_error *error);

/* Sets `size` bytes aside on the disk for what is put next; VIT_ERROR_IO where there is no room. A
 * file system that cannot set room aside is no error: then a later put may find the disk full. */
vit_status vit_writer_reserve(vit_writer *writer, size_t size, vit_error *error);

/* Syncs the directory that `path` lies in: its name then survives a power failure. */
vit_status vit_sync_place(const char *path, vit_error *error);

/* Renames a file within a directory, replacing what is there, and syncs the directory. */
vit_status vit_rename_file(const char *from, const char *to, vit_error *error);

/* ---- time ---- */

void vit_yield(void);         /* another thread that waits for this processor goes first */
void vit_nap(double seconds); /* sleeps for less than a second, or a little longer than that */

double vit_wall_clock(void); /* seconds since 1970 */
double vit_clock(void);      /* seconds since some fixed moment, never going back */

#endif
