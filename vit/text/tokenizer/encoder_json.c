/* The rules of a tokenizer.json: {"normalizer", "pre_tokenizer", "model", "post_processor",
 * "added_tokens", "truncation", "padding"}. What is not known is refused by its name. */
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/base64.h"
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/tokenizer/tokens.h"
#include <string.h>

#define MOST_DEPTH 20

typedef struct reader {
    vit_tokenizer *t;
    const char *name; /* of the file */
    size_t depth;
    vit_error *error;
} reader;

static const char *string_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static bool is_null(const json_t *value) {
    return !value || json_is_null(value);
}

/* A switch that may be missing. */
static bool flag_of(const json_t *object, const char *key, bool missing) {
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : missing;
}

static vit_status refuse(const reader *r, const char *what, const char *value) {
    return vit_fail(r->error, VIT_ERROR_UNSUPPORTED, "%s: its %s \"%.60s\" is not known", r->name,
                    what, value ? value : "");
}

static vit_status damaged(const reader *r, const char *what) {
    return vit_fail(r->error, VIT_ERROR_FORMAT, "%s: %s", r->name, what);
}

static vit_status copy(char **out, const char *text, const reader *r) {
    *out = vit_strdup(text);
    return *out ? VIT_OK : vit_fail_memory(r->error, r->name, strlen(text) + 1);
}

/* ---- patterns ---- */

/* {"String": "x"} or {"Regex": "x"} */
static vit_status read_pattern(vit_rule *rule, const json_t *owner, const reader *r) {
    const json_t *pattern = json_object_get(owner, "pattern");
    const char *literal =
        json_is_string(pattern) ? json_string_value(pattern) : string_of(pattern, "String");
    const char *regex = string_of(pattern, "Regex");
    if (literal) return copy(&rule->literal, literal, r);
    if (regex) return vit_regex_new(&rule->pattern, regex, r->name, r->error);
    return damaged(r, "a pattern must be {\"String\": ...} or {\"Regex\": ...}");
}

static vit_status read_content(vit_rule *rule, const json_t *owner, const char *key,
                               const reader *r) {
    const char *content = string_of(owner, key);
    if (!content)
        return vit_fail(r->error, VIT_ERROR_FORMAT, "%s: a rule has no string \"%s\"", r->name,
                        key);
    return copy(&rule->content, content, r);
}

static vit_status read_behaviour(vit_rule *rule, const json_t *owner, const reader *r) {
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous"};
    VIT_CHECK_ROWS(names, VIT_BEHAVIOUR_COUNT);
    const char *name = string_of(owner, "behavior");
    rule->invert = flag_of(owner, "invert", false);
    for (int i = 0; name && i < VIT_BEHAVIOUR_COUNT; i++)
        if (strcmp(name, names[i]) == 0) {
            rule->behaviour = (vit_behaviour)i;
            return VIT_OK;
        }
    return refuse(r, "behavior of a pre_tokenizer", name);
}

/* ---- one rule ---- */

typedef vit_status read_function(vit_rule *rule, const json_t *json, const reader *r);

static vit_status read_strip(vit_rule *rule, const json_t *json, const reader *r) {
    (void)r;
    rule->left = flag_of(json, "strip_left", true);
    rule->right = flag_of(json, "strip_right", true);
    return VIT_OK;
}

static vit_status read_bert(vit_rule *rule, const json_t *json, const reader *r) {
    (void)r;
    rule->cleans = flag_of(json, "clean_text", true);
    rule->spaces = flag_of(json, "handle_chinese_chars", true);
    rule->lower = flag_of(json, "lowercase", true);
    rule->accents = flag_of(json, "strip_accents", rule->lower);
    return VIT_OK;
}

static vit_status read_precompiled(vit_rule *rule, const json_t *json, const reader *r) {
    const char *text = string_of(json, "precompiled_charsmap");
    vit_bytes bytes = {0};
    if (!text && !is_null(json_object_get(json, "precompiled_charsmap")))
        return damaged(r, "precompiled_charsmap is no string");
    vit_status status = vit_read_base64(&bytes, "precompiled_charsmap", text ? text : "",
                                        text ? strlen(text) : 0, r->error);
    if (status != VIT_OK) return vit_fail_prefix(r->error, status, r->name);
    status = vit_charsmap_new(&rule->map, bytes.data, bytes.size, r->name, r->error);
    vit_free(bytes.data);
    return status;
}

