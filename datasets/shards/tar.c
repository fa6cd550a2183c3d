#include "datasets/shards/tar.h"
#include "vit/base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of a header, in POSIX's order. */
typedef struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
    char linked[100], magic[8], owner[32], group[32], major[8], minor[8], prefix[155], rest[12];
} header;
_Static_assert(sizeof(header) == VIT_TAR_BLOCK, "a header is a block");

#define LONGEST_NAME 4096     /* of GNU's long names and pax's paths */
#define LONGEST_RECORDS 65536 /* of pax, for one member */

/* "ARCHIVE: member NAME: ...", or its place if the name is not known. */
static vit_status refuse(const vit_tar *t, vit_status status, vit_error *error, const char *what) {
    if (t->name.length > 0)
        return vit_fail(error, status, "%s: member %.300s: %s", t->path, t->name.text, what);
    return vit_fail(error, status, "%s: header at byte %" PRIu64 ": %s", t->path, t->at, what);
}

/* ---- numbers ---- */

/* Octal digits between spaces or zeros; all of them may be missing. */
static bool parse_octal(uint64_t *value, const char *field, size_t size) {
    size_t i = 0;
    *value = 0;
    while (i < size && field[i] == ' ') i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        *value = *value * 8 + (uint64_t)(field[i] - '0');
    while (i < size && (field[i] == ' ' || field[i] == 0)) i++;
    return i == size;
}

/* The sum of a header's bytes, with spaces in place of its checksum; old programs add them as
 * signed ones. */
static uint64_t checksum_of(const header *h, bool is_signed) {
    const uint8_t *bytes = (const uint8_t *)h;
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof *h; i++) {
        const bool is_sum = i >= offsetof(header, checksum) && i < offsetof(header, type);
        const uint8_t byte = is_sum ? ' ' : bytes[i];
        sum += is_signed ? (int8_t)byte : byte;
    }
    return (uint64_t)sum;
}

static vit_status check_header(uint64_t *size, const vit_tar *t, const header *h,
                               vit_error *error) {
    uint64_t sum;
    if (memcmp(h->magic, "ustar\0", 6) != 0 && memcmp(h->magic, "ustar ", 6) != 0)
        return refuse(t, VIT_ERROR_FORMAT, error,
                      "it is no header of a tar file (ustar, GNU or pax); compressed ones are not "
                      "read");
    if (!parse_octal(&sum, h->checksum, sizeof h->checksum) ||
        (sum != checksum_of(h, false) && sum != checksum_of(h, true)))
        return refuse(t, VIT_ERROR_FORMAT, error, "its checksum is wrong: the archive is damaged");
    if ((uint8_t)h->size[0] >= 0x80)
        return refuse(t, VIT_ERROR_UNSUPPORTED, error,
                      "its size is a number of base 256: negative, or 8 GiB and more");
    if (!parse_octal(size, h->size, sizeof h->size))
        return refuse(t, VIT_ERROR_FORMAT, error, "its size is no octal number");
    return VIT_OK;
}

/* ---- names ---- */

static vit_status set_name(vit_tar *t, const char *name, size_t length, vit_error *error) {
    t->name.length = 0;
    vit_string_add_bytes(&t->name, name, length);
    return t->name.failed ? vit_fail_memory(error, "a name", length) : VIT_OK;
}

/* The name that the header itself has. */
static vit_status take_name(vit_tar *t, const header *h, vit_error *error) {
    const size_t length = strnlen(h->name, sizeof h->name);
    const bool has_prefix = h->magic[5] == 0 && h->prefix[0];
    if (!has_prefix) return set_name(t, h->name, length, error);
    const vit_status status = set_name(t, h->prefix, strnlen(h->prefix, sizeof h->prefix), error);
    if (status != VIT_OK) return status;
    vit_string_add(&t->name, "/%.*s", (int)length, h->name);
    return t->name.failed ? vit_fail_memory(error, "a name", length) : VIT_OK;
}

/* What is wrong with the name of a member; NULL: nothing. */
static const char *name_problem(const char *name) {
    const char *part = name;
    if (*name == 0) return "it has no name";
    if (*name == '/') return "its name begins with /";
    for (const char *c = name; *c; c++)
        if ((uint8_t)*c < 32 || *c == 127) return "its name has control characters";
    for (const char *end; part; part = *end ? end + 1 : NULL) {
        end = part + strcspn(part, "/");
        if (end - part == 2 && part[0] == '.' && part[1] == '.')
            return "its name has .., which leads out of a folder";
    }
    return NULL;
}

/* ---- the blocks of a member ---- */

