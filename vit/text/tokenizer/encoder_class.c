/* How tokenizers encode whose files have a vocabulary alone: as transformers' classes say. The
 * rules are written as tokenizer.json has them, and read by its reader. */
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/tokenizer/tokenizer_files.h"
#include "vit/text/tokenizer/tokens.h"
#include <string.h>

typedef struct class_reader {
    vit_tokenizer *t;
    const vit_class_files *files;
    const char *name;
    vit_error *error;
} class_reader;

/* ---- special tokens ---- */

/* The text of the token that the files name by `key`, such as "eos_token", or `usual`. */
static const char *token_named(const class_reader *r, const char *key, const char *usual) {
    const char *text = vit_token_content(json_object_get(r->files->config, key));
    if (!text) text = vit_token_content(json_object_get(r->files->map, key));
    return text ? text : usual;
}

/* Its id; FORMAT if the vocabulary has none. */
static vit_status find_named(uint32_t *id, const class_reader *r, const char *key,
                             const char *usual) {
    const char *text = token_named(r, key, usual);
    *id = vit_tokens_look(r->t, text);
    if (*id == VIT_NO_ID)
        return vit_fail(r->error, VIT_ERROR_FORMAT, "%s: its %s \"%.60s\" is not in the vocabulary",
                        r->name, key, text);
    return VIT_OK;
}

/* Makes the tokens special that the files name, or that the class has. */
static void mark_named(const class_reader *r, const char *bos, const char *eos, const char *unknown,
                       const char *pad, const char *mask) {
    vit_tokens_mark(r->t, token_named(r, "bos_token", bos));
    vit_tokens_mark(r->t, token_named(r, "cls_token", bos));
    vit_tokens_mark(r->t, token_named(r, "eos_token", eos));
    vit_tokens_mark(r->t, token_named(r, "sep_token", eos));
    vit_tokens_mark(r->t, token_named(r, "unk_token", unknown));
    vit_tokens_mark(r->t, token_named(r, "pad_token", pad));
    vit_tokens_mark(r->t, token_named(r, "mask_token", mask));
}

/* A token that is found in texts: as added_tokens_decoder describes it, if it does. */
static vit_status add_token(const class_reader *r, uint32_t id) {
    const vit_token *token = &r->t->tokens[id];
    char key[16];
    const char *digits = vit_format_double((char[32]){0}, id);
    memcpy(key, digits, vit_min(strlen(digits) + 1, sizeof key));
    const json_t *known =
        json_object_get(json_object_get(r->files->config, "added_tokens_decoder"), key);
    const vit_added added = {
        .text = token->text,
        .length = token->length,
        .id = id,
        .single_word = json_is_true(json_object_get(known, "single_word")),
        .left = json_is_true(json_object_get(known, "lstrip")),
        .right = json_is_true(json_object_get(known, "rstrip")),
        .normalised = known ? json_is_true(json_object_get(known, "normalized")) : !token->special};
    for (size_t i = 0; i < r->t->encoder->added_count; i++)
        if (r->t->encoder->added[i].id == id) return VIT_OK;
    return vit_added_put(r->t, added, r->error);
}

/* Special tokens, and those of added_tokens.json, are found in texts. */
static vit_status add_tokens(const class_reader *r) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < r->t->count && status == VIT_OK; i++)
        if (r->t->tokens[i].text && r->t->tokens[i].literal) status = add_token(r, (uint32_t)i);
    vit_added_close(r->t);
    return status;
}

/* Reads rules as those of a tokenizer.json. */
static vit_status read_rules(const class_reader *r, vit_string *json) {
    json_t *root = NULL;
    vit_status status = VIT_OK;
    if (json->failed) status = vit_fail_memory(r->error, r->name, json->capacity);
    if (status == VIT_OK)
        status = vit_json_parse(&root, json->text, json->length, r->name, r->error);
    if (status == VIT_OK) status = vit_encoder_read_json(r->t, root, r->name, r->error);
    json_decref(root);
    vit_string_free(json);
    return status;
}

static vit_status take_rules(const class_reader *r, vit_string *json) {
    const vit_status status = read_rules(r, json);
    return status == VIT_OK ? add_tokens(r) : status;
}

static void add_around(vit_string *json, uint32_t before, uint32_t after) {
    vit_string_add(json,
                   ", \"post_processor\": {\"type\": \"RobertaProcessing\", "
                   "\"cls\": [\"\", %u], \"sep\": [\"\", %u]}}",
                   before, after);
}

/* ---- classes ---- */