static vit_status read_byte_level(vit_rule *rule, const json_t *json, const reader *r) {
    static const char gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
                               "\\s+(?!\\S)|\\s+";
    rule->prefix = flag_of(json, "add_prefix_space", true);
    rule->behaviour = VIT_ISOLATED;
    return flag_of(json, "use_regex", true) ? vit_regex_new(&rule->pattern, gpt2, r->name, r->error)
                                            : VIT_OK;
}

static vit_status read_metaspace(vit_rule *rule, const json_t *json, const reader *r) {
    const char *scheme = string_of(json, "prepend_scheme");
    rule->splits = flag_of(json, "split", true);
    rule->prepend =
        flag_of(json, "add_prefix_space", true) ? VIT_PREPEND_ALWAYS : VIT_PREPEND_NEVER;
    if (scheme && strcmp(scheme, "always") == 0)
        rule->prepend = VIT_PREPEND_ALWAYS;
    else if (scheme && strcmp(scheme, "never") == 0)
        rule->prepend = VIT_PREPEND_NEVER;
    else if (scheme && strcmp(scheme, "first") == 0)
        rule->prepend = VIT_PREPEND_FIRST;
    else if (scheme)
        return refuse(r, "prepend_scheme", scheme);
    return VIT_OK;
}

static vit_status read_split(vit_rule *rule, const json_t *json, const reader *r) {
    const vit_status status = read_pattern(rule, json, r);
    return status == VIT_OK ? read_behaviour(rule, json, r) : status;
}

static vit_status read_whitespace(vit_rule *rule, const json_t *json, const reader *r) {
    (void)json;
    rule->invert = true;
    return vit_regex_new(&rule->pattern, "\\w+|[^\\w\\s]+", r->name, r->error);
}

static vit_status read_punctuation(vit_rule *rule, const json_t *json, const reader *r) {
    rule->behaviour = VIT_ISOLATED;
    return json_object_get(json, "behavior") ? read_behaviour(rule, json, r) : VIT_OK;
}

static vit_status read_digits(vit_rule *rule, const json_t *json, const reader *r) {
    (void)r;
    rule->behaviour = flag_of(json, "individual_digits", false) ? VIT_ISOLATED : VIT_CONTIGUOUS;
    return VIT_OK;
}

static vit_status read_delimiter(vit_rule *rule, const json_t *json, const reader *r) {
    const char *text = string_of(json, "delimiter");
    return text ? copy(&rule->literal, text, r) : damaged(r, "a delimiter is no string");
}

typedef struct rule_type {
    const char *type;
    vit_rule_kind kind;
    read_function *read; /* NULL: it has no other settings */
    const char *content; /* the name of the string that it has; NULL: none */
    vit_characters set;
} rule_type;

static const rule_type normalisers[] = {
    {.type = "NFC", .kind = VIT_RULE_NFC},
    {.type = "NFD", .kind = VIT_RULE_NFD},
    {.type = "NFKC", .kind = VIT_RULE_NFKC},
    {.type = "NFKD", .kind = VIT_RULE_NFKD},
    {.type = "Lowercase", .kind = VIT_RULE_LOWER},
    {.type = "Strip", .kind = VIT_RULE_STRIP, .read = read_strip},
    {.type = "StripAccents", .kind = VIT_RULE_ACCENTS},
    {.type = "Replace", .kind = VIT_RULE_REPLACE, .read = read_pattern, .content = "content"},
    {.type = "Prepend", .kind = VIT_RULE_PREPEND, .content = "prepend"},
    {.type = "Append", .kind = VIT_RULE_APPEND, .content = "append"},
    {.type = "Nmt", .kind = VIT_RULE_NMT},
    {.type = "BertNormalizer", .kind = VIT_RULE_BERT, .read = read_bert},
    {.type = "Precompiled", .kind = VIT_RULE_CHARSMAP, .read = read_precompiled},
    {.type = "ByteLevel", .kind = VIT_RULE_ALPHABET}};

