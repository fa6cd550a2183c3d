#include "vit/cli/train/seeds.h"

#include <stdio.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/base/text.h"

static bool holds(const vit_seeds *seeds, uint64_t value) {
    for (size_t i = 0; i < seeds->count; i++)
        if (seeds->values[i] == value) return true;
    return false;
}

vit_status vit_seeds_parse(vit_seeds *out, const char *text, vit_error *error) {
    bool fine = true;
    *out = (vit_seeds){0};
    for (const char *at = text; fine && at; at = strchr(at, ',')) {
        char word[32];
        at += at != text; /* the comma */
        const size_t length = strcspn(at, ",");
        fine = length < sizeof word && out->count < VIT_MOST_SEEDS;
        if (!fine) break;
        memcpy(word, at, length);
        word[length] = '\0';
        fine =
            vit_parse_u64(word, &out->values[out->count]) && !holds(out, out->values[out->count]);
        out->count++;
    }
    if (fine && out->count > 1) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "--seeds: \"%.100s\": expected 2 to %d whole numbers, each once, as in 0,1,2",
                    text, VIT_MOST_SEEDS);
}

static vit_status no_memory(vit_error *error) {
    return vit_fail_memory(error, "the names of the seeds' files", 0);
}

vit_status vit_seed_file(char **out, const char *path, uint64_t seed, vit_error *error) {
    vit_string name = {0};
    *out = NULL;
    if (!path) return VIT_OK;
    const char *file = vit_path_last(path), *dot = strrchr(file, '.');
    const size_t stem = dot && dot > file ? (size_t)(dot - path) : strlen(path);
    vit_string_add_bytes(&name, path, stem);
    vit_string_add(&name, "-seed%llu%s", (unsigned long long)seed, path + stem);
    *out = name.text;
    return name.failed ? no_memory(error) : VIT_OK;
}

vit_status vit_seed_directory(char **out, const char *path, uint64_t seed, vit_error *error) {
    char name[32];
    *out = NULL;
    if (!path) return VIT_OK;
    snprintf(name, sizeof name, "seed%llu", (unsigned long long)seed);
    *out = vit_path_join(path, name);
    return *out ? VIT_OK : no_memory(error);
}
