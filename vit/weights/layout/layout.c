/* Finds a file's layout, and binds its tensors to the rows of that layout. */
#include "vit/weights/layout/layout.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include <stdio.h>
#include <string.h>

#define NO_BLOCK SIZE_MAX
#define MOST_BLOCKS 4096 /* larger numbers are no block's */

const vit_reshape_traits vit_reshapes[] = {
    {0},
    {.transposes = true},
    {.turns_pixels = true},
    {.inserts_registers = true},
    {.splits = true},
};
VIT_CHECK_ROWS(vit_reshapes, VIT_RESHAPE_COUNT);

const vit_join_traits vit_joins[] = {
    {0}, {.rows = true}, {.columns = true}, {.cuts = true}, {.slices = true}, {.outer = true}};
VIT_CHECK_ROWS(vit_joins, VIT_JOIN_COUNT);

void vit_layout_measure(size_t *out, size_t *in, const vit_layout_row *row,
                        const vit_parameter *p) {
    const bool is_weight = vit_is_weight(p);
    *in = is_weight ? p->count / p->shape[0] : 1;
    *out = p->count / *in;
    if (vit_joins[row->join].rows) *out /= row->parts;
    if (vit_joins[row->join].columns && is_weight) *in /= row->parts;
}

/* ---- names and patterns ---- */

static bool is_decoder(const char *part) {
    return part && strcmp(part, VIT_PART_DECODER) == 0;
}

static bool reads_texts(const char *part) {
    return part && strcmp(part, VIT_PART_TEXTS) == 0;
}