static const rule_type splitters[] = {
    {.type = "ByteLevel", .kind = VIT_RULE_BYTE_LEVEL, .read = read_byte_level},
    {.type = "Metaspace",
     .kind = VIT_RULE_METASPACE,
     .read = read_metaspace,
     .content = "replacement"},
    {.type = "Split", .kind = VIT_RULE_SPLIT, .read = read_split},
    {.type = "BertPreTokenizer", .kind = VIT_RULE_BERT_SPLIT},
    {.type = "Whitespace", .kind = VIT_RULE_SPLIT, .read = read_whitespace},
    {.type = "WhitespaceSplit", .kind = VIT_RULE_SPLIT, .set = VIT_SPACES},
    {.type = "Punctuation",
     .kind = VIT_RULE_SPLIT,
     .read = read_punctuation,
     .set = VIT_BERT_PUNCTUATION},
    {.type = "Digits", .kind = VIT_RULE_SPLIT, .read = read_digits, .set = VIT_NUMERIC},
    {.type = "CharDelimiterSplit", .kind = VIT_RULE_SPLIT, .read = read_delimiter}};

/* What the two lists of rules are called in the file. */
typedef struct rule_family {
    const char *key, *parts;
    const rule_type *types;
    size_t count;
} rule_family;

static const rule_family families[] = {
    {"normalizer", "normalizers", normalisers, VIT_COUNT(normalisers)},
    {"pre_tokenizer", "pretokenizers", splitters, VIT_COUNT(splitters)}};

/* Appends a rule, or all of a sequence. */
static vit_status read_rules(vit_rules *rules, const json_t *json, const rule_family *family,
                             reader *r) {
    const char *type = string_of(json, "type");
    vit_status status = VIT_OK;
    if (is_null(json)) return VIT_OK;
    if (type && strcmp(type, "Sequence") == 0) {
        const json_t *parts = json_object_get(json, family->parts);
        if (++r->depth > MOST_DEPTH) return damaged(r, "too many sequences in sequences");
        for (size_t i = 0; i < json_array_size(parts) && status == VIT_OK; i++)
            status = read_rules(rules, json_array_get(parts, i), family, r);
        r->depth--;
        return status;
    }
    for (size_t i = 0; type && i < family->count; i++) {
        const rule_type *known = &family->types[i];
        if (strcmp(type, known->type) != 0) continue;
        vit_rule *rule = vit_rules_add(rules, known->kind, r->error);
        if (!rule) return VIT_ERROR_MEMORY;
        rule->set = known->set;
        if (known->read) status = known->read(rule, json, r);
        if (status == VIT_OK && known->content)
            status = read_content(rule, json, known->content, r);
        return status;
    }
    return refuse(r, family->key, type);
}

/* ---- post-processors ---- */

/* Puts ids in front of (or behind) those that are there. */
static vit_status put_around(vit_ids_list *list, const vit_ids_list *more, bool front,
                             const reader *r) {
    vit_status status = VIT_OK;
    const size_t old = list->count;
    for (size_t i = 0; i < more->count && status == VIT_OK; i++)
        status = vit_ids_put(list, more->ids[i], r->error);
    if (status == VIT_OK && front && more->count > 0) {
        memmove(list->ids + more->count, list->ids, old * sizeof *list->ids);
        memcpy(list->ids, more->ids, more->count * sizeof *list->ids);
    }
    return status;
}

static vit_status put_id(vit_ids_list *list, const json_t *id, const reader *r) {
    if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) >= VIT_NO_ID)
        return damaged(r, "the id of a token in the post_processor is no whole number");
    return vit_ids_put(list, (uint32_t)json_integer_value(id), r->error);
}

/* {"single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}, ...], "special_tokens":
 * {"<s>": {"ids": [0]}}} */
static vit_status read_template(vit_ids_list around[2], const json_t *json, const reader *r) {
    const json_t *single = json_object_get(json, "single");
    const json_t *tokens = json_object_get(json, "special_tokens");
    size_t side = 0;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < json_array_size(single) && status == VIT_OK; i++) {
        const json_t *part = json_array_get(single, i);
        const char *token = string_of(json_object_get(part, "SpecialToken"), "id");
        const json_t *ids = json_object_get(token ? json_object_get(tokens, token) : NULL, "ids");
        if (json_object_get(part, "Sequence")) {
            if (side++ == 1) return damaged(r, "its post_processor repeats the text");
            continue;
        }
        if (json_array_size(ids) == 0) return refuse(r, "post_processor's token", token);
        for (size_t k = 0; k < json_array_size(ids) && status == VIT_OK; k++)
            status = put_id(&around[side], json_array_get(ids, k), r);
    }
    if (status == VIT_OK && side == 0) return damaged(r, "its post_processor leaves the text out");
    return status;
}

