/* Numbers below a million in words: of one language, to be translated to another ("numbers:en-de"),
 * or alone, for a language model ("numbers:fr").
 *
 * One in a hundred numbers from 100 on, chosen by a hash, is held back for the test, which has each
 * of them once; the others are for training. Half of the training numbers are uniform below a
 * million; for the other half the number of digits, one to six, is uniform, as otherwise nine of
 * ten would have six.
 */
#include "datasets/made/number_words.h"
#include "datasets/reader.h"
#include "vit/base/math.h"
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"

#include <stdio.h>
#include <string.h>

/* Must be changed whenever the set changes: it is part of the checksum. */
#define VERSION 1
#define SEED 1
#define TRAIN_COUNT 200000
#define FIRST_HELD_BACK 100
#define SHARE_HELD_BACK 100 /* one number in this many */

#define PREFIX "numbers:"

/* ---- which numbers ---- */

static bool is_held_back(uint32_t number) {
    vit_random r = vit_random_start(SEED, VIT_RANDOM_NUMBERS, 1, number);
    return number >= FIRST_HELD_BACK && vit_random_below(&r, SHARE_HELD_BACK) == 0;
}

static uint32_t training_number(size_t index) {
    vit_random r = vit_random_start(SEED, VIT_RANDOM_NUMBERS, 0, (uint32_t)index);
    for (;;) {
        uint32_t limit = VIT_NUMBER_LIMIT;
        if (index % 2 == 1)
            for (uint32_t fewer = vit_random_below(&r, 6); fewer > 0; fewer--) limit /= 10;
        const uint32_t first = limit < VIT_NUMBER_LIMIT && limit > 10 ? limit / 10 : 0;
        const uint32_t number = first + vit_random_below(&r, limit - first);
        if (!is_held_back(number)) return number;
    }
}

/* The numbers of the training part, or of the test, freed by vit_free; NULL if there is no memory.
 */
static uint32_t *choose(size_t *count, bool test) {
    size_t next = 0;
    *count = test ? 0 : TRAIN_COUNT;
    for (uint32_t n = 0; n < VIT_NUMBER_LIMIT && test; n++) *count += is_held_back(n);
    uint32_t *numbers = vit_alloc(*count, sizeof *numbers);
    if (!numbers) return NULL;
    for (; next < *count && !test; next++) numbers[next] = training_number(next);
    for (uint32_t n = 0; next < *count; n++)
        if (is_held_back(n)) numbers[next++] = n;
    return numbers;
}

/* The probability of a training number, ignoring that some are held back: half of the mass is
 * uniform; half is divided equally between one to six digits, where six digits stand for all
 * numbers below a million. */
static double probability_of(uint32_t number) {
    uint32_t first = 0, limit = 10;
    while (number >= limit) first = limit, limit *= 10;
    const double all = 1.0 / VIT_NUMBER_LIMIT, same = 1.0 / (double)(limit - first);
    return all / 2 + (all + (limit < VIT_NUMBER_LIMIT ? same : 0)) / 12;
}

/* The mean of -log p per token, over all tokens of the texts. */
static double entropy_of(const vit_texts *texts, const uint32_t *numbers, size_t count) {
    double sum = 0, tokens = 0;
    for (size_t i = 0; i < count; i++) {
        sum -= vit_log(probability_of(numbers[i]));
        tokens += (double)vit_texts_get(texts, i).count + 1;
    }
    return sum / tokens;
}

/* ---- names ---- */

static vit_language language_of(const char *name, size_t length) {
    int l = 0;
    while (l < VIT_LANGUAGE_COUNT && (strlen(vit_language_names[l]) != length ||
                                      strncmp(name, vit_language_names[l], length) != 0))
        l++;
    return (vit_language)l;
}

/* Parses "numbers:A-B", or "numbers:B" with *from = VIT_LANGUAGE_COUNT. */
static bool parse(const char *name, vit_language *from, vit_language *to) {
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) return false;
    const char *first = name + strlen(PREFIX), *dash = strchr(first, '-');
    const char *second = dash ? dash + 1 : first;
    *from = dash ? language_of(first, (size_t)(dash - first)) : VIT_LANGUAGE_COUNT;
    *to = language_of(second, strlen(second));
    return *to < VIT_LANGUAGE_COUNT && (!dash || *from < VIT_LANGUAGE_COUNT);
}

static bool is_called(const char *name) {
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

/* ---- the set ---- */

typedef struct speaker {
    vit_language language;
    const uint32_t *numbers;
} speaker;

static void say(vit_string *text, size_t index, const void *context) {
    const speaker *s = context;
    vit_number_words(text, s->language, s->numbers[index]);
}

static vit_status words(vit_texts *out, size_t *most, const vit_vocabulary *vocabulary,
                        vit_language language, const uint32_t *numbers, size_t count,
                        vit_error *error) {
    const speaker s = {language, numbers};
    size_t reached;
    return vit_texts_encode(out, most, &reached, vocabulary, count, say, &s, error);
}

static vit_status make_part(vit_records *records, vit_dataset *out, bool test, vit_language from,
                            vit_language to, vit_error *error) {
    vit_status status = VIT_OK;
    size_t count;
    uint32_t *numbers = choose(&count, test);
    if (!numbers) return vit_fail_memory(error, "numbers", count * sizeof *numbers);
    if (from < VIT_LANGUAGE_COUNT)
        status = words(&records->source, &out->most_source, &out->source_vocabulary, from, numbers,
                       count, error);
    if (status == VIT_OK)
        status = words(&records->target, &out->most_target, &out->target_vocabulary, to, numbers,
                       count, error);
    records->count = count;
    if (status == VIT_OK && from == VIT_LANGUAGE_COUNT)
        records->entropy = entropy_of(&records->target, numbers, count);
    vit_free(numbers);
    return status;
}

static void describe(vit_dataset *out, const char *name, bool translates) {
    char head[128];
    const int length =
        snprintf(head, sizeof head, "%s %d seed %d count %d", name, VERSION, SEED, TRAIN_COUNT);
    vit_sha256_of(out->checksum, head, (size_t)length);
    snprintf(out->name, sizeof out->name, "%s", name);
    out->preset = translates ? "numbers" : "language";
    out->has_characters = true;
}

static vit_status open_set(vit_dataset *out, const char *name, const vit_dataset_options *options,
                           vit_error *error) {
    const vit_dataset_options o = vit_options_without_val(options);
    vit_language from, to;
    vit_status status = VIT_OK;
    if (!parse(name, &from, &to))
        return vit_fail(error, VIT_ERROR_IO,
                        "%s: expected numbers:A-B, or numbers:B for a language model, with A and B "
                        "each of en, de, fr, fil",
                        name);
    describe(out, name, from < VIT_LANGUAGE_COUNT);
    if (from < VIT_LANGUAGE_COUNT)
        status = vit_number_vocabulary(&out->source_vocabulary, from, error);
    if (status == VIT_OK) status = vit_number_vocabulary(&out->target_vocabulary, to, error);
    if (status == VIT_OK && ((o.need | o.want) & VIT_PART_TRAIN))
        status = make_part(&out->train, out, false, from, to, error);
    if (status == VIT_OK && ((o.need | o.want) & VIT_PART_TEST))
        status = make_part(&out->test, out, true, from, to, error);
    return status;
}

static const char *const names[] = {"numbers:en-de", NULL};
const vit_named_set vit_numbers_sets = {names, is_called, open_set};