/* What follows the prefix; NULL: text does not begin with it. */
static const char *skip(const char *text, const char *prefix) {
    const size_t n = strlen(prefix);
    return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

/* What names begin with if a wrapper of the model was saved. */
static const char *const wrappers[] = {"module.", "_orig_mod.", "model.", "net.", "network."};

/* Names of what a training saved of its loss, such as weights of classes; they are ignored. */
static const char *const losses[] = {"criterion.", "loss.", "loss_fn.", "loss_function."};

/* Second networks of trainings without labels: what DINOv2's and MoCo's names begin with. Files of
 * these two have names that contain one of `marks`; of other students and teachers nobody can tell
 * which is meant. */
static const char *const copies[] = {"student.", "momentum_encoder."};
static const char *const marks[] = {"dino_head.", "ibot_head.", "momentum_encoder."};

/* What names begin with in MoCo v3's files: the network's head is a projector of that training. */
#define MOCO_ENCODER "base_encoder."

/* What follows the pattern, which may have one '%', a block's number, and before that one '#', that
 * of a group of blocks, in `name`; NULL: name does not begin with it.
 */
static const char *match_start(const char *pattern, const char *name, size_t *block) {
    for (; *pattern; pattern++) {
        if (*pattern == '#') {
            const size_t digits = strspn(name, "0123456789");
            if (digits == 0) return NULL;
            name += digits;
            continue;
        }
        if (*pattern != '%') {
            if (*pattern != *name++) return NULL;
            continue;
        }
        if (*name < '0' || *name > '9' || (*name == '0' && name[1] >= '0' && name[1] <= '9'))
            return NULL;
        for (*block = 0; *name >= '0' && *name <= '9'; name++) {
            *block = *block * 10 + (size_t)(*name - '0');
            if (*block >= MOST_BLOCKS) return NULL;
        }
    }
    return name;
}

/* Whether `name` matches the pattern of a row; *ending: what '@' stands for, or "". */
static bool match_row(const char *pattern, const char *name, const char **ending) {
    const size_t stem = strlen(pattern) - 1;
    const char last = pattern[stem];
    *ending = "";
    if (last != '@' && last != '*') return strcmp(pattern, name) == 0;
    if (strncmp(pattern, name, stem) != 0) return false;
    if (last == '*') return true;
    *ending = name + stem;
    return strcmp(*ending, ".weight") == 0 || strcmp(*ending, ".bias") == 0;
}

/* A name of the file, matched by one layout. */
typedef struct match {
    const vit_layout_row *row;
    size_t block; /* NO_BLOCK: it is of no block */
    const char *ending;
    const char *block_pattern;
    size_t prefix; /* characters of the name before what the table has */
} match;

static bool match_rows(match *m, const vit_layout_rows *rows, const char *name) {
    for (size_t i = 0; i < rows->count; i++) {
        if (!match_row(rows->rows[i].theirs, name, &m->ending)) continue;
        m->row = &rows->rows[i];
        return true;
    }
    return false;
}

/* A layout with its alternatives chosen. */
typedef struct choice {
    const vit_layout *layout;
    const char *part;
    const vit_layout_rows *stem, *head;
    const char
        *wrapper;    /* what names begin with, see find_wrapper: the first `wrapped` characters */
    size_t wrapped;  /* 0: there is none */
    bool has_copies; /* the file is one of those that `marks` tell */
} choice;

/* Whether it is the name of a tensor in a block. */
static bool match_block(match *m, const vit_layout *l, const char *name) {
    for (size_t i = 0; l->blocks[i]; i++) {
        const char *rest = match_start(l->blocks[i], name, &m->block);
        m->block_pattern = l->blocks[i];
        if (rest && match_rows(m, &l->in_block, rest)) return true;
    }
    return false;
}

static bool match_plain(match *m, const choice *c, const char *name) {
    if (match_block(m, c->layout, name)) return true;
    m->block = NO_BLOCK;
    return match_rows(m, &c->layout->beside, name) || (c->stem && match_rows(m, c->stem, name)) ||
           (c->head && match_rows(m, c->head, name));
}

/* The end of the name that is the name of a tensor in a block; NULL: there is none. */
static const char *find_block(const vit_layout *l, const char *name) {
    match m;
    while (name && !match_block(&m, l, name)) {
        const char *dot = strchr(name, '.');
        name = dot ? dot + 1 : NULL;
    }
    return name;
}

static const char *unwrapped(const char *name) {
    for (size_t w = 0; w < sizeof wrappers / sizeof *wrappers; w++) {
        const char *rest = skip(name, wrappers[w]);
        if (rest) name = rest;
    }
    return name;
}

static bool is_marked(const vit_tensors *file) {
    for (size_t i = 0; i < vit_tensors_count(file); i++)
        for (size_t k = 0; k < VIT_COUNT(marks); k++)
            if (strstr(vit_tensors_at(file, i)->name, marks[k])) return true;
    return false;
}

static bool is_copy(const choice *c, const char *name) {
    for (size_t i = 0; c->has_copies && i < VIT_COUNT(copies); i++)
        if (skip(unwrapped(name), copies[i])) return true;
    return false;
}

/* The first tensor of a block, and where in its name that of the block begins; NULL: none. */
static const char *first_block(const choice *c, const vit_tensors *file, bool of_copies,
                               const char **name) {
    const vit_layout *l = c->layout;
    const char *block = NULL;
    for (size_t i = 0; i < vit_tensors_count(file) && !block; i++) {
        match known;
        *name = vit_tensors_at(file, i)->name;
        if (is_copy(c, *name) == of_copies && !match_rows(&known, &l->beside, *name))
            block = find_block(l, *name);
    }
    return block;
}

/* A training's own module may keep the network under an attribute, "backbone.", "0.model.", ...:
 * finds what names begin with, from the first tensor of a block. */
static void find_wrapper(choice *c, const vit_tensors *file) {
    const vit_layout *l = c->layout;
    c->has_copies = is_marked(file);
    const char *name = NULL, *block = first_block(c, file, false, &name);
    if (!block) block = first_block(c, file, true, &name);
    if (!block || (c->part && !reads_texts(c->part))) return;
    c->wrapper = name;
    c->wrapped = (size_t)(block - name);
    for (size_t i = 0; l->prefixes[i]; i++) {
        const size_t n = strlen(l->prefixes[i]);
        if (c->wrapped < n || strncmp(block - n, l->prefixes[i], n) != 0) continue;
        c->wrapped -= n;
        break;
    }
}

/* What follows the wrapper; NULL: the name does not begin with it. */
static const char *inside_wrapper(const choice *c, const char *name) {
    if (c->wrapped == 0 || strncmp(name, c->wrapper, c->wrapped) != 0) return NULL;
    return name + c->wrapped;
}

/* The name without its part's prefix; NULL: it belongs to the other part. */
static const char *name_in(const char *part, const char *name) {
    if (!part || reads_texts(part)) return name;
    const char *start = unwrapped(name), *rest = skip(start, part);
    if (rest || strcmp(part, VIT_PART_ENCODER) == 0) return rest;
    return skip(start, VIT_PART_ENCODER) ? NULL : start;
}

/* Matches `start`, an end of the name, as it is and without one of the library's prefixes. */
static bool match_start_of(match *m, const choice *c, const char *name, const char *start) {
    m->prefix = (size_t)(start - name);
    if (match_plain(m, c, start)) return true;
    for (size_t i = 0; c->layout->prefixes[i]; i++) {
        const char *rest = skip(start, c->layout->prefixes[i]);
        m->prefix = rest ? (size_t)(rest - name) : 0;
        if (rest && match_plain(m, c, rest)) return true;
    }
    return false;
}

/* Matches the name as it is, without the known wrappers, and without the one that was found. */
static bool match_name(match *m, const choice *c, const char *name) {
    const char *inside = name_in(c->part, name), *start = unwrapped(inside);
    const char *wrapped = inside_wrapper(c, name);
    m->prefix = (size_t)(inside - name);
    return match_plain(m, c, inside) || match_start_of(m, c, name, start) ||
           (wrapped && match_start_of(m, c, name, wrapped));
}

/* ---- which layout ---- */

static size_t matches(const choice *c, const vit_tensors *file) {
    size_t count = 0;
    match m;
    for (size_t i = 0; i < vit_tensors_count(file); i++) {
        const char *name = vit_tensors_at(file, i)->name;
        count += name_in(c->part, name) && match_name(&m, c, name);
    }
    return count;
}

/* The alternative that knows most names of the file. */
static const vit_layout_rows *choose_rows(const choice *base, const vit_layout_rows *alternatives,
                                          bool is_head, const vit_tensors *file) {
    const vit_layout_rows *best = alternatives[0].count > 0 ? &alternatives[0] : NULL;
    size_t most = 0;
    for (size_t i = 0; alternatives[i].count > 0; i++) {
        choice c = *base;
        if (is_head)
            c.head = &alternatives[i];
        else
            c.stem = &alternatives[i];
        const size_t count = matches(&c, file);
        if (count <= most) continue;
        most = count;
        best = &alternatives[i];
    }
    return best;
}

/* Whether the layout is one of that part. */
static bool is_of_part(const vit_layout *l, const char *part) {
    return l->decodes == is_decoder(part) && l->reads_texts == reads_texts(part);
}

static choice choose(const vit_tensors *file, const char *part, vit_config_kind kind,
                     size_t *most) {
    choice best = {0};
    *most = 0;
    for (size_t i = 0; i < vit_layout_count; i++) {
        choice c = {.layout = &vit_layouts[i], .part = part};
        if (!is_of_part(c.layout, part)) continue;
        find_wrapper(&c, file);
        c.stem = choose_rows(&c, c.layout->stems, false, file);
        c.head = choose_rows(&c, c.layout->heads, true, file);
        const size_t count = matches(&c, file);
        const bool suits = best.layout && c.layout->config == kind && best.layout->config != kind;
        if (suits ? count < *most : count <= *most) continue;
        *most = count;
        best = c;
    }
    return best;
}

/* ---- messages ---- */

static vit_status no_layout(const vit_tensors *file, const char *part, vit_error *error) {
    char shown[VIT_NAME_TEXT], list[200] = "";
    for (size_t i = 0; i < vit_layout_count; i++) {
        const size_t used = strlen(list);
        const bool variant = strchr(vit_layouts[i].name, ','); /* of the one before */
        if (!is_of_part(&vit_layouts[i], part) || variant) continue;
        snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "",
                 vit_layouts[i].name);
    }
    if (vit_tensors_count(file) == 0)
        return vit_fail(error, VIT_ERROR_MISMATCH, "%s: the file holds no tensors",
                        vit_tensors_name(file));
    if (reads_texts(part))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: holds no text encoder that is known here (%s)", vit_tensors_name(file),
                        list);
    if (part)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: holds no tensor %s... that is known here (%s)", vit_tensors_name(file),
                        part, list);
    return vit_fail(
        error, VIT_ERROR_MISMATCH, "%s: tensor %s is of no Vision Transformer known here (%s)",
        vit_tensors_name(file), vit_name_text(shown, vit_tensors_at(file, 0)->name), list);
}