/* Reads what a header of another kind has behind it, and goes on to the next header. */
static vit_status take_data(vit_string *out, vit_tar *t, uint64_t size, size_t most,
                            vit_error *error) {
    char block[VIT_TAR_BLOCK];
    vit_string_add_bytes(out, "", 0);
    if (size > most)
        return refuse(t, VIT_ERROR_UNSUPPORTED, error,
                      "its long name, or pax's records, are too long");
    for (uint64_t done = 0; done < size; done += sizeof block) {
        const vit_status status =
            t->read(block, sizeof block, t->at + VIT_TAR_BLOCK + done, t->context, error);
        if (status != VIT_OK) return status;
        vit_string_add_bytes(out, block, vit_min((size_t)(size - done), sizeof block));
    }
    return out->failed ? vit_fail_memory(error, "a name", (size_t)size) : VIT_OK;
}

/* What pax says of the next member. */
typedef struct extras {
    vit_string name; /* empty: nothing */
    bool has_size;
    uint64_t size;
} extras;

/* Takes "KEY=VALUE", a record of pax. */
static vit_status take_record(extras *e, vit_tar *t, const char *key, const char *value,
                              bool is_global, vit_error *error) {
    const bool is_path = strcmp(key, "path") == 0, is_size = strcmp(key, "size") == 0;
    if (strncmp(key, "GNU.sparse", 10) == 0)
        return refuse(t, VIT_ERROR_UNSUPPORTED, error, "it is a sparse file");
    if (!is_path && !is_size) return VIT_OK;
    if (is_global)
        return refuse(t, VIT_ERROR_UNSUPPORTED, error, "pax gives all members one path or size");
    if (is_size) {
        e->has_size = vit_parse_u64(value, &e->size);
        return e->has_size ? VIT_OK : refuse(t, VIT_ERROR_FORMAT, error, "pax's size is no number");
    }
    e->name.length = 0;
    vit_string_add(&e->name, "%s", value);
    return e->name.failed ? vit_fail_memory(error, "a name", strlen(value)) : VIT_OK;
}

/* Records are "LENGTH KEY=VALUE\n", the length in decimal, of all of it. */
static vit_status take_records(extras *e, vit_tar *t, vit_string *records, bool is_global,
                               vit_error *error) {
    size_t at = 0;
    while (at < records->length) {
        char *begin = records->text + at;
        const size_t left = records->length - at, digits = strspn(begin, "0123456789");
        uint64_t length = 0;
        bool fits = digits > 0 && digits < 8 && digits < left && begin[digits] == ' ';
        if (fits) {
            begin[digits] = 0;
            fits = vit_parse_u64(begin, &length) && length > digits + 1 && length <= left &&
                   begin[length - 1] == '\n';
        }
        char *key = begin + digits + 1, *equals = NULL;
        if (fits) {
            begin[length - 1] = 0;
            equals = strchr(key, '=');
            /* A zero within the record would hide what follows it. */
            fits = equals && strlen(key) == length - digits - 2;
        }
        if (!fits) return refuse(t, VIT_ERROR_FORMAT, error, "its pax records are damaged");
        *equals = 0;
        const vit_status status = take_record(e, t, key, equals + 1, is_global, error);
        if (status != VIT_OK) return status;
        at += (size_t)length;
    }
    return VIT_OK;
}

/* After the first block of zeros all must be zeros: members of a second archive that was appended
 * would be lost without a word. */
static vit_status check_end(const vit_tar *t, vit_error *error) {
    char block[8192];
    for (uint64_t at = t->at; at < t->size; at += sizeof block) {
        const size_t n = t->size - at < sizeof block ? (size_t)(t->size - at) : sizeof block;
        const vit_status status = t->read(block, n, at, t->context, error);
        if (status != VIT_OK) return status;
        for (size_t i = 0; i < n; i++)
            if (block[i])
                return vit_fail(error, VIT_ERROR_FORMAT,
                                "%s: has more after its end, at byte %" PRIu64
                                ": is it several archives in one?",
                                t->path, at + i);
    }
    return VIT_OK;
}

static bool is_zero(const header *h) {
    const char *bytes = (const char *)h;
    for (size_t i = 0; i < sizeof *h; i++)
        if (bytes[i]) return false;
    return true;
}

/* What a member is that is not read; NULL: it is a regular file. */
static const char *refused_kind(char type) {
    switch (type) {
    case 0:
    case '0':
    case '7':
        return NULL;
    case '1':
    case '2':
        return "it is a link";
    case 'S':
        return "it is a sparse file";
    case '3':
    case '4':
    case '6':
        return "it is a device or a pipe";
    default:
        return "it is of a type that is not known";
    }
}

/* Checks a member's name and size, gives it to *out and goes on behind it. */
static vit_status take_member(vit_tar *t, vit_tar_member *out, const header *h, uint64_t size,
                              const extras *e, vit_error *error) {
    vit_status status = e->name.length > 0 ? set_name(t, e->name.text, e->name.length, error)
                                           : take_name(t, h, error);
    if (status != VIT_OK) return status;
    if (e->has_size) size = e->size;
    const char *kind = h->type == '5' ? NULL : refused_kind(h->type);
    const char *name = t->name.text;
    while (name[0] == '.' && name[1] == '/') name += 2;
    /* Archives of "." have it as a folder. */
    const char *problem = h->type == '5' && *name == 0 ? NULL : name_problem(name);
    if (kind || problem) {
        if (problem) t->name.length = 0; /* names the place instead */
        return refuse(t, kind ? VIT_ERROR_UNSUPPORTED : VIT_ERROR_FORMAT, error,
                      problem ? problem : kind);
    }
    const uint64_t begin = t->at + VIT_TAR_BLOCK;
    if (h->type == '5') size = 0;
    if (size > t->size - begin || vit_tar_padding(size) > t->size - begin - size)
        return refuse(t, VIT_ERROR_FORMAT, error,
                      "it would go past the end of the archive: is that truncated?");
    t->at = begin + size + vit_tar_padding(size);
    *out = (vit_tar_member){h->type == '5' ? NULL : name, begin, size};
    return VIT_OK;
}

