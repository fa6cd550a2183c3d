/* Choosing the files of a tokenizer; tokenizer_json.c, sentencepiece.c and tokenizer_files.c read
 * them. */
#include "vit/text/tokenizer/tokenizer.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/tokenizer/tokenizer_files.h"
#include <string.h>

void vit_tokenizer_free(vit_tokenizer *t) {
    for (size_t i = 0; i < t->block_count; i++) vit_free(t->blocks[i]);
    vit_free(t->blocks);
    vit_free(t->slots);
    vit_free(t->tokens);
    vit_encoder_free(t->encoder);
    *t = (vit_tokenizer){.pad = VIT_NO_ID};
}

/* ---- files ---- */

#define XLMR_NAME "sentencepiece.bpe.model"
#define SPIECE_NAME "spiece.model"
typedef vit_status read_function(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                 vit_error *error);

static vit_status read_xlmr(vit_tokenizer *out, const vit_bytes *b, const char *name,
                            vit_error *error) {
    return vit_tokenizer_read_spm(out, b->data, b->size, true, name, error);
}

static vit_status read_sentencepiece(vit_tokenizer *out, const vit_bytes *b, const char *name,
                                     vit_error *error) {
    return vit_tokenizer_read_spm(out, b->data, b->size, false, name, error);
}

/* Files that hold a vocabulary. */
static const struct vocabulary_file {
    const char *name;
    read_function *reader;
} vocabulary_files[] = {{"tokenizer.json", vit_tokenizer_read_whole},
                        {"vocab.json", vit_tokenizer_read_vocab_json},
                        {XLMR_NAME, read_xlmr},
                        {SPIECE_NAME, read_sentencepiece},
                        {"sentencepiece.model", read_sentencepiece},
                        {"tokenizer.model", read_sentencepiece},
                        {"vocab.txt", vit_tokenizer_read_vocab_txt}};

/* Reads the file `name` of the directory, if it is there. */
static vit_status read_file(bool *found, vit_tokenizer *out, const char *directory,
                            const char *name, read_function *reader, vit_error *error) {
    vit_bytes bytes = {0};
    char *path = vit_path_join(directory, name);
    if (!path) return vit_fail_memory(error, "a path", strlen(directory) + strlen(name) + 2);
    vit_status status = vit_path_exists(found, path, error);
    if (status == VIT_OK && *found) {
        status = vit_read_file(&bytes, path, VIT_TOKENIZER_MOST, error);
        if (status == VIT_OK) status = reader(out, &bytes, path, error);
        vit_free(bytes.data);
    }
    vit_free(path);
    return status;
}

static vit_status no_tokenizer(const char *directory, vit_error *error) {
    return vit_fail(error, VIT_ERROR_IO,
                    "%s: holds no tokenizer, which texts are read and written with: "
                    "expected tokenizer.json, vocab.json, " XLMR_NAME ", " SPIECE_NAME
                    " or vocab.txt, as they are published with the weights",
                    directory);
}

/* Reads the first of the files that hold a vocabulary; *file is which. */
static vit_status read_vocabulary(vit_tokenizer *out, size_t *file, const char *directory,
                                  vit_error *error) {
    bool found = false;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < VIT_COUNT(vocabulary_files) && !found && status == VIT_OK; i++) {
        status = read_file(&found, out, directory, vocabulary_files[i].name,
                           vocabulary_files[i].reader, error);
        *file = i;
    }
    return status == VIT_OK && !found ? no_tokenizer(directory, error) : status;
}

static vit_status read_beside(vit_tokenizer *out, const char *directory, vit_error *error) {
    static const struct vocabulary_file files[] = {
        {"added_tokens.json", vit_tokenizer_read_added},
        {"special_tokens_map.json", vit_tokenizer_read_special},
        {"tokenizer_config.json", vit_tokenizer_read_config}};
    vit_status status = VIT_OK;
    bool found;
    for (size_t i = 0; i < VIT_COUNT(files) && status == VIT_OK; i++)
        status = read_file(&found, out, directory, files[i].name, files[i].reader, error);
    return status;
}

/* ---- for encoding ---- */

/* The object of a JSON file in the directory; NULL if there is no such file. */
static vit_status read_object(json_t **out, const char *directory, const char *name,
                              vit_error *error) {
    vit_bytes bytes = {0};
    bool found;
    char *path = vit_path_join(directory, name);
    *out = NULL;
    if (!path) return vit_fail_memory(error, "a path", strlen(directory) + strlen(name) + 2);
    vit_status status = vit_path_exists(&found, path, error);
    if (status == VIT_OK && found) {
        status = vit_read_file(&bytes, path, VIT_TOKENIZER_MOST, error);
        if (status == VIT_OK)
            status = vit_json_parse_reals(out, (const char *)bytes.data, bytes.size, path, error);
        vit_free(bytes.data);
    }
    vit_free(path);
    return status;
}