#define NAME_SIZE VIT_THEIR_NAME
#define MOST_NAMES 256

/* All names that a layout knows, with one block's number, and with both endings. */
typedef struct name_set {
    char text[MOST_NAMES][NAME_SIZE];
    const char *names[MOST_NAMES];
    size_t count;
} name_set;

/* text = prefix, block with its number, name with '@' replaced by the ending. */
static void join_name(char text[NAME_SIZE], const char *prefix, const char *block, size_t number,
                      const char *name, const char *ending) {
    const char *percent = strchr(block, '%');
    const size_t length = strlen(name), stem = length - (name[length - 1] == '@');
    if (percent)
        snprintf(text, NAME_SIZE, "%s%.*s%zu%s%.*s%s", prefix, (int)(percent - block), block,
                 number, percent + 1, (int)stem, name, stem < length ? ending : "");
    else
        snprintf(text, NAME_SIZE, "%s%.*s%s", prefix, (int)stem, name, stem < length ? ending : "");
}

static void add_names(name_set *set, const vit_layout_rows *rows, const char *prefix,
                      const char *block, size_t number) {
    static const char *const endings[] = {".weight", ".bias"};
    for (size_t i = 0; rows && i < rows->count; i++) {
        for (size_t e = 0; e < 2 && rows->rows[i].ours && set->count < MOST_NAMES; e++) {
            set->names[set->count] = set->text[set->count];
            join_name(set->text[set->count++], prefix, block, number, rows->rows[i].theirs,
                      endings[e]);
        }
    }
}

