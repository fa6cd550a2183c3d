/* Any bytes as an archive of tar: members lie within it, and their names lead nowhere else. */
#include "datasets/shards/tar.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

typedef struct input {
    const uint8_t *data;
    size_t size;
} input;

static vit_status read_input(void *data, size_t size, uint64_t offset, const void *context,
                             vit_error *error) {
    const input *in = context;
    (void)error;
    require(offset <= in->size && size <= in->size - offset);
    memcpy(data, in->data + offset, size);
    return VIT_OK;
}

static void check_name(const char *name) {
    require(name[0] && name[0] != '/' && strncmp(name, "../", 3) != 0);
    require(!strstr(name, "/../") && !strchr(name, '\n') && strcmp(name, "..") != 0);
}

/* Right checksums, so that what is behind them is reached. */
static void sign(uint8_t *header) {
    unsigned sum = 0;
    memset(header + 148, ' ', 8);
    for (size_t i = 0; i < VIT_TAR_BLOCK; i++) sum += header[i];
    for (int i = 5; i >= 0; i--, sum /= 8) header[148 + i] = (uint8_t)('0' + sum % 8);
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
}

static void read_all(const uint8_t *data, size_t size) {
    const input in = {data, size};
    vit_tar tar = {.path = "input", .size = size, .read = read_input, .context = &in};
    vit_tar_member m;
    vit_error error = {0};
    vit_status status;
    uint64_t last = 0;
    while ((status = vit_tar_next(&tar, &m, &error)) == VIT_OK && m.name) {
        check_name(m.name);
        require(m.offset > last && m.offset <= size && m.size <= size - m.offset);
        last = m.offset;
    }
    require(status == VIT_OK || error.status == status);
    vit_tar_close(&tar);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_all(data, size);
    uint8_t *copy = malloc(size + 1);
    require(copy);
    if (size > 0) memcpy(copy, data, size);
    for (size_t at = 0; at + VIT_TAR_BLOCK <= size; at += VIT_TAR_BLOCK)
        if (copy[at]) sign(copy + at); /* data blocks, too, where they begin with a byte */
    read_all(copy, size);
    free(copy);
    return 0;
}