/* What tokenizer.json says by itself, other files say through the name of a class. */
static vit_status read_class(vit_tokenizer *t, const char *directory, const char *name,
                             vit_error *error) {
    json_t *config = NULL, *map = NULL, *model = NULL;
    bool found = true;
    vit_status status = VIT_OK;
    if (strcmp(name, "vocab.json") == 0)
        status = read_file(&found, t, directory, "merges.txt", vit_tokenizer_read_merges, error);
    if (status == VIT_OK && !found)
        status = vit_fail(error, VIT_ERROR_IO,
                          "%s: holds vocab.json, but no merges.txt, which texts are encoded with",
                          directory);
    if (status == VIT_OK) status = read_object(&config, directory, "tokenizer_config.json", error);
    if (status == VIT_OK) status = read_object(&map, directory, "special_tokens_map.json", error);
    if (status == VIT_OK) status = read_object(&model, directory, "config.json", error);
    if (status == VIT_OK) {
        const vit_class_files files = {name, config, map, model};
        status = vit_encoder_of_class(t, &files, directory, error);
    }
    json_decref(config);
    json_decref(map);
    json_decref(model);
    return status;
}

static vit_status load_directory(vit_tokenizer *out, const char *directory, vit_error *error) {
    size_t file;
    vit_status status = read_vocabulary(out, &file, directory, error);
    if (status == VIT_OK) status = read_beside(out, directory, error);
    if (status == VIT_OK && out->encoder && file > 0)
        status = read_class(out, directory, vocabulary_files[file].name, error);
    return status;
}

vit_status vit_tokenizer_open(vit_tokenizer *out, const char *directory, vit_error *error) {
    *out = (vit_tokenizer){.pad = VIT_NO_ID};
    const vit_status status = load_directory(out, directory, error);
    if (status != VIT_OK) vit_tokenizer_free(out);
    return status;
}

/* vocab.json and vocab.txt say what they are with the files beside them; any other file is a
 * tokenizer by itself. */
static vit_status load_file(vit_tokenizer *out, const char *path, vit_error *error) {
    const char *name = vit_path_last(path);
    vit_bytes bytes = {0};
    if (strcmp(name, "vocab.json") == 0 || strcmp(name, "vocab.txt") == 0) {
        const size_t length = (size_t)(name - path);
        char *directory = vit_strdup(length > 0 ? path : "./");
        if (!directory) return vit_fail_memory(error, "a path", strlen(path));
        if (length > 0) directory[length] = 0;
        bool found;
        vit_status status =
            read_file(&found, out, directory, name,
                      strcmp(name, "vocab.json") == 0 ? vit_tokenizer_read_vocab_json
                                                      : vit_tokenizer_read_vocab_txt,
                      error);
        if (status == VIT_OK) status = read_beside(out, directory, error);
        if (status == VIT_OK) status = read_class(out, directory, name, error);
        vit_free(directory);
        return status;
    }
    vit_status status = vit_read_file(&bytes, path, VIT_TOKENIZER_MOST, error);
    if (status == VIT_OK)
        status = vit_has_ending(name, ".json")
                     ? vit_tokenizer_read_whole(out, &bytes, path, error)
                     : vit_tokenizer_read_spm(out, bytes.data, bytes.size, false, path, error);
    vit_free(bytes.data);
    return status;
}

vit_status vit_tokenizer_load(vit_tokenizer *out, const char *path, vit_error *error) {
    *out = (vit_tokenizer){.pad = VIT_NO_ID, .encoder = vit_encoder_new()};
    if (!out->encoder) return vit_fail_memory(error, path, sizeof *out->encoder);
    const vit_status status = vit_path_look(path) == VIT_PATH_DIRECTORY
                                  ? load_directory(out, path, error)
                                  : load_file(out, path, error);
    if (status != VIT_OK) vit_tokenizer_free(out);
    return status;
}

vit_status vit_tokenizer_new(vit_tokenizer **out, const char *directory, bool decodes,
                             vit_error *error) {
    *out = vit_alloc(1, sizeof **out);
    if (!*out) return vit_fail_memory(error, "a tokenizer", sizeof **out);
    return decodes ? vit_tokenizer_open(*out, directory, error)
                   : vit_tokenizer_load(*out, directory, error);
}

void vit_tokenizer_delete(vit_tokenizer *t) {
    if (t) vit_tokenizer_free(t);
    vit_free(t);
}

size_t vit_tokenizer_ids(const vit_tokenizer *t) {
    size_t last = t->count;
    while (last > 0 && !t->tokens[last - 1].text) last--;
    return last;
}
