/* Paths of Windows, and why a call of it failed. */
#ifndef VIT_BASE_WINDOWS_PATHS_H
#define VIT_BASE_WINDOWS_PATHS_H
#ifdef _WIN32

#include "vit/base/windows/posix.h"

#include <stdbool.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* UTF-16 of a path, whole and of any length; "/dev/null" is NUL. Freed by free; NULL with errno. */
wchar_t *vit_windows_path(const char *path);

/* UTF-8 with '/' of UTF-16. Freed by free; NULL: no memory. */
char *vit_windows_text(const wchar_t *wide);

/* Where an open file is, links resolved. Freed by free; NULL with errno. */
char *vit_windows_path_of(HANDLE file);

/* Sets errno from GetLastError; always -1. */
int vit_windows_fail(void);

#endif
#endif