static vit_status read_clip(const class_reader *r) {
    uint32_t bos, eos;
    vit_string json = {0};
    vit_status status = find_named(&bos, r, "bos_token", "<|startoftext|>");
    if (status == VIT_OK) status = find_named(&eos, r, "eos_token", "<|endoftext|>");
    if (status != VIT_OK) return status;
    mark_named(r, "<|startoftext|>", "<|endoftext|>", NULL, NULL, NULL);
    if (r->t->pad == VIT_NO_ID) r->t->pad = eos;
    vit_string_add(&json, "{\"model\": {\"type\": \"BPE\", \"end_of_word_suffix\": \"</w>\", "
                          "\"unk_token\": ");
    vit_string_add_json(&json, token_named(r, "unk_token", "<|endoftext|>"));
    vit_string_add(&json,
                   "}, \"normalizer\": {\"type\": \"Sequence\", \"normalizers\": ["
                   "{\"type\": \"NFC\"}, {\"type\": \"Replace\", \"pattern\": {\"Regex\": "
                   "\"\\\\s+\"}, \"content\": \" \"}, {\"type\": \"Lowercase\"}]}, "
                   "\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": ["
                   "{\"type\": \"Split\", \"behavior\": \"Removed\", \"invert\": true, "
                   "\"pattern\": {\"Regex\": \"<\\\\|startoftext\\\\|>|<\\\\|endoftext\\\\|>|"
                   "'s|'t|'re|'ve|'m|'ll|'d|[\\\\p{L}]+|[\\\\p{N}]|[^\\\\s\\\\p{L}\\\\p{N}]+\"}}, "
                   "{\"type\": \"ByteLevel\", \"add_prefix_space\": false}]}");
    add_around(&json, bos, eos);
    return take_rules(r, &json);
}

bool vit_tokenizer_is_clip(const vit_tokenizer *t) {
    const vit_encoder *e = t->encoder;
    return e && e->kind == VIT_ENCODER_BPE && e->suffix && strcmp(e->suffix, "</w>") == 0;
}

/* Takes out all rules; the vocabulary and what is merged stay. */
static void forget_rules(vit_encoder *e) {
    vit_rules_free(&e->normalisers);
    vit_rules_free(&e->splitters);
    for (size_t i = 0; i < e->added_count; i++)
        if (e->added[i].normalised) vit_free((void *)(uintptr_t)e->added[i].text);
    vit_free(e->suffix);
    e->suffix = NULL;
    e->added_count = e->raw_count = 0;
    e->before.count = e->after.count = 0;
    e->most = 0;
    e->cuts_left = e->after_once = false;
}

/* Its expression looks at characters in any case: there U+017F is an s, and U+0345 an iota, which
 * no part of it matches. */
vit_status vit_tokenizer_read_as_open_clip(vit_tokenizer *t, const char *name, vit_error *error) {
    const vit_class_files none = {0};
    const class_reader r = {t, &none, name, error};
    uint32_t bos, eos;
    vit_string json = {0};
    vit_status status = find_named(&bos, &r, "bos_token", "<|startoftext|>");
    if (status == VIT_OK) status = find_named(&eos, &r, "eos_token", "<|endoftext|>");
    if (status != VIT_OK) return status;
    forget_rules(t->encoder);
    vit_string_add(&json,
                   "{\"model\": {\"type\": \"BPE\", \"end_of_word_suffix\": \"</w>\"}, "
                   "\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": ["
                   "{\"type\": \"Split\", \"behavior\": \"Removed\", \"invert\": true, "
                   "\"pattern\": {\"Regex\": \"'[s\xc5\xbf]|'t|'re|'ve|'m|'ll|'d|[\\\\p{L}]+|"
                   "[\\\\p{N}]|[^\\\\s\\\\p{L}\\\\p{N}\xcd\x85]+\"}}, "
                   "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": "
                   "false}]}");
    add_around(&json, bos, eos);
    return read_rules(&r, &json);
}

/* GPT-2's, and RoBERTa's with <s> and </s> around a text. */
static void add_bytes_rules(vit_string *json, const class_reader *r) {
    const bool prefix = json_is_true(json_object_get(r->files->config, "add_prefix_space"));
    vit_string_add(json,
                   "{\"model\": {\"type\": \"BPE\"}, \"pre_tokenizer\": {\"type\": \"ByteLevel\", "
                   "\"add_prefix_space\": %s}",
                   prefix ? "true" : "false");
}

static vit_status read_gpt2(const class_reader *r) {
    vit_string json = {0};
    mark_named(r, "<|endoftext|>", NULL, NULL, NULL, NULL);
    add_bytes_rules(&json, r);
    vit_string_add(&json, "}");
    return take_rules(r, &json);
}

static vit_status read_roberta(const class_reader *r) {
    uint32_t cls, sep;
    vit_string json = {0};
    vit_status status = find_named(&cls, r, "cls_token", "<s>");
    if (status == VIT_OK) status = find_named(&sep, r, "sep_token", "</s>");
    if (status != VIT_OK) return status;
    if (r->t->pad == VIT_NO_ID) r->t->pad = vit_tokens_look(r->t, "<pad>");
    mark_named(r, "<s>", "</s>", "<unk>", "<pad>", "<mask>");
    add_bytes_rules(&json, r);
    add_around(&json, cls, sep);
    return take_rules(r, &json);
}

static vit_status read_bert(const class_reader *r) {
    const json_t *config = r->files->config;
    const json_t *accents = json_object_get(config, "strip_accents");
    const json_t *lower = json_object_get(config, "do_lower_case");
    const json_t *chinese = json_object_get(config, "tokenize_chinese_chars");
    uint32_t cls, sep;
    vit_string json = {0};
    vit_status status = find_named(&cls, r, "cls_token", "[CLS]");
    if (status == VIT_OK) status = find_named(&sep, r, "sep_token", "[SEP]");
    if (status != VIT_OK) return status;
    if (r->t->pad == VIT_NO_ID) r->t->pad = vit_tokens_look(r->t, "[PAD]");
    mark_named(r, "[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]");
    vit_string_add(&json, "{\"model\": {\"type\": \"WordPiece\", \"continuing_subword_prefix\": "
                          "\"##\", \"unk_token\": ");
    vit_string_add_json(&json, token_named(r, "unk_token", "[UNK]"));
    vit_string_add(&json,
                   "}, \"normalizer\": {\"type\": \"BertNormalizer\", \"clean_text\": true, "
                   "\"handle_chinese_chars\": %s, \"lowercase\": %s, \"strip_accents\": %s}, "
                   "\"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}",
                   json_is_false(chinese) ? "false" : "true",
                   json_is_false(lower) ? "false" : "true",
                   json_is_true(accents)    ? "true"
                   : json_is_false(accents) ? "false"
                                            : "null");
    add_around(&json, cls, sep);
    return take_rules(r, &json);
}

/* fairseq's numbers, and the steps of the library tokenizers. */
static vit_status read_xlmr(const class_reader *r) {
    vit_encoder *e = r->t->encoder;
    uint32_t bos, eos;
    vit_string json = {0};
    if (strcmp(r->files->vocabulary, "sentencepiece.bpe.model") != 0 ||
        e->kind != VIT_ENCODER_UNIGRAM)
        return vit_fail(r->error, VIT_ERROR_UNSUPPORTED,
                        "%s: an XLMRobertaTokenizer is expected as sentencepiece.bpe.model, with "
                        "a unigram model",
                        r->name);
    e->scores = vit_alloc(r->t->count, sizeof *e->scores);
    if (!e->scores) return vit_fail_memory(r->error, r->name, r->t->count * sizeof *e->scores);
    for (size_t i = 0; i < r->t->count; i++)
        if (r->t->tokens[i].text) {
            e->scores[i] = e->types[i] == VIT_PIECE_NORMAL ? (double)e->rounded[i] : 0;
            e->score_count = i + 1;
        }
    vit_free(e->rounded);
    vit_free(e->types);
    e->rounded = NULL;
    e->types = NULL;
    mark_named(r, "<s>", "</s>", "<unk>", "<pad>", "<mask>");
    e->normalisers.list[0].kind = VIT_RULE_CHARSMAP;
    vit_status status = vit_unigram_prepare(r->t, r->name, r->error);
    if (status == VIT_OK) status = find_named(&bos, r, "bos_token", "<s>");
    if (status == VIT_OK) status = find_named(&eos, r, "eos_token", "</s>");
    if (status != VIT_OK) return status;
    if (r->t->pad == VIT_NO_ID) r->t->pad = 1;
    vit_string_add(&json,
                   "{\"model\": {\"type\": \"Unigram\", \"unk_id\": %u}, "
                   "\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": ["
                   "{\"type\": \"WhitespaceSplit\"}, {\"type\": \"Metaspace\", "
                   "\"replacement\": \"\xe2\x96\x81\", \"prepend_scheme\": \"always\"}]}",
                   e->unknown);
    add_around(&json, bos, eos);
    return take_rules(r, &json);
}

/* How many ids the unknown token has that SigLIP puts in front of a text, as text. */
static vit_status count_leading(const class_reader *r, const char *unknown) {
    vit_string text = {0};
    vit_ids_list ids = {0};
    vit_encoder *e = r->t->encoder;
    const vit_rule *rule = &e->normalisers.list[1];
    vit_status status = vit_normalise_by(&text, r->t, rule, unknown, strlen(unknown), r->error);
    if (status == VIT_OK) status = vit_encode_unigram(&ids, r->t, text.text, text.length, r->error);
    e->leading = ids.count;
    vit_free(ids.ids);
    vit_string_free(&text);
    return status;
}

/* SigLIP cleans texts, then the library sentencepiece encodes them behind the unknown token; </s>
 * stands at the end. */
static vit_status read_siglip(const class_reader *r) {
    vit_encoder *e = r->t->encoder;
    const json_t *lower = json_object_get(r->files->config, "do_lower_case");
    uint32_t eos;
    vit_status status = find_named(&eos, r, "eos_token", "</s>");
    if (status != VIT_OK) return status;
    if (e->kind != VIT_ENCODER_UNIGRAM)
        return vit_fail(r->error, VIT_ERROR_UNSUPPORTED,
                        "%s: a SiglipTokenizer is expected as a unigram model", r->name);
    if (r->t->pad == VIT_NO_ID) r->t->pad = eos;
    if (!vit_rules_add(&e->normalisers, VIT_RULE_SIGLIP, r->error)) return VIT_ERROR_MEMORY;
    e->normalisers.list[1] = e->normalisers.list[0];
    e->normalisers.list[0] = (vit_rule){.kind = VIT_RULE_SIGLIP,
                                        .content = vit_strdup(token_named(r, "unk_token", "<unk>")),
                                        .lower = !json_is_false(lower)};
    if (!e->normalisers.list[0].content) return vit_fail_memory(r->error, r->name, 8);
    status = count_leading(r, e->normalisers.list[0].content);
    if (status != VIT_OK) return status;
    e->after_once = true;
    mark_named(r, NULL, "</s>", "<unk>", "</s>", NULL);
    for (size_t i = 0; i < r->t->count && status == VIT_OK; i++)
        if (r->t->tokens[i].text && r->t->tokens[i].literal) {
            const vit_token *token = &r->t->tokens[i];
            status = vit_added_put(r->t,
                                   (vit_added){.text = token->text,
                                               .length = token->length,
                                               .id = (uint32_t)i,
                                               .left = true,
                                               .right = true},
                                   r->error);
        }
    if (status == VIT_OK) status = vit_ids_put(&e->after, eos, r->error);
    vit_added_close(r->t);
    return status;
}

/* ---- which ---- */

static const struct tokenizer_class {
    const char *name, *model_type; /* of transformers */
    const char *file;              /* the name of what holds its vocabulary */
    const char *shows;             /* a token that only this one has; NULL: none */
    vit_status (*read)(const class_reader *r);
} classes[] = {
    {"CLIPTokenizer", "clip", "vocab.json", "<|startoftext|>", read_clip},
    {"RobertaTokenizer", "roberta", "vocab.json", "</s>", read_roberta},
    {"BartTokenizer", "bart", "vocab.json", NULL, read_roberta},
    {"GPT2Tokenizer", "gpt2", "vocab.json", "<|endoftext|>", read_gpt2},
    {"BertTokenizer", "bert", "vocab.txt", "[CLS]", read_bert},
    {"XLMRobertaTokenizer", "xlm-roberta", "sentencepiece.bpe.model", "<mask>", read_xlmr},
    {"SiglipTokenizer", "siglip", "spiece.model", NULL, read_siglip}};

/* Whether a class is named, with or without "Fast" at its end. */
static bool is_named(const char *class, const char *name) {
    const size_t length = strlen(name);
    return strncmp(class, name, length) == 0 &&
           (class[length] == 0 || strcmp(class + length, "Fast") == 0);
}

vit_status vit_encoder_of_class(vit_tokenizer *t, const vit_class_files *files, const char *name,
                                vit_error *error) {
    const class_reader r = {t, files, name, error};
    const char *class = json_string_value(json_object_get(files->config, "tokenizer_class"));
    const char *type = json_string_value(json_object_get(files->model, "model_type"));
    for (size_t i = 0; class && i < VIT_COUNT(classes); i++)
        if (is_named(class, classes[i].name)) return classes[i].read(&r);
    if (class)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: its tokenizer_class is \"%.60s\": without a tokenizer.json known are "
                        "CLIPTokenizer, RobertaTokenizer, BartTokenizer, GPT2Tokenizer, "
                        "BertTokenizer, XLMRobertaTokenizer and SiglipTokenizer",
                        name, class);
    for (size_t i = 0; type && i < VIT_COUNT(classes); i++)
        if (strcmp(type, classes[i].model_type) == 0) return classes[i].read(&r);
    for (size_t i = 0; i < VIT_COUNT(classes); i++)
        if (classes[i].shows && strcmp(files->vocabulary, classes[i].file) == 0 &&
            vit_tokens_look(t, classes[i].shows) != VIT_NO_ID)
            return classes[i].read(&r);
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: %s does not say how texts are encoded: expected a tokenizer.json, or a "
                    "tokenizer_config.json with the tokenizer_class",
                    name, files->vocabulary);
}