static vit_status unexpected(const choice *c, const vit_binding *b, const char *name,
                             vit_error *error) {
    char shown[VIT_NAME_TEXT];
    size_t number = 0;
    const vit_layout *l = c->layout;
    name_set *set = vit_alloc(1, sizeof *set);
    if (!set) return vit_fail_memory(error, "names of tensors", sizeof *set);
    const char *inside =
        strncmp(name, b->prefix, strlen(b->prefix)) == 0 ? name + strlen(b->prefix) : name;
    match_start(b->block, inside, &number);
    add_names(set, &l->in_block, b->prefix, b->block, number);
    add_names(set, &l->beside, b->prefix, "", 0);
    add_names(set, c->stem, "", "", 0);
    add_names(set, c->head, "", "", 0);
    const char *near = vit_nearest(name, set->names, set->count);
    const vit_status status =
        vit_fail(error, VIT_ERROR_MISMATCH, "%s: tensor %s is none of a %s in the layout of %s%s%s",
                 vit_tensors_name(b->file), vit_name_text(shown, name),
                 l->decodes       ? "decoder"
                 : l->reads_texts ? "text encoder"
                                  : "Vision Transformer",
                 l->name, near ? "; the nearest known name is " : "", near ? near : "");
    vit_free(set);
    return status;
}

const char *vit_binding_name(char text[VIT_THEIR_NAME], const vit_binding *b, const char *ours) {
    size_t number = 0;
    const char *inside = match_start("blocks.%.", ours, &number), *ending;
    const vit_layout_rows *const all[] = {inside ? &b->layout->in_block : &b->layout->beside,
                                          inside ? NULL : b->stem, inside ? NULL : b->head};
    const vit_layout_row *found = NULL;
    char here[48];
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; all[k] && i < all[k]->count; i++) {
            const vit_layout_row *row = &all[k]->rows[i];
            if (!row->ours || !match_row(row->ours, inside ? inside : ours, &ending)) continue;
            if (!found) found = row;
            /* The spelling that other tensors of the file have. */
            for (size_t s = 0; s < b->count; s++)
                if (b->sources[s].row == row) found = row;
        }
    }
    if (!found) {
        snprintf(text, VIT_THEIR_NAME, "%s", ours);
        return text;
    }
    match_row(found->ours, inside ? inside : ours, &ending);
    snprintf(here, sizeof here, "%s", ending);
    const bool is_head =
        b->head && found >= b->head->rows && found < b->head->rows + b->head->count;
    join_name(text, is_head ? "" : b->prefix, inside ? b->block : "", number, found->theirs, here);
    return text;
}