static vit_status read_pair(vit_ids_list *list, const json_t *pair, const reader *r) {
    return put_id(list, json_array_get(pair, 1), r);
}

static vit_status read_post(const json_t *json, reader *r) {
    const char *type = string_of(json, "type");
    vit_ids_list around[2] = {{0}, {0}};
    vit_status status = VIT_OK;
    if (is_null(json)) return VIT_OK;
    if (type && strcmp(type, "Sequence") == 0) {
        const json_t *parts = json_object_get(json, "processors");
        if (++r->depth > MOST_DEPTH) return damaged(r, "too many sequences in sequences");
        for (size_t i = 0; i < json_array_size(parts) && status == VIT_OK; i++)
            status = read_post(json_array_get(parts, i), r);
        r->depth--;
        return status;
    }
    if (type && strcmp(type, "TemplateProcessing") == 0) {
        status = read_template(around, json, r);
    } else if (type &&
               (strcmp(type, "RobertaProcessing") == 0 || strcmp(type, "BertProcessing") == 0)) {
        status = read_pair(&around[0], json_object_get(json, "cls"), r);
        if (status == VIT_OK) status = read_pair(&around[1], json_object_get(json, "sep"), r);
    } else if (!type || strcmp(type, "ByteLevel") != 0) { /* which changes offsets only */
        return refuse(r, "post_processor", type);
    }
    if (status == VIT_OK) status = put_around(&r->t->encoder->before, &around[0], true, r);
    if (status == VIT_OK) status = put_around(&r->t->encoder->after, &around[1], false, r);
    vit_free(around[0].ids);
    vit_free(around[1].ids);
    return status;
}

/* ---- the model ---- */

/* *id = that of the token that "unk_token" names, if it is in the vocabulary. */
static vit_status read_unknown(const json_t *model, const reader *r) {
    const char *text = string_of(model, "unk_token");
    if (!text) return VIT_OK;
    r->t->encoder->unknown = vit_tokens_find(r->t, text, strlen(text));
    if (r->t->encoder->unknown == VIT_NO_ID) return refuse(r, "unk_token", text);
    return VIT_OK;
}

static vit_status read_bpe(const json_t *model, const reader *r) {
    vit_encoder *e = r->t->encoder;
    const char *suffix = string_of(model, "end_of_word_suffix");
    const json_t *dropout = json_object_get(model, "dropout");
    e->kind = VIT_ENCODER_BPE;
    e->fuses_unknown = flag_of(model, "fuse_unk", false);
    e->byte_fallback = flag_of(model, "byte_fallback", false);
    e->whole_first = flag_of(model, "ignore_merges", false);
    if (!is_null(dropout) && json_number_value(dropout) > 0)
        return damaged(r, "its BPE leaves merges out at random (dropout), so that ids are not "
                          "determined: set it to null");
    if (suffix && *suffix) {
        const vit_status status = copy(&e->suffix, suffix, r);
        if (status != VIT_OK) return status;
    }
    return read_unknown(model, r);
}

static vit_status read_unigram(const json_t *model, const reader *r) {
    vit_encoder *e = r->t->encoder;
    const json_t *unknown = json_object_get(model, "unk_id");
    e->kind = VIT_ENCODER_UNIGRAM;
    e->byte_fallback = flag_of(model, "byte_fallback", false);
    if (json_is_integer(unknown)) {
        const json_int_t id = json_integer_value(unknown);
        if (id < 0 || (size_t)id >= r->t->count || !r->t->tokens[id].text)
            return damaged(r, "its unk_id is no id of the vocabulary");
        e->unknown = (uint32_t)id;
    }
    return VIT_OK;
}

