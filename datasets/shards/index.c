/* The index of shards: a text that says where each picture is, and what is needed to open the data
 * without reading one (docs/formats.md). */
#include "datasets/shards/shards.h"
#include "vit/formats/sha256.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LARGEST_INDEX ((size_t)16 << 30)
#define FIRST_LINE "vit-shards\t1\n"

/* ---- writing ---- */

bool vit_shards_index_takes(const char *name) {
    for (const char *c = name; *c; c++)
        if ((uint8_t)*c < 32 || *c == 127) return false;
    return *name;
}

void vit_shards_index_begin(vit_string *text) {
    vit_string_add(text, FIRST_LINE);
}

void vit_shards_index_shard(vit_string *text, const char *name, uint64_t size, size_t pictures) {
    vit_string_add(text, "shard\t%s\t%" PRIu64 "\t%zu\n", name, size, pictures);
}

void vit_shards_index_picture(vit_string *text, const vit_shard_row *row) {
    vit_string_add(text, "%s\t%" PRIu64 "\t%zu\t%zu\t%zu\t%s\t%08" PRIx32 "\t", row->member,
                   row->offset, row->size, row->width, row->height, row->class, row->crc);
    char hex[65];
    vit_sha256_digits(hex, row->digest);
    vit_string_add(text, "%s\n", hex);
}

static uint32_t crc_of(const void *data, size_t size) {
    return (uint32_t)crc32_z(0, data, size);
}

void vit_shards_index_end(vit_string *text) {
    if (!text->failed)
        vit_string_add(text, "end\t%08" PRIx32 "\n", crc_of(text->text, text->length));
}

/* ---- reading ---- */

/* Fields of a picture's line. */
enum { MEMBER = 0, OFFSET = 1, CLASS = 5, CRC = 6, DIGEST = 7, FIELDS = 8 };

typedef struct reading {
    char *path; /* of the index, for messages */
    vit_shard_scan *scan;
    unsigned parts;
    char *at, *end; /* what is left of the text */
    size_t line;
    size_t left;    /* pictures of the current shard that are still to come */
    uint64_t size;  /* of the current shard */
    bool is_wanted; /* whether its pictures are read */
    size_t found;   /* shards of the index that are in the directory */
} reading;

static vit_status damaged(const reading *r, const char *what, vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: line %zu: %s; write it anew (vit-pack --index %s)", r->path, r->line, what,
                    r->scan->directory->path);
}

/* Splits the next line at its tabs; *count = its fields, of which at most FIELDS are kept. */
static char **next_line(char *fields[FIELDS], size_t *count, reading *r) {
    char *end = memchr(r->at, '\n', (size_t)(r->end - r->at)), *next = r->at;
    *count = 0;
    if (!end) return NULL;
    *end = 0;
    r->at = end + 1;
    r->line++;
    while (next) {
        if (*count < FIELDS) fields[*count] = next;
        ++*count;
        next = strchr(next, '\t');
        if (next) *next++ = 0;
    }
    return fields;
}

static bool parse_hex(uint8_t *out, size_t bytes, const char *text) {
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 2 * bytes) return false;
    for (size_t i = 0; i < 2 * bytes; i++) {
        const char *digit = strchr(digits, text[i]);
        if (!digit) return false;
        out[i / 2] = (uint8_t)(out[i / 2] << 4 | (digit - digits));
    }
    return true;
}

static vit_status take_picture(reading *r, char *const fields[FIELDS], vit_error *error) {
    uint64_t n[4];
    uint8_t crc[4] = {0}, digest[32] = {0};
    vit_tree_file *file;
    bool fits = vit_shards_index_takes(fields[MEMBER]) && *fields[CLASS] &&
                parse_hex(crc, sizeof crc, fields[CRC]) &&
                parse_hex(digest, sizeof digest, fields[DIGEST]);
    for (size_t i = 0; i < 4; i++) fits = fits && vit_parse_u64(fields[OFFSET + i], &n[i]);
    fits = fits && n[0] <= r->size && n[1] <= r->size - n[0] && n[1] <= UINT32_MAX && n[2] > 0 &&
           n[3] > 0 && n[2] <= UINT32_MAX && n[3] <= UINT32_MAX;
    if (!fits) return damaged(r, "is no picture of the shard before it", error);
    const vit_status status =
        vit_shard_scan_add(&file, r->scan, fields[MEMBER], fields[CLASS], NULL, error);
    if (status != VIT_OK) return status;
    file->place.offset = n[0];
    file->place.size = (uint32_t)n[1];
    file->width = (size_t)n[2];
    file->height = (size_t)n[3];
    file->place.crc =
        (uint32_t)crc[0] << 24 | (uint32_t)crc[1] << 16 | (uint32_t)crc[2] << 8 | crc[3];
    file->place.has_crc = true;
    memcpy(file->digest, digest, sizeof digest);
    return VIT_OK;
}

