/* Drawn digits like MNIST's (vit/image/digit/ink.h). A picture is a function of (seed, index), to
 * the byte, on every machine.
 */
#include "datasets/made/pen.h"
#include "datasets/reader.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/sha256.h"

#include <stdio.h>
#include <string.h>

/* ---- shapes ---- */

/* A way of writing a digit, chosen with probability weight / (sum of the digit's weights). */
typedef struct shape {
    uint8_t digit, weight;
    vit_control controls[VIT_INK_CONTROLS];
} shape;

/* clang-format off */
static const shape shapes[] = {
    {0, 6, {{M,55,2}, {S,30,14}, {S,19,50}, {S,30,86}, {S,50,98}, {S,72,85}, {S,80,50}, {S,70,14},
            {S,50,2}}},
    {0, 3, {{M,70,12}, {S,50,3}, {S,27,20}, {S,19,55}, {S,32,90}, {S,52,97}, {S,74,78}, {S,79,40},
            {S,64,10}, {S,42,8}}},
    {0, 2, {{M,80,22}, {S,48,16}, {S,10,42}, {S,8,72}, {S,40,84}, {S,84,62}, {S,92,36}, {S,70,18}}},
    {1, 14, {{M,50,0}, {S,50,50}, {S,50,100}}},
    {1, 3, {{M,34,24}, {S,44,14}, {C,54,0}, {S,53,50}, {S,52,100}}},
    {1, 1, {{M,32,24}, {S,44,14}, {C,54,0}, {S,53,50}, {C,52,98}, {M,28,99}, {S,54,98}, {S,80,98}}},
    {2, 5, {{M,22,24}, {S,32,6}, {S,55,0}, {S,75,14}, {S,72,38}, {S,48,68}, {C,20,97}, {S,50,96},
            {S,86,94}}},
    {2, 6, {{M,22,20}, {S,40,3}, {S,64,4}, {S,75,24}, {S,65,55}, {S,42,84}, {S,22,96}, {S,13,86},
            {S,26,76}, {S,48,87}, {S,70,96}, {S,92,88}}},
    {2, 2, {{M,18,12}, {S,45,1}, {S,70,10}, {S,70,34}, {S,46,70}, {S,28,92}, {S,52,98},
            {S,88,92}}},
    {2, 4, {{M,28,16}, {S,48,0}, {S,68,12}, {S,64,44}, {S,44,76}, {S,20,88}, {S,10,76}, {S,26,66},
            {S,52,80}, {S,86,100}}},
    {2, 3, {{M,48,50}, {S,24,40}, {S,26,12}, {S,52,0}, {S,74,16}, {S,70,48}, {S,46,80}, {C,16,96},
            {S,40,84}, {S,90,96}}},
    {3, 5, {{M,24,12}, {S,45,0}, {S,69,8}, {S,71,28}, {S,57,42}, {C,40,46}, {S,62,50}, {S,77,68},
            {S,70,90}, {S,45,100}, {S,19,90}}},
    {3, 4, {{M,25,8}, {S,50,0}, {S,70,12}, {S,65,32}, {S,46,45}, {S,58,50}, {S,74,64}, {S,70,88},
            {S,46,100}, {S,20,93}}},
    {3, 1, {{M,24,4}, {S,48,3}, {C,74,3}, {S,60,22}, {C,44,40}, {S,66,48}, {S,76,70}, {S,64,93},
            {S,40,99}, {S,18,88}}},
    {4, 6, {{M,30,4}, {S,25,26}, {C,19,52}, {S,50,53}, {S,84,50}, {M,72,0}, {S,67,50}, {S,62,100}}},
    {4, 4, {{M,26,4}, {S,19,32}, {S,30,50}, {S,54,50}, {S,74,40}, {M,78,0}, {S,72,50}, {S,66,100}}},
    {4, 3, {{M,88,66}, {S,50,66}, {C,12,66}, {S,36,34}, {C,62,0}, {S,62,50}, {S,60,100}}},
    {4, 2, {{M,22,6}, {S,20,36}, {S,38,52}, {S,60,44}, {C,76,4}, {S,70,50}, {S,64,100}}},
    {5, 5, {{M,78,2}, {S,54,4}, {C,32,5}, {S,29,24}, {C,25,45}, {S,48,40}, {S,72,52}, {S,74,76},
            {S,54,97}, {S,18,92}}},
    {5, 3, {{M,34,6}, {S,30,26}, {C,27,44}, {S,50,42}, {S,72,55}, {S,71,78}, {S,50,97}, {S,18,90},
            {M,34,5}, {S,56,4}, {S,82,0}}},
    {5, 4, {{M,84,2}, {S,56,4}, {S,36,14}, {S,36,34}, {S,56,48}, {S,68,66}, {S,60,88}, {S,40,98},
            {S,14,90}}},
    {5, 4, {{M,98,3}, {S,66,8}, {C,42,12}, {C,31,44}, {S,56,46}, {S,61,72}, {S,40,96}, {S,8,90}}},
    {6, 5, {{M,64,0}, {S,40,22}, {S,24,56}, {S,28,85}, {S,48,99}, {S,70,90}, {S,74,70}, {S,58,55},
            {S,38,62}, {S,26,80}}},
    {6, 5, {{M,42,0}, {S,28,34}, {S,23,70}, {S,34,95}, {S,58,98}, {S,76,82}, {S,68,64}, {S,48,60},
            {S,28,76}}},
    {6, 2, {{M,72,8}, {S,54,2}, {S,34,22}, {S,22,58}, {S,32,92}, {S,56,98}, {S,74,80}, {S,62,62},
            {S,40,64}, {S,27,76}}},
    {6, 4, {{M,46,0}, {S,24,36}, {S,14,74}, {S,34,97}, {S,62,97}, {S,82,76}, {S,70,56}, {S,46,62},
            {S,34,86}}},
    {6, 4, {{M,40,0}, {S,28,42}, {S,24,84}, {S,46,99}, {S,76,88}, {S,76,62}, {S,54,54}, {S,24,72}}},
    {6, 4, {{M,30,0}, {S,16,34}, {S,12,70}, {S,28,97}, {S,58,92}, {S,76,60}, {S,64,40}, {S,48,58},
            {S,44,82}}},
    {7, 5, {{M,18,8}, {S,48,6}, {C,80,4}, {S,60,46}, {S,44,100}}},
    {7, 4, {{M,14,12}, {S,42,5}, {S,70,5}, {S,77,18}, {S,58,55}, {S,46,100}}},
    {7, 4, {{M,14,30}, {C,18,7}, {S,48,6}, {C,80,4}, {S,62,46}, {S,50,100}}},
    {7, 3, {{M,18,8}, {S,48,6}, {C,78,4}, {S,60,46}, {S,44,100}, {M,34,54}, {S,56,51}, {S,80,48}}},
    {8, 6, {{M,72,14}, {S,50,0}, {S,29,14}, {S,35,34}, {S,55,50}, {S,73,70}, {S,67,92}, {S,46,100},
            {S,27,88}, {S,30,68}, {S,50,48}, {S,69,30}, {S,71,10}}},
    {8, 3, {{M,50,48}, {S,31,32}, {S,34,9}, {S,52,0}, {S,69,12}, {S,67,32}, {S,48,50}, {S,29,70},
            {S,32,92}, {S,50,100}, {S,70,88}, {S,70,66}, {S,52,49}}},
    {8, 4, {{M,90,8}, {S,62,1}, {S,38,12}, {S,36,32}, {S,54,50}, {S,66,72}, {S,52,98}, {S,34,88},
            {S,42,62}, {S,60,42}, {S,86,12}}},
    {9, 5, {{M,73,16}, {S,52,2}, {S,29,14}, {S,24,36}, {S,42,50}, {S,64,38}, {C,75,10}, {S,70,55},
            {S,62,100}}},
    {9, 4, {{M,70,14}, {S,50,2}, {S,28,16}, {S,27,40}, {S,46,48}, {S,66,34}, {S,74,12}, {S,74,50},
            {S,60,100}}},
    {9, 2, {{M,74,18}, {S,52,2}, {S,29,14}, {S,25,36}, {S,44,48}, {S,66,36}, {C,75,12}, {S,76,50},
            {S,66,86}, {S,42,99}, {S,22,90}}},
    {9, 3, {{M,68,8}, {S,44,6}, {S,26,24}, {S,34,40}, {S,56,34}, {C,72,6}, {S,68,50}, {S,56,100}}},
    {9, 2, {{M,62,4}, {S,40,2}, {S,18,22}, {S,18,46}, {S,44,56}, {S,66,36}, {C,70,4}, {S,68,52},
            {S,66,100}}},
};
/* clang-format on */
#define SHAPES (sizeof shapes / sizeof *shapes)