static vit_status read_wordpiece(const json_t *model, const reader *r) {
    vit_encoder *e = r->t->encoder;
    const json_t *most = json_object_get(model, "max_input_chars_per_word");
    e->kind = VIT_ENCODER_WORDPIECE;
    e->most_characters = json_is_integer(most) && json_integer_value(most) >= 0
                             ? (size_t)json_integer_value(most)
                             : 100;
    if (e->most_characters > 1000) return damaged(r, "its max_input_chars_per_word is above 1000");
    const vit_status status = read_unknown(model, r);
    if (status == VIT_OK && e->unknown == VIT_NO_ID)
        return damaged(r, "its WordPiece has no unk_token");
    return status;
}

static vit_status read_wordlevel(const json_t *model, const reader *r) {
    const char *text = string_of(model, "unk_token");
    r->t->encoder->kind = VIT_ENCODER_WORDLEVEL;
    r->t->encoder->unknown = text ? vit_tokens_find(r->t, text, strlen(text)) : VIT_NO_ID;
    return VIT_OK;
}

/* Files of old versions of the library do not name the type. */
static const char *type_of(const json_t *model) {
    const char *type = string_of(model, "type");
    if (type) return type;
    if (json_object_get(model, "merges")) return "BPE";
    if (json_object_get(model, "unk_id")) return "Unigram";
    return json_object_get(model, "max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

static vit_status read_model(const json_t *model, const reader *r) {
    static const struct {
        const char *type;
        vit_status (*read)(const json_t *model, const reader *r);
    } types[] = {{"BPE", read_bpe},
                 {"Unigram", read_unigram},
                 {"WordPiece", read_wordpiece},
                 {"WordLevel", read_wordlevel}};
    const char *type = type_of(model), *prefix = string_of(model, "continuing_subword_prefix");
    if (prefix && *prefix) {
        const vit_status status = copy(&r->t->encoder->prefix, prefix, r);
        if (status != VIT_OK) return status;
    }
    for (size_t i = 0; i < VIT_COUNT(types); i++)
        if (strcmp(type, types[i].type) == 0) return types[i].read(model, r);
    return refuse(r, "model", type);
}

/* ---- the rest ---- */

static vit_status read_added(const json_t *list, const reader *r) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < json_array_size(list) && status == VIT_OK; i++) {
        const json_t *a = json_array_get(list, i);
        const uint32_t id = (uint32_t)json_integer_value(json_object_get(a, "id"));
        const vit_token *token = &r->t->tokens[id]; /* put there when the vocabulary was read */
        const vit_added added = {.text = token->text,
                                 .length = token->length,
                                 .id = id,
                                 .single_word = flag_of(a, "single_word", false),
                                 .left = flag_of(a, "lstrip", false),
                                 .right = flag_of(a, "rstrip", false),
                                 .normalised = flag_of(a, "normalized", !token->special)};
        status = vit_added_put(r->t, added, r->error);
    }
    vit_added_close(r->t);
    return status;
}

static void read_limits(const json_t *root, const reader *r) {
    const json_t *truncation = json_object_get(root, "truncation");
    const json_t *padding = json_object_get(root, "padding");
    const json_t *most = json_object_get(truncation, "max_length");
    const json_t *pad = json_object_get(padding, "pad_id");
    const char *side = string_of(truncation, "direction");
    if (json_is_integer(most) && json_integer_value(most) > 0)
        r->t->most = r->t->encoder->most = (size_t)json_integer_value(most);
    if (json_is_integer(pad) && json_integer_value(pad) >= 0 && json_integer_value(pad) < VIT_NO_ID)
        r->t->pad = (uint32_t)json_integer_value(pad);
    r->t->encoder->cuts_left = side && strcmp(side, "Left") == 0;
}

vit_status vit_encoder_read_json(vit_tokenizer *t, json_t *root, const char *name,
                                 vit_error *error) {
    reader r = {t, name, 0, error};
    vit_encoder *e = t->encoder;
    vit_status status = read_model(json_object_get(root, "model"), &r);
    if (status == VIT_OK)
        status = read_rules(&e->normalisers, json_object_get(root, "normalizer"), &families[0], &r);
    if (status == VIT_OK)
        status =
            read_rules(&e->splitters, json_object_get(root, "pre_tokenizer"), &families[1], &r);
    if (status == VIT_OK) status = read_post(json_object_get(root, "post_processor"), &r);
    if (status == VIT_OK) status = read_added(json_object_get(root, "added_tokens"), &r);
    if (status == VIT_OK) read_limits(root, &r);
    return status;
}