/* Compares the size of a shard with that in the index. */
static vit_status check_shard(const reading *r, const char *name, vit_error *error) {
    uint64_t size;
    int file;
    char *path = vit_path_join(r->scan->directory->path, name);
    if (!path) return vit_fail_memory(error, "a path", strlen(name));
    vit_status status = vit_file_open(&file, &size, path, error);
    vit_file_close(file);
    if (status == VIT_OK && size != r->size)
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "%s: has %" PRIu64 " bytes, and %" PRIu64 " by the index, %s: one of "
                          "them was changed; if the shard is right, write the index anew "
                          "(vit-pack --index %s)",
                          path, size, r->size, r->path, r->scan->directory->path);
    vit_free(path);
    return status;
}

static vit_status take_shard(reading *r, char *const fields[FIELDS], vit_error *error) {
    uint64_t pictures;
    unsigned part;
    if (!vit_parse_u64(fields[2], &r->size) || !vit_parse_u64(fields[3], &pictures) ||
        strchr(fields[1], '/'))
        return damaged(r, "is no shard", error);
    r->left = (size_t)pictures;
    vit_status status = vit_shard_part(&part, r->scan->directory->path, fields[1], error);
    if (status != VIT_OK) return status;
    r->is_wanted = part & r->parts;
    r->found += vit_listing_has(r->scan->directory, fields[1]);
    if (!r->is_wanted) return VIT_OK;
    status = check_shard(r, fields[1], error);
    return status == VIT_OK ? vit_shard_scan_next(r->scan, fields[1], r->size, error) : status;
}

static vit_status read_lines(reading *r, vit_error *error) {
    char *fields[FIELDS];
    size_t count;
    vit_status status = VIT_OK;
    while (status == VIT_OK && next_line(fields, &count, r)) {
        if (r->left > 0) {
            r->left--;
            if (count != FIELDS) return damaged(r, "is no picture", error);
            if (r->is_wanted) status = take_picture(r, fields, error);
        } else if (count == 4 && strcmp(fields[0], "shard") == 0) {
            status = take_shard(r, fields, error);
        } else {
            return damaged(r, "is no shard", error);
        }
    }
    return status == VIT_OK && r->left > 0 ? damaged(r, "pictures are missing", error) : status;
}

/* Checks the first and the last line, which are then cut off. */
static vit_status check_frame(reading *r, vit_bytes *text, vit_error *error) {
    const size_t first = strlen(FIRST_LINE), last = strlen("end\t12345678\n");
    const char *begin = (const char *)text->data;
    uint8_t crc[4] = {0};
    char hex[9] = "";
    if (text->size < first + last || memcmp(begin, FIRST_LINE, first) != 0 ||
        memchr(begin, 0, text->size))
        return damaged(r, "is not the beginning of an index", error);
    const size_t size = text->size - last;
    memcpy(hex, begin + size + 4, 8);
    const uint32_t sum = crc_of(begin, size);
    const uint8_t expected[4] = {(uint8_t)(sum >> 24), (uint8_t)(sum >> 16), (uint8_t)(sum >> 8),
                                 (uint8_t)sum};
    if (memcmp(begin + size, "end\t", 4) != 0 || !parse_hex(crc, sizeof crc, hex) ||
        memcmp(crc, expected, sizeof crc) != 0)
        return damaged(r, "its checksum at the end is wrong or missing, so it is damaged", error);
    r->at = (char *)text->data + first;
    r->end = (char *)text->data + size;
    return VIT_OK;
}

vit_status vit_shards_read_index(vit_shard_scan *scan, unsigned parts, vit_error *error) {
    const vit_listing *l = scan->directory;
    reading r = {
        .path = vit_path_join(l->path, VIT_SHARDS_INDEX), .scan = scan, .parts = parts, .line = 1};
    vit_bytes text = {0};
    size_t shards = 0;
    if (!r.path) return vit_fail_memory(error, "a path", strlen(l->path));
    vit_status status = vit_read_regular(&text, r.path, LARGEST_INDEX, error);
    if (status == VIT_OK) status = check_frame(&r, &text, error);
    if (status == VIT_OK) status = read_lines(&r, error);
    for (size_t i = 0; i < l->count; i++) shards += vit_shards_is(l->names[i]);
    if (status == VIT_OK && r.found != shards)
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "%s: tells of %zu of the %zu shards beside it: write it anew (vit-pack "
                          "--index %s)",
                          r.path, r.found, shards, l->path);
    vit_free(text.data);
    vit_free(r.path);
    return status;
}