/* One header and what belongs to it; *done: there is a member, or the end. */
static vit_status step(vit_tar *t, vit_tar_member *out, extras *e, bool *done, vit_error *error) {
    header h;
    uint64_t size = 0;
    vit_string data = {0};
    if (t->size - t->at < sizeof h)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: ends at byte %" PRIu64 " without the blocks of zeros that end a tar "
                        "file: is it truncated?",
                        t->path, t->size);
    vit_status status = t->read(&h, sizeof h, t->at, t->context, error);
    if (status != VIT_OK) return status;
    t->name.length = 0;
    if (is_zero(&h)) {
        *done = true;
        return check_end(t, error);
    }
    status = check_header(&size, t, &h, error);
    if (status != VIT_OK) return status;
    if (!strchr("LKxg", h.type) || h.type == 0) {
        status = take_member(t, out, &h, size, e, error);
        *done = h.type != '5';
        vit_string_free(&e->name);
        *e = (extras){0};
        return status;
    }
    const uint64_t left = t->size - t->at - VIT_TAR_BLOCK;
    const bool is_long = h.type == 'L' || h.type == 'K';
    if (size > left || vit_tar_padding(size) > left - size)
        return refuse(t, VIT_ERROR_FORMAT, error,
                      "it would go past the end of the archive: is that truncated?");
    status = take_data(&data, t, size, is_long ? LONGEST_NAME : LONGEST_RECORDS, error);
    if (status == VIT_OK && !is_long) status = take_records(e, t, &data, h.type == 'g', error);
    if (status == VIT_OK && h.type == 'L') {
        e->name.length = 0;
        vit_string_add(&e->name, "%s", data.text);
        if (e->name.failed) status = vit_fail_memory(error, "a name", data.length);
    }
    t->at += VIT_TAR_BLOCK + size + vit_tar_padding(size);
    vit_string_free(&data);
    return status;
}

vit_status vit_tar_next(vit_tar *t, vit_tar_member *out, vit_error *error) {
    extras e = {0};
    bool done = false;
    vit_status status = VIT_OK;
    *out = (vit_tar_member){0};
    while (status == VIT_OK && !done) status = step(t, out, &e, &done, error);
    vit_string_free(&e.name);
    return status;
}

void vit_tar_close(vit_tar *t) {
    vit_string_free(&t->name);
}

/* ---- writing ---- */

/* name = what follows the longest prefix of whole folders that has room; false: there is none. */
static bool split(header *h, const char *name) {
    const size_t length = strlen(name);
    if (length <= sizeof h->name) {
        memcpy(h->name, name, length);
        return true;
    }
    for (size_t i = length - sizeof h->name - 1; i < length && i <= sizeof h->prefix; i++)
        if (name[i] == '/' && i > 0 && i + 1 < length) {
            memcpy(h->prefix, name, i);
            memcpy(h->name, name + i + 1, length - i - 1);
            return true;
        }
    return false;
}

static void put_block(vit_string *out, header *h, char type, uint64_t size) {
    char text[sizeof h->size + 12];
    memcpy(h->mode, "0000644", 8);
    memcpy(h->uid, "0000000", 8);
    memcpy(h->gid, "0000000", 8);
    memcpy(h->mtime, "00000000000", 12);
    snprintf(text, sizeof text, "%011" PRIo64, size);
    memcpy(h->size, text, sizeof h->size);
    memcpy(h->magic,
           "ustar\0"
           "00",
           8);
    h->type = type;
    snprintf(text, sizeof text, "%06" PRIo64, checksum_of(h, false));
    memcpy(h->checksum, text, 7);
    h->checksum[7] = ' ';
    vit_string_add_bytes(out, (const char *)h, sizeof *h);
}

void vit_tar_put_header(vit_string *out, const char *name, uint64_t size) {
    static const char zeros[VIT_TAR_BLOCK] = {0};
    header h = {0};
    if (!split(&h, name)) {
        header before = {.name = "././@LongLink"};
        const size_t length = strlen(name) + 1;
        put_block(out, &before, 'L', length);
        vit_string_add_bytes(out, name, length);
        vit_string_add_bytes(out, zeros, vit_tar_padding(length));
        memcpy(h.name, name, sizeof h.name);
    }
    put_block(out, &h, '0', size);
}
