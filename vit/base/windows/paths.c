/* Paths, and the calls that only have paths (posix.h). */
#ifdef _WIN32

#include "vit/base/windows/paths.h"

int vit_windows_fail(void) {
    static const struct {
        DWORD windows;
        int posix;
    } table[] = {
        {ERROR_FILE_NOT_FOUND, ENOENT},
        {ERROR_PATH_NOT_FOUND, ENOENT},
        {ERROR_INVALID_NAME, ENOENT},
        {ERROR_BAD_NETPATH, ENOENT},
        {ERROR_NOT_READY, ENOENT},
        {ERROR_BAD_PATHNAME, ENOENT},
        {ERROR_FILE_EXISTS, EEXIST},
        {ERROR_ALREADY_EXISTS, EEXIST},
        {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
        {ERROR_DIRECTORY, ENOTDIR},
        {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
        {ERROR_OUTOFMEMORY, ENOMEM},
        {ERROR_COMMITMENT_LIMIT, ENOMEM},
        {ERROR_DISK_FULL, ENOSPC},
        {ERROR_HANDLE_DISK_FULL, ENOSPC},
        {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
        {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
        {ERROR_INVALID_HANDLE, EBADF},
        {ERROR_INVALID_PARAMETER, EINVAL},
        {ERROR_INVALID_FUNCTION, EINVAL},
        {ERROR_ACCESS_DENIED, EACCES},
        {ERROR_SHARING_VIOLATION, EACCES},
        {ERROR_LOCK_VIOLATION, EACCES},
        {ERROR_USER_MAPPED_FILE, EACCES},
        {ERROR_WRITE_PROTECT, EROFS},
        {ERROR_BROKEN_PIPE, EPIPE},
    };
    const DWORD why = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].windows == why) errno = table[i].posix;
    return -1;
}

/* Longer names need a prefix, after which a path must be whole and without '/'. */
enum { LONG_NAME = 240 };

static wchar_t *whole(const wchar_t *name) {
    const DWORD room = GetFullPathNameW(name, 0, NULL, NULL);
    wchar_t *full = room > 0 ? malloc((room + 8) * sizeof *full) : NULL;
    if (!full) return NULL;
    const DWORD length = GetFullPathNameW(name, room, full, NULL);
    if (length < LONG_NAME || wcsncmp(full, L"\\\\?\\", 4) == 0) return full;
    const bool share = wcsncmp(full, L"\\\\", 2) == 0;
    const wchar_t *prefix = share ? L"\\\\?\\UNC" : L"\\\\?\\";
    const size_t gone = share ? 1 : 0, added = wcslen(prefix);
    memmove(full + added, full + gone, (length - gone + 1) * sizeof *full);
    memcpy(full, prefix, added * sizeof *full);
    return full;
}

wchar_t *vit_windows_path(const char *path) {
    if (strcmp(path, "/dev/null") == 0) path = "NUL";
    if (*path == 0) {
        errno = ENOENT;
        return NULL;
    }
    const int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *name = size > 0 ? malloc((size_t)size * sizeof *name) : NULL;
    errno = size > 0 ? ENOMEM : EILSEQ;
    if (!name) return NULL;
    MultiByteToWideChar(CP_UTF8, 0, path, -1, name, size);
    wchar_t *full = whole(name);
    free(name);
    return full;
}

char *vit_windows_text(const wchar_t *wide) {
    const int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    if (text) WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
    return text;
}

static void turn_slashes(char *path) {
    for (; *path; path++)
        if (*path == '\\') *path = '/';
}

char *vit_windows_path_of(HANDLE file) {
    const DWORD room = GetFinalPathNameByHandleW(file, NULL, 0, VOLUME_NAME_DOS);
    wchar_t *name = room > 0 ? malloc((room + 1) * sizeof *name) : NULL;
    if (!name) return vit_windows_fail(), NULL;
    GetFinalPathNameByHandleW(file, name, room + 1, VOLUME_NAME_DOS);
    const wchar_t *start = name;
    if (wcsncmp(name, L"\\\\?\\UNC\\", 8) == 0) {
        name[6] = L'\\'; /* "\\?\UNC\host" is "\\host" */
        start = name + 6;
    } else if (wcsncmp(name, L"\\\\?\\", 4) == 0) {
        start = name + 4;
    }
    char *path = vit_windows_text(start);
    free(name);
    if (path) turn_slashes(path);
    return path;
}

char *vit_posix_realpath(const char *path, char *real) {
    wchar_t *name = vit_windows_path(path);
    if (!name) return NULL;
    const HANDLE file = CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                    NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    free(name);
    if (file == INVALID_HANDLE_VALUE) return vit_windows_fail(), NULL;
    char *found = vit_windows_path_of(file);
    CloseHandle(file);
    if (!found || !real) return found;
    snprintf(real, PATH_MAX, "%s", found);
    free(found);
    return real;
}

/* ---- what a call does to a path ---- */

static int done(BOOL fine, wchar_t *name) {
    const int result = fine ? 0 : vit_windows_fail();
    free(name);
    return result;
}

int vit_posix_mkdir(const char *path, int mode) {
    (void)mode;
    wchar_t *name = vit_windows_path(path);
    return name ? done(CreateDirectoryW(name, NULL), name) : -1;
}

int vit_posix_rmdir(const char *path) {
    wchar_t *name = vit_windows_path(path);
    return name ? done(RemoveDirectoryW(name), name) : -1;
}

int vit_posix_unlink(const char *path) {
    wchar_t *name = vit_windows_path(path);
    return name ? done(DeleteFileW(name), name) : -1;
}

int vit_posix_rename(const char *from, const char *to) {
    wchar_t *source = vit_windows_path(from), *target = vit_windows_path(to);
    const DWORD how = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
    const int result = source && target ? done(MoveFileExW(source, target, how), source) : -1;
    free(target);
    return result;
}

char *vit_posix_mkdtemp(char *path) {
    static LONG last;
    char *end = path + strlen(path) - 6;
    for (int turn = 0; turn < 10000; turn++) {
        const DWORD number =
            GetCurrentProcessId() * 7919 + GetTickCount() + (DWORD)InterlockedIncrement(&last);
        snprintf(end, 7, "%06lx", (unsigned long)number & 0xffffff);
        if (mkdir(path, 0700) == 0) return path;
        if (errno != EEXIST) return NULL;
    }
    return NULL;
}

/* ---- directories ---- */

struct vit_posix_directory {
    HANDLE search;
    WIN32_FIND_DATAW found;
    bool read; /* what was found is not yet given */
    struct vit_posix_dirent entry;
};

vit_posix_directory *vit_posix_opendir(const char *path) {
    const size_t size = strlen(path) + 3;
    char *pattern = malloc(size);
    if (!pattern) return NULL;
    snprintf(pattern, size, "%s/*", path);
    wchar_t *name = vit_windows_path(pattern);
    vit_posix_directory *directory = name ? calloc(1, sizeof *directory) : NULL;
    free(pattern);
    if (directory) directory->search = FindFirstFileW(name, &directory->found);
    free(name);
    if (directory && directory->search == INVALID_HANDLE_VALUE) {
        vit_windows_fail();
        free(directory);
        return NULL;
    }
    return directory;
}

struct vit_posix_dirent *vit_posix_readdir(vit_posix_directory *d) {
    if (d->read && !FindNextFileW(d->search, &d->found)) return NULL;
    d->read = true;
    WideCharToMultiByte(CP_UTF8, 0, d->found.cFileName, -1, d->entry.d_name, sizeof d->entry.d_name,
                        NULL, NULL);
    return &d->entry;
}

int vit_posix_closedir(vit_posix_directory *directory) {
    FindClose(directory->search);
    free(directory);
    return 0;
}

int vit_posix_scandir(const char *path, struct vit_posix_dirent ***list, void *filter,
                      void *order) {
    (void)filter, (void)order;
    vit_posix_directory *directory = vit_posix_opendir(path);
    int count = 0;
    *list = NULL;
    if (!directory) return -1;
    for (const struct vit_posix_dirent *e; (e = vit_posix_readdir(directory));) {
        struct vit_posix_dirent *copy = malloc(sizeof *copy);
        struct vit_posix_dirent **grown = realloc(*list, ((size_t)count + 1) * sizeof *grown);
        if (grown) *list = grown;
        if (!copy || !grown) {
            free(copy);
            break;
        }
        *copy = *e;
        grown[count++] = copy;
    }
    vit_posix_closedir(directory);
    return count;
}

#endif
