/* Processes, signals and terminals of posix.h, and what the system knows at random. */
#ifdef _WIN32

#include "vit/base/sys.h"
#include "vit/base/windows/paths.h"

#include <ntsecapi.h> /* after windows.h */
#include <stdatomic.h>

#undef signal

long vit_posix_sysconf(int name) {
    SYSTEM_INFO system;
    DWORD_PTR ours, all;
    GetSystemInfo(&system);
    if (name == _SC_PAGESIZE) return (long)system.dwPageSize;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &ours, &all) || ours == 0)
        return (long)system.dwNumberOfProcessors;
    return __builtin_popcountll(ours);
}

int vit_posix_setenv(const char *name, const char *value, int replace) {
    const size_t size = strlen(name) + strlen(value) + 2;
    char *line = getenv(name) && !replace ? NULL : malloc(size);
    if (!line) return replace ? -1 : 0;
    snprintf(line, size, "%s=%s", name, value);
    const int result = putenv(line);
    free(line);
    return result;
}

int vit_posix_gethostname(char *name, size_t size) {
    DWORD room = (DWORD)size;
    return GetComputerNameA(name, &room) ? 0 : vit_windows_fail();
}

ssize_t vit_posix_readlink(const char *path, char *target, size_t size) {
    wchar_t name[PATH_MAX];
    errno = EINVAL;
    if (strcmp(path, "/proc/self/exe") != 0 || !GetModuleFileNameW(NULL, name, PATH_MAX)) return -1;
    char *text = vit_windows_text(name);
    const size_t length = text ? strlen(text) : 0;
    if (!text || length > size) return free(text), -1;
    for (size_t i = 0; i < length; i++) target[i] = text[i] == '\\' ? '/' : text[i];
    free(text);
    return (ssize_t)length;
}

int vit_posix_fcntl(int file, int command) {
    (void)command;
    if (_get_osfhandle(file) >= 0) return 0;
    errno = EBADF;
    return -1;
}

int vit_posix_strerror(int number, char *text, size_t size) {
    static const struct {
        int number;
        const char *text;
    } sockets[] = {{EADDRINUSE, "Address already in use"},
                   {EADDRNOTAVAIL, "Cannot assign requested address"}};
    for (size_t i = 0; i < sizeof sockets / sizeof *sockets; i++)
        if (sockets[i].number == number) return snprintf(text, size, "%s", sockets[i].text), 0;
    return strerror_s(text, size, number);
}

/* A file and a terminal can always be read; a pipe, if something is in it, or if it has ended. */
int vit_posix_poll(struct pollfd *files, unsigned long count, int timeout) {
    (void)count, (void)timeout;
    DWORD waiting = 0;
    const HANDLE handle = (HANDLE)_get_osfhandle(files->fd);
    const bool writes = files->events & POLLOUT;
    const bool empty = !writes && GetFileType(handle) == FILE_TYPE_PIPE &&
                       PeekNamedPipe(handle, NULL, 0, NULL, &waiting, NULL) && waiting == 0;
    files->revents = empty ? 0 : writes ? POLLOUT : POLLIN;
    return empty ? 0 : 1;
}

int vit_posix_ioctl(int file, int request, struct winsize *size) {
    CONSOLE_SCREEN_BUFFER_INFO screen;
    (void)request;
    if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(file), &screen))
        return vit_windows_fail();
    size->ws_col = (unsigned short)(screen.srWindow.Right - screen.srWindow.Left + 1);
    size->ws_row = (unsigned short)(screen.srWindow.Bottom - screen.srWindow.Top + 1);
    return 0;
}

static void (*handlers[NSIG])(int);

/* Windows forgets a handler that it has called. */
static void relay(int number) {
    signal(number, relay);
    handlers[number](number);
}

int vit_posix_sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    if (number != SIGINT && number != SIGTERM) {
        errno = EINVAL;
        return -1;
    }
    if (before) *before = (struct sigaction){.sa_handler = handlers[number]};
    if (!action) return 0;
    handlers[number] = action->sa_handler;
    signal(number, relay);
    return 0;
}

static HANDLE came; /* a signal, for vit_posix_sigwait */
static atomic_uint blocked, pending;

/* Called in a thread of its own. FALSE: the system ends the program. */
static BOOL WINAPI on_console(DWORD event) {
    const unsigned signals = 1u << (event == CTRL_C_EVENT ? SIGINT : SIGTERM);
    if (!(atomic_load(&blocked) & signals)) return FALSE;
    atomic_fetch_or(&pending, signals);
    SetEvent(came);
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
        Sleep(INFINITE); /* the program has some seconds, if this does not return before */
    return TRUE;
}

int vit_posix_sigmask(int how, const sigset_t *set, sigset_t *before) {
    (void)before;
    if (!came) {
        came = CreateEventW(NULL, FALSE, FALSE, NULL);
        SetConsoleCtrlHandler(on_console, TRUE);
    }
    if (how == SIG_BLOCK)
        atomic_fetch_or(&blocked, *set);
    else
        atomic_fetch_and(&blocked, ~*set);
    return 0;
}

int vit_posix_sigwait(const sigset_t *set, int *number) {
    for (;;) {
        const unsigned arrived = atomic_load(&pending) & *set;
        if (arrived) {
            *number = __builtin_ctz(arrived);
            atomic_fetch_and(&pending, ~(1u << *number));
            return 0;
        }
        WaitForSingleObject(came, INFINITE);
    }
}

vit_status vit_secret(uint8_t *bytes, size_t size, vit_error *error) {
    if (RtlGenRandom(bytes, (ULONG)size)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_IO, "the system has no random numbers");
}

#endif