static const shape *choose_shape(uint8_t digit, vit_random *r) {
    uint32_t total = 0;
    for (size_t i = 0; i < SHAPES; i++)
        if (shapes[i].digit == digit) total += shapes[i].weight;
    uint32_t left = vit_random_below(r, total);
    for (size_t i = 0;; i++) {
        if (shapes[i].digit != digit) continue;
        if (left < shapes[i].weight) return &shapes[i];
        left -= shapes[i].weight;
    }
}

uint8_t vit_digits_draw(uint8_t *pixels, uint64_t seed, uint32_t index) {
    vit_random r = vit_random_start(seed, VIT_RANDOM_DIGITS, 0, index);
    uint8_t digit = (uint8_t)(index % 10);
    vit_hand h = vit_hand_draw(&r);
    vit_hand_write(pixels, choose_shape(digit, &r)->controls, &h, &r);
    return digit;
}

/* ---- the set ---- */

/* Must be changed whenever the pictures change: it is part of the checksum. */
#define VERSION 1

#define TRAIN_SEED 1
#define TRAIN_COUNT 20000
#define TEST_SEED 2
#define TEST_COUNT 2000
#define FEWEST 10
#define MOST 1000000

static vit_status draw_part(vit_records *records, uint32_t seed, uint32_t count, char checksum[65],
                            vit_error *error) {
    vit_sha256 hash;
    records->pixels = vit_alloc(count, VIT_INK_PIXELS);
    records->labels = vit_alloc(count, sizeof *records->labels);
    if (!records->pixels || !records->labels)
        return vit_fail_memory(error, "digits", (size_t)count * (VIT_INK_PIXELS + 2));
    for (uint32_t i = 0; i < count; i++)
        records->labels[i] = vit_digits_draw(records->pixels + (size_t)i * VIT_INK_PIXELS, seed, i);
    records->count = count;
    if (*checksum != 0) return VIT_OK; /* it is that of the training part, if that is read */
    char head[64];
    int length = snprintf(head, sizeof head, "digits %d seed %u count %u\n", VERSION, seed, count);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, head, (size_t)length);
    vit_sha256_add(&hash, records->pixels, (size_t)count * VIT_INK_PIXELS);
    vit_sha256_hex(&hash, checksum);
    return VIT_OK;
}

