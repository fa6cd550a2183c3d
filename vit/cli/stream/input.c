#include "vit/cli/stream/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vit/cli/parts/interrupt.h"

enum { WAIT_MS = 100 }; /* so that an interruption is seen soon */

vit_status vit_input_open(vit_input *in, const char *path, vit_error *error) {
    const bool is_standard = strcmp(path, "-") == 0;
    struct stat info;
    in->name = is_standard ? "standard input" : path;
    in->begin = in->end = 0;
    in->offset = 0;
    in->ended = false;
    in->failed = 0;
    in->file = is_standard ? 0 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->file < 0) return vit_fail_errno(error, errno, "cannot open %s", path);
    if (fstat(in->file, &info) == 0 && S_ISDIR(info.st_mode))
        return vit_fail(error, VIT_ERROR_IO, "%s is a directory, expected a stream of frames",
                        in->name);
    return VIT_OK;
}

void vit_input_close(vit_input *in) {
    if (in->file > 0) close(in->file);
    in->file = -1;
}

/* Reads some bytes into data[0..size); 0: there are no more. */
static size_t read_some(vit_input *in, uint8_t *data, size_t size) {
    while (!in->ended) {
        struct pollfd wait = {.fd = in->file, .events = POLLIN};
        const int ready = poll(&wait, 1, WAIT_MS);
        if (vit_interrupted()) break;
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        const ssize_t n = read(in->file, data, size);
        if (n > 0) return (size_t)n;
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0) in->failed = errno;
        break;
    }
    in->ended = true;
    return 0;
}

bool vit_input_has(vit_input *in, size_t count) {
    while (in->end - in->begin < count) {
        if (in->begin > 0) memmove(in->bytes, in->bytes + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
        const size_t n = read_some(in, in->bytes + in->end, VIT_INPUT_ROOM - in->end);
        if (n == 0) return false;
        in->end += n;
    }
    return true;
}

void vit_input_skip(vit_input *in, size_t count) {
    in->begin += count;
    in->offset += count;
}

size_t vit_input_take(vit_input *in, uint8_t *data, size_t size) {
    size_t taken = in->end - in->begin;
    if (taken > size) taken = size;
    memcpy(data, in->bytes + in->begin, taken);
    vit_input_skip(in, taken);
    while (taken < size) {
        const size_t n = read_some(in, data + taken, size - taken);
        if (n == 0) break;
        taken += n;
        in->offset += n;
    }
    return taken;
}

bool vit_input_find(vit_input *in, const void *bytes, size_t count) {
    while (vit_input_has(in, count)) {
        const uint8_t *from = vit_input_look(in), *at = from;
        const size_t there = in->end - in->begin;
        while ((size_t)(from + there - at) >= count) {
            at = memchr(at, *(const uint8_t *)bytes, there - (size_t)(at - from) - count + 1);
            if (!at) break;
            if (memcmp(at, bytes, count) == 0) {
                vit_input_skip(in, (size_t)(at - from));
                return true;
            }
            at++;
        }
        vit_input_skip(in, there - count + 1);
    }
    return false;
}
