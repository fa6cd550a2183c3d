/* Random bytes from the system (sys.h); Windows has a call for them (windows/process.c). */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "vit/base/sys.h"

vit_status vit_secret(uint8_t *bytes, size_t size, vit_error *error) {
    const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    size_t got = 0;
    ssize_t n = 1;
    while (fd >= 0 && got < size && n > 0) {
        do n = read(fd, bytes + got, size - got);
        while (n < 0 && errno == EINTR);
        got += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0) close(fd);
    if (fd >= 0 && got == size) return VIT_OK;
    return vit_fail(error, VIT_ERROR_IO, "/dev/urandom cannot be read");
}
