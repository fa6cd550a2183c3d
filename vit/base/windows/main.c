/* What a program of Windows begins with: arguments and the environment become UTF-8, and streams
 * have the same bytes as elsewhere. */
#ifdef _WIN32

#include "vit/base/windows/paths.h"

#include <shellapi.h>
#undef main

/* Whether this is a path that exists, or one in a folder that does. */
static bool is_path(const wchar_t *word) {
    wchar_t folder[PATH_MAX];
    if (wcslen(word) >= PATH_MAX) return false;
    if (GetFileAttributesW(word) != INVALID_FILE_ATTRIBUTES) return true;
    wcscpy(folder, word);
    wchar_t *last = wcsrchr(folder, L'\\');
    if (!last) return false;
    *last = 0;
    return GetFileAttributesW(folder) != INVALID_FILE_ATTRIBUTES;
}

/* UTF-8 of an argument, with '/' in a path: the whole word, or what follows its '='. */
static char *argument(wchar_t *word) {
    wchar_t *value = wcschr(word, L'=');
    value = word[0] == L'-' && value ? value + 1 : word;
    if (is_path(value))
        for (wchar_t *c = value; *c; c++)
            if (*c == L'\\') *c = L'/';
    return vit_windows_text(word);
}

/* getenv gives UTF-8 from here on; TMPDIR is the folder for temporary files. */
static void environment(void) {
    static const wchar_t *const names[] = {L"VIT_MODELS", L"VIT_DATA", L"TMPDIR", L"HOME"};
    wchar_t value[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const bool temporary = wcscmp(names[i], L"TMPDIR") == 0;
        DWORD length = GetEnvironmentVariableW(names[i], value, PATH_MAX);
        if (length == 0 && temporary) length = GetTempPathW(PATH_MAX, value);
        if (length == 0 || length >= PATH_MAX) continue;
        char *name = vit_windows_text(names[i]), *text = argument(value);
        if (name && text) setenv(name, text, 1);
        free(name);
        free(text);
    }
}

int main(void) {
    int count = 0;
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &count);
    char **arguments = calloc((size_t)count + 1, sizeof *arguments);
    if (!words || !arguments) return 1;
    for (int i = 0; i < count; i++)
        if (!(arguments[i] = argument(words[i]))) return 1;
    LocalFree(words);
    for (int stream = 0; stream < 3; stream++) _setmode(stream, _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
    environment();
    const int status = vit_program_main(count, arguments);
    for (int i = 0; i < count; i++) free(arguments[i]);
    free(arguments);
    return status;
}

#endif