/* ---- binding ---- */

/* MISMATCH if an earlier tensor is the same part of the same tensor of ours. */
static vit_status check_twice(const vit_binding *b, const vit_source *s, vit_error *error) {
    char shown[VIT_NAME_TEXT], other[VIT_NAME_TEXT];
    for (const vit_source *o = b->sources; o < s; o++)
        if (strcmp(o->ours, s->ours) == 0 &&
            (vit_is_whole(o->row) || vit_is_whole(s->row) || o->row->part == s->row->part))
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: tensors %s and %s are the same part of a network, expected one of "
                            "them",
                            vit_tensors_name(b->file), vit_name_text(other, o->tensor->name),
                            vit_name_text(shown, s->tensor->name));
    return VIT_OK;
}

/* Not the network's but the training module's: of the loss; a projector; a second network of a
 * training without labels; or, where the network is wrapped, outside of it and no second network.
 */
static bool is_beside(const choice *c, const char *name) {
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (skip(name, losses[i])) return true;
    const char *inside = inside_wrapper(c, name);
    if (inside && skip(inside, "head.") && c->wrapped >= strlen(MOCO_ENCODER) &&
        skip(inside - strlen(MOCO_ENCODER), MOCO_ENCODER))
        return true;
    if (c->wrapped > 0 && is_copy(c, name) && !is_copy(c, c->wrapper)) return true;
    return c->wrapped > 0 && !inside_wrapper(c, name) && !find_block(c->layout, name);
}

/* Several class tokens, [1][n][D], are registers: of these there may be any number. */
static bool are_classes(const char *ours, const vit_tensor *t) {
    return strcmp(ours, "cls_token") == 0 && t->dims > 1 && t->shape[t->dims - 2] > 1;
}

/* Binds a tensor to its row; one that is cut, or has slices, to the rows after it, too. */
static vit_status bind_tensor(vit_binding *b, const match *m, const vit_tensor *tensor,
                              vit_error *error) {
    char text[NAME_SIZE];
    const vit_layout_row *row = m->row;
    bool again = row->ours && tensor->count > 0; /* some have a class token of no rows */
    for (; again; row++) {
        vit_source *s = &b->sources[b->count];
        *s = (vit_source){.tensor = tensor, .row = row};
        join_name(text, "", m->block != NO_BLOCK ? "blocks.%." : "", m->block,
                  are_classes(row->ours, tensor) ? "reg_token" : row->ours, m->ending);
        snprintf(s->ours, sizeof s->ours, "%.47s", text);
        const vit_status status = check_twice(b, s, error);
        if (status != VIT_OK) return status;
        b->count++;
        again = (vit_joins[row->join].cuts && row->part + row->taken < row->parts) ||
                (vit_joins[row->join].slices && row->part + 1 < row->parts);
    }
    return VIT_OK;
}

/* Whether a row that is not needed is of a training without labels; others are copies of what is
 * known, such as indices of positions, or text encoders. */
static bool is_of_pretraining(const char *theirs) {
    return skip(theirs, "decoder_") || skip(theirs, "head.") || skip(theirs, "mask");
}

/* Adds the first word of a name, or two of one in a wrapper, to what is left out, once. */
static void note_left_out(vit_binding *b, const choice *c, const char *name) {
    const char *inside = inside_wrapper(c, name);
    const char *word = inside ? inside : unwrapped(name);
    char text[40], *list = b->left_out;
    const size_t used = strlen(list);
    snprintf(text, sizeof text, "%.*s", (int)strcspn(word, "."), word);
    for (const char *at = strstr(list, text); at; at = strstr(at + 1, text)) {
        const char after = at[strlen(text)];
        if ((at == list || at[-1] == ' ') && (after == ',' || after == '\0')) return;
    }
    if (used + strlen(text) + 2 < sizeof b->left_out)
        snprintf(list + used, sizeof b->left_out - used, "%s%s", used > 0 ? ", " : "", text);
}