static const char digits[] = "digits";

/* Whether the name is "digits" or begins with "digits:". */
static bool is_called(const char *name) {
    const size_t length = sizeof digits - 1;
    return strncmp(name, digits, length) == 0 && (name[length] == ':' || name[length] == '\0');
}

/* The set of drawn digits, the same everywhere: 20,000 pictures for training, of "digits:N" N, the
 * first of them the same; 2,000 for testing. */
static vit_status open_set(vit_dataset *out, const char *name, const vit_dataset_options *options,
                           vit_error *error) {
    const vit_dataset_options o = vit_options_without_val(options);
    const unsigned parts = o.need | o.want;
    vit_status status = VIT_OK;
    uint64_t count = TRAIN_COUNT;
    if (name[sizeof digits - 1] == ':' &&
        (!vit_parse_u64(name + sizeof digits, &count) || count < FEWEST || count > MOST))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s: expected digits:N for N drawn digits, from %d to %d", name, FEWEST,
                        MOST);
    snprintf(out->name, sizeof out->name, "%s", name);
    out->preset = "digits";
    out->is_digits = out->has_characters = true;
    out->height = out->width = VIT_INK_SIDE;
    out->channels = 1;
    out->classes = 10;
    /* Those of the training part, as constants, since the test part may be read alone. */
    out->mean[0] = 0.1271f;
    out->std[0] = 0.3023f;
    if (parts & VIT_PART_TRAIN)
        status = draw_part(&out->train, TRAIN_SEED, (uint32_t)count, out->checksum, error);
    if (status == VIT_OK && (parts & VIT_PART_TEST))
        status = draw_part(&out->test, TEST_SEED, TEST_COUNT, out->checksum, error);
    return status;
}

static const char *const names[] = {"digits", NULL};
const vit_named_set vit_digits_sets = {names, is_called, open_set};