/* Binds every tensor of the part, and notes how the names of blocks begin. */
static vit_status bind_all(vit_binding *b, const choice *c, vit_error *error) {
    const char *strange = NULL;
    for (size_t i = 0; i < vit_tensors_count(b->file); i++) {
        const vit_tensor *tensor = vit_tensors_at(b->file, i);
        match m;
        if (!name_in(c->part, tensor->name) || vit_tensors_are_scales(b->file, tensor)) continue;
        if (!match_name(&m, c, tensor->name)) {
            if (!is_beside(c, tensor->name) && !strange) strange = tensor->name;
            note_left_out(b, c, tensor->name);
            continue;
        }
        if (!m.row->ours && is_of_pretraining(m.row->theirs)) note_left_out(b, c, tensor->name);
        if (m.block != NO_BLOCK) {
            if (m.block + 1 > b->depth) b->depth = m.block + 1;
            b->block = m.block_pattern;
            snprintf(b->prefix, sizeof b->prefix, "%.*s", (int)m.prefix, tensor->name);
        }
        const vit_status status = bind_tensor(b, &m, tensor, error);
        if (status != VIT_OK) return status;
    }
    return strange ? unexpected(c, b, strange, error) : VIT_OK;
}

const vit_parameter *vit_layout_other(const vit_layout_row *row, const vit_parameter *p,
                                      const vit_table *table) {
    char name[NAME_SIZE];
    size_t block = 0;
    if (!match_start("blocks.%.", p->name, &block)) return NULL;
    snprintf(name, sizeof name, "blocks.%zu.%s%s", block, row->beside, strrchr(p->name, '.'));
    return vit_table_find(table, name);
}

/* UNSUPPORTED for a file of PEFT, which has changes of another model alone. */
static vit_status check_adapter(const vit_tensors *file, vit_error *error) {
    for (size_t i = 0; i < vit_tensors_count(file); i++) {
        const char *name = vit_tensors_at(file, i)->name;
        if (!skip(name, "base_model.model.") && !strstr(name, ".lora_A.")) continue;
        return vit_fail(
            error, VIT_ERROR_UNSUPPORTED,
            "%s: an adapter of PEFT (LoRA or its like), which changes another model and is "
            "none itself: merge both in Python, PeftModel.from_pretrained(base, "
            "DIR).merge_and_unload().save_pretrained(OUT), and give OUT",
            vit_tensors_name(file));
    }
    return VIT_OK;
}

vit_status vit_binding_new(vit_binding *out, const vit_tensors *file, const char *part,
                           vit_config_kind kind, vit_error *error) {
    size_t most;
    *out = (vit_binding){.file = file};
    const vit_status whole = check_adapter(file, error);
    if (whole != VIT_OK) return whole;
    const choice c = choose(file, part, kind, &most);
    *out = (vit_binding){
        .file = file, .layout = c.layout, .part = part, .stem = c.stem, .head = c.head};
    if (most == 0) return no_layout(file, part, error);
    out->block = c.layout->blocks[0];
    const size_t most_sources = 2 * vit_tensors_count(file); /* tensors are cut in two at most */
    out->sources = vit_alloc(most_sources, sizeof *out->sources);
    if (!out->sources)
        return vit_fail_memory(error, "the tensors' names", most_sources * sizeof *out->sources);
    const vit_status status = bind_all(out, &c, error);
    if (status != VIT_OK) vit_binding_free(out);
    return status;
}

void vit_binding_take_words(vit_binding *b) {
    b->words = true;
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->sources[i].ours, "head.weight") == 0)
            snprintf(b->sources[i].ours, sizeof b->sources[i].ours, "head_proj.weight");
}

void vit_binding_free(vit_binding *b) {
    vit_free(b->sources);
    *b = (vit_binding){0};
}

const vit_source *vit_binding_find(const vit_binding *b, const char *ours) {
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->sources[i].ours, ours) == 0) return &b->sources[i];
    return NULL;
}

size_t vit_binding_elements(const vit_binding *b, const char *ours) {
    size_t sum = 0;
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->sources[i].ours, ours) == 0) sum += b->sources[i].tensor->count;
    return sum;
}
