/* An expression becomes a program for a machine that goes back: SPLIT remembers its second way, and
 * a failure takes the way remembered last. */
#include "vit/text/unicode/regex.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/utf8.h"
#include "vit/text/unicode/character_sets.h"
#include "vit/text/unicode/unicode.h"
#include <string.h>

/* ---- programs ---- */

typedef enum opcode {
    OP_SET,    /* a character of set x */
    OP_REPEAT, /* x: set; as many as there are, y to z; goes back one by one */
    OP_ATOMIC, /* the same, but does not go back */
    OP_SPLIT,  /* goes on at x, then at y */
    OP_JUMP,   /* goes on at x */
    OP_LOOK,   /* what follows this up to x matches here; goes on at x */
    OP_NOT,    /* it does not */
    OP_START,  /* ^ */
    OP_END,    /* $ */
    OP_MATCH,
    OP_COUNT,
} opcode;

typedef struct instruction {
    opcode op;
    size_t x, y, z;
} instruction;

struct vit_regex {
    instruction *code;
    size_t code_count, code_capacity;
    vit_character_sets sets;
};

enum { MOST_CODE = 20000, MOST_REPEAT = 1000, MOST_DEPTH = 50 };

void vit_regex_free(vit_regex *r) {
    if (!r) return;
    vit_free(r->code);
    vit_sets_free(&r->sets);
    vit_free(r);
}

/* ---- compiling ---- */

typedef struct compiler {
    vit_regex *r;
    const char *pattern, *at, *name;
    bool any_case;
    size_t depth;
    vit_error *error;
} compiler;

static vit_status refuse(const compiler *c, const char *what) {
    return vit_fail(c->error, VIT_ERROR_UNSUPPORTED,
                    "%s: the expression \"%.120s\" has %s at byte %zu, which is not supported",
                    c->name, c->pattern, what, (size_t)(c->at - c->pattern));
}

static vit_status emit(compiler *c, instruction i) {
    vit_regex *r = c->r;
    if (r->code_count >= MOST_CODE) return refuse(c, "too many parts");
    if (!VIT_MAKE_ROOM(r->code, r->code_count, r->code_capacity, "an expression", c->error))
        return VIT_ERROR_MEMORY;
    r->code[r->code_count++] = i;
    return VIT_OK;
}

static vit_status add_item(compiler *c, vit_set_item i) {
    return vit_sets_add_item(&c->r->sets, i, c->error);
}

/* \p{Lu}, \P{L}: c->at stands after the p. */
static vit_status read_property(compiler *c, bool negated) {
    uint32_t categories = 0;
    const char *end = strchr(c->at, '}');
    if (*c->at != '{' || !end) return refuse(c, "a property without braces");
    const char *name = c->at + 1;
    if (*name == '^') negated = !negated;
    name += *name == '^';
    if (!vit_categories_named(&categories, name, (size_t)(end - name)))
        return refuse(c, "a property that is no category such as L or Lu");
    c->at = end + 1;
    return add_item(c, (vit_set_item){VIT_SET_CATEGORIES, negated, categories, 0});
}

/* \s and others; *is_class false: nothing was read. */
static vit_status read_class_escape(compiler *c, bool *is_class) {
    const char letter = c->at[1];
    vit_set_item i = {VIT_SET_CHARACTERS, letter >= 'A' && letter <= 'Z', VIT_SPACES, 0};
    *is_class = letter != 0 && strchr("sSwWdDpP", letter) != NULL;
    if (!*is_class) return VIT_OK;
    c->at += 2;
    if (letter == 'p' || letter == 'P') return read_property(c, i.negated);
    if (letter == 'w' || letter == 'W') i.a = VIT_WORD_CHARACTERS;
    if (letter == 'd' || letter == 'D') {
        i.kind = VIT_SET_CATEGORIES;
        i.a = 1u << VIT_CATEGORY_ND;
    }
    return add_item(c, i);
}

/* *code = the character that stands there, itself or as an escape. */
static vit_status read_character(compiler *c, uint32_t *code) {
    static const char letters[] = "nrtfv", codes[] = "\n\r\t\f\v";
    if (*c->at != '\\') {
        c->at += vit_utf8_get(code, c->at);
        return VIT_OK;
    }
    const char letter = c->at[1], *known = letter ? strchr(letters, letter) : NULL;
    const bool alphanumeric = (letter >= '0' && letter <= '9') ||
                              (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
    if (letter == 0 || (alphanumeric && !known)) return refuse(c, "an escape");
    c->at++;
    if (known) {
        *code = (uint8_t)codes[known - letters];
        c->at++;
    } else {
        c->at += vit_utf8_get(code, c->at);
    }
    return VIT_OK;
}

static vit_status read_range(compiler *c) {
    uint32_t from = 0, to;
    vit_status status = read_character(c, &from);
    to = from;
    if (status == VIT_OK && c->at[0] == '-' && c->at[1] != ']' && c->at[1] != 0) {
        c->at++;
        status = read_character(c, &to);
        if (status == VIT_OK && to < from) return refuse(c, "a range that ends before it begins");
    }
    return status != VIT_OK ? status : add_item(c, (vit_set_item){VIT_SET_RANGE, false, from, to});
}

/* [...] */
static vit_status read_set(compiler *c) {
    vit_status status = VIT_OK;
    bool is_class = false;
    c->at++;
    const bool negated = *c->at == '^';
    c->at += negated;
    do {
        if (*c->at == 0) return refuse(c, "a class without its end");
        if (*c->at == '[' || strncmp(c->at, "&&", 2) == 0) return refuse(c, "a class in a class");
        is_class = false;
        if (*c->at == '\\') status = read_class_escape(c, &is_class);
        if (status == VIT_OK && !is_class) status = read_range(c);
    } while (status == VIT_OK && *c->at != ']');
    if (status != VIT_OK) return status;
    c->at++;
    return vit_sets_close(&c->r->sets, negated, c->any_case, c->error);
}

/* One character or class, as a set. */
static vit_status read_single(compiler *c) {
    bool is_class = false;
    uint32_t code;
    vit_status status = VIT_OK;
    if (*c->at == '[') return read_set(c);
    const bool any = *c->at == '.'; /* all but the end of a line */
    if (*c->at == '\\') status = read_class_escape(c, &is_class);
    if (status == VIT_OK && !is_class) {
        status = read_character(c, &code);
        if (any) code = '\n';
        if (status == VIT_OK)
            status = add_item(c, (vit_set_item){VIT_SET_RANGE, false, code, code});
    }
    return status != VIT_OK ? status : vit_sets_close(&c->r->sets, any, c->any_case, c->error);
}

typedef struct quantifier {
    size_t least, most; /* most SIZE_MAX: any number */
    char kind;          /* 0: greedy, '?': lazy, '+': possessive */
    bool is_one;        /* there is none */
} quantifier;

static bool read_number(const char **at, size_t *value) {
    const char *start = *at;
    *value = 0;
    while (**at >= '0' && **at <= '9' && *value <= MOST_REPEAT)
        *value = *value * 10 + (size_t)(*(*at)++ - '0');
    return *at > start;
}

static vit_status read_quantifier(compiler *c, quantifier *q) {
    *q = (quantifier){1, 1, 0, true};
    if (*c->at == '?' || *c->at == '*' || *c->at == '+') {
        *q = (quantifier){*c->at == '+', *c->at == '?' ? 1 : SIZE_MAX, 0, false};
        c->at++;
    } else if (*c->at == '{') {
        const char *at = c->at + 1;
        const bool low = read_number(&at, &q->least);
        q->most = q->least;
        if (*at == ',') {
            at++;
            if (!read_number(&at, &q->most)) q->most = SIZE_MAX;
        }
        if (!low || *at != '}' || q->least > MOST_REPEAT || q->most < q->least ||
            (q->most != SIZE_MAX && q->most > MOST_REPEAT))
            return refuse(c, "a quantifier");
        c->at = at + 1;
        q->is_one = false;
    }
    if (!q->is_one && (*c->at == '?' || *c->at == '+')) q->kind = *c->at++;
    return VIT_OK;
}

/* ---- groups ---- */

static vit_status read_alternatives(compiler *c);

/* By opcode: whether x says where it goes on; whether it takes y characters at least. */
static const struct {
    bool jumps, takes;
} opcodes[] = {
    [OP_SET] = {.takes = true},   [OP_REPEAT] = {.takes = true}, [OP_ATOMIC] = {.takes = true},
    [OP_SPLIT] = {.jumps = true}, [OP_JUMP] = {.jumps = true},   [OP_LOOK] = {.jumps = true},
    [OP_NOT] = {.jumps = true},   [OP_MATCH] = {false, false},
};
VIT_CHECK_ROWS(opcodes, OP_COUNT);

static bool jumps(const instruction *x) {
    return opcodes[x->op].jumps;
}

static bool takes(const instruction *x) {
    return opcodes[x->op].takes && x->y > 0;
}

/* Makes place for an instruction at `at`. What follows jumps among itself only. */
static vit_status insert(compiler *c, size_t at) {
    const vit_status status = emit(c, (instruction){OP_MATCH, 0, 0, 0});
    if (status != VIT_OK) return status;
    instruction *code = c->r->code;
    memmove(code + at + 1, code + at, (c->r->code_count - 1 - at) * sizeof *code);
    for (size_t i = at + 1; i < c->r->code_count; i++) {
        if (code[i].op == OP_SPLIT) code[i].y++;
        if (jumps(&code[i])) code[i].x++;
    }
    return VIT_OK;
}

/* Whether code[from..to) may match without a character: then a loop around it would not end. Loops
 * in it are no way to do so. */
static bool may_be_empty(const vit_regex *r, size_t from, size_t to) {
    bool *empty = vit_alloc(to - from + 1, sizeof *empty); /* what begins at an instruction */
    if (!empty) return true;
    empty[to - from] = true;
    for (size_t i = to; i-- > from;) {
        const instruction *x = &r->code[i];
        const bool there = jumps(x) && x->x > i && empty[x->x - from];
        const bool other = x->op == OP_SPLIT && x->y > i && empty[x->y - from];
        empty[i - from] = jumps(x) ? there || other : !takes(x) && empty[i + 1 - from];
    }
    const bool answer = empty[0];
    vit_free(empty);
    return answer;
}

/* Puts the quantifier ?, * or + to code[from..). */
static vit_status repeat_group(compiler *c, size_t from, const quantifier *q) {
    const bool loops = q->most == SIZE_MAX, lazy = q->kind == '?';
    vit_status status = VIT_OK;
    if (q->kind == '+') return refuse(c, "a possessive group");
    if (c->r->code_count == from || (loops && may_be_empty(c->r, from, c->r->code_count)))
        return refuse(c, "a repeated group that may be empty");
    if ((!loops && q->most > 1) || q->least > 1) return refuse(c, "a group with a number");
    if (q->least == 0) {
        status = insert(c, from);
        if (status == VIT_OK && loops) status = emit(c, (instruction){OP_JUMP, from, 0, 0});
        if (status != VIT_OK) return status;
        const size_t in = from + 1, out = c->r->code_count;
        c->r->code[from] = (instruction){OP_SPLIT, lazy ? out : in, lazy ? in : out, 0};
        return VIT_OK;
    }
    const size_t out = c->r->code_count + 1;
    return loops ? emit(c, (instruction){OP_SPLIT, lazy ? out : from, lazy ? from : out, 0})
                 : VIT_OK;
}

/* (?:...) (?i:...) (?=...) (?!...) (...) */
static vit_status read_group(compiler *c) {
    const bool any_case = c->any_case;
    bool looks = false;
    const size_t start = c->r->code_count;
    quantifier q;
    vit_status status = VIT_OK;
    if (++c->depth > MOST_DEPTH) return refuse(c, "too many groups in groups");
    if (strncmp(c->at, "(?i:", 4) == 0) {
        c->any_case = true;
        c->at += 4;
    } else if (strncmp(c->at, "(?=", 3) == 0 || strncmp(c->at, "(?!", 3) == 0) {
        const opcode look = c->at[2] == '=' ? OP_LOOK : OP_NOT;
        looks = true;
        c->at += 3;
        status = emit(c, (instruction){look, 0, 0, 0});
    } else if (strncmp(c->at, "(?:", 3) == 0) {
        c->at += 3;
    } else if (c->at[1] == '?' || c->at[1] == '*') {
        return refuse(c, "a group of an unknown kind");
    } else {
        c->at++;
    }
    if (status == VIT_OK) status = read_alternatives(c);
    c->any_case = any_case;
    c->depth--;
    if (status != VIT_OK) return status;
    if (*c->at != ')') return refuse(c, "a group without its end");
    c->at++;
    if (looks) {
        status = emit(c, (instruction){OP_MATCH, 0, 0, 0});
        if (status == VIT_OK) c->r->code[start].x = c->r->code_count;
    }
    if (status == VIT_OK) status = read_quantifier(c, &q);
    if (status != VIT_OK || q.is_one) return status;
    return looks ? refuse(c, "a repeated lookahead") : repeat_group(c, start, &q);
}

/* A set with its quantifier. */
static vit_status read_repeated(compiler *c) {
    quantifier q;
    vit_status status = read_single(c);
    const size_t s = c->r->sets.count - 1;
    if (status == VIT_OK) status = read_quantifier(c, &q);
    if (status != VIT_OK) return status;
    if (q.is_one) return emit(c, (instruction){OP_SET, s, 1, 1});
    if (q.kind != '?')
        return emit(c, (instruction){q.kind == '+' ? OP_ATOMIC : OP_REPEAT, s, q.least, q.most});
    if (q.least > 1 || (q.most != SIZE_MAX && q.most > 1)) return refuse(c, "a lazy number");
    const size_t from = c->r->code_count;
    status = emit(c, (instruction){OP_SET, s, 1, 1});
    return status != VIT_OK ? status : repeat_group(c, from, &q);
}

static vit_status read_sequence(compiler *c) {
    vit_status status = VIT_OK;
    while (status == VIT_OK && *c->at != 0 && *c->at != '|' && *c->at != ')') {
        if (*c->at == '(') {
            status = read_group(c);
        } else if (*c->at == '^' || *c->at == '$') {
            status = emit(c, (instruction){*c->at == '^' ? OP_START : OP_END, 0, 0, 0});
            c->at++;
        } else if (strchr("*+?{", *c->at)) {
            status = refuse(c, "a quantifier of nothing");
        } else {
            status = read_repeated(c);
        }
    }
    return status;
}

/* a|b|c: each is tried by a SPLIT, and jumps behind the last. */
static vit_status read_alternatives(compiler *c) {
    size_t start = c->r->code_count, last = SIZE_MAX; /* a chain of jumps, linked by x */
    vit_status status = read_sequence(c);
    while (status == VIT_OK && *c->at == '|') {
        c->at++;
        status = insert(c, start);
        if (status == VIT_OK) status = emit(c, (instruction){OP_JUMP, last, 0, 0});
        if (status != VIT_OK) return status;
        last = c->r->code_count - 1;
        c->r->code[start] = (instruction){OP_SPLIT, start + 1, last + 1, 0};
        start = last + 1;
        status = read_sequence(c);
    }
    while (last != SIZE_MAX) {
        const size_t next = c->r->code[last].x;
        c->r->code[last].x = c->r->code_count;
        last = next;
    }
    return status;
}

vit_status vit_regex_new(vit_regex **out, const char *pattern, const char *name, vit_error *error) {
    vit_regex *r = vit_alloc(1, sizeof *r);
    compiler c = {.r = r, .pattern = pattern, .at = pattern, .name = name, .error = error};
    *out = NULL;
    if (!r) return vit_fail_memory(error, "an expression", sizeof *r);
    vit_status status = VIT_OK;
    if (vit_utf8_valid(pattern, strlen(pattern)) < strlen(pattern))
        status = refuse(&c, "what is not UTF-8");
    if (status == VIT_OK && strncmp(pattern, "(?i)", 4) == 0) {
        c.any_case = true;
        c.at += 4;
    }
    if (status == VIT_OK) status = read_alternatives(&c);
    if (status == VIT_OK && *c.at != 0) status = refuse(&c, "a ) without its (");
    if (status == VIT_OK) status = emit(&c, (instruction){OP_MATCH, 0, 0, 0});
    if (status != VIT_OK) {
        vit_regex_free(r);
        return status;
    }
    *out = r;
    return VIT_OK;
}

/* ---- matching ---- */

/* A way not taken yet: at code `pc` with the text from `at`; of a REPEAT also each character less,
 * down to `low`. */
typedef struct way {
    size_t pc, at, low;
} way;

typedef struct machine {
    const vit_regex *r;
    const char *text;
    size_t length;
    way *ways;
    size_t count, capacity;
    size_t *steps;
    vit_error *error;
} machine;

typedef enum answer { ANSWER_NO, ANSWER_YES, ANSWER_FAILED } answer;

static bool remember(machine *m, way w) {
    if (!VIT_MAKE_ROOM(m->ways, m->count, m->capacity, "a match", m->error)) return false;
    m->ways[m->count++] = w;
    return true;
}

/* The end of as many characters of a set as there are from `at` on, and are allowed; *least is that
 * of the fewest. false: there are too few. */
static bool run_of(machine *m, const instruction *x, size_t *at, size_t *least) {
    size_t n = 0;
    if (x->y == 0) *least = *at;
    while (n < x->z && *at < m->length) {
        uint32_t c;
        const size_t bytes = vit_utf8_get(&c, m->text + *at);
        if (!vit_sets_have(&m->r->sets, x->x, c)) break;
        *at += bytes;
        if (++n == x->y) *least = *at;
    }
    *m->steps -= vit_min(*m->steps, n);
    return n >= x->y;
}

/* Takes the way remembered last, of those after the first `kept`. */
static bool go_back(machine *m, size_t kept, size_t *pc, size_t *at) {
    uint32_t c;
    if (m->count == kept) return false;
    way *w = &m->ways[m->count - 1];
    *pc = w->pc;
    *at = w->at;
    if (w->at > w->low)
        w->at = vit_utf8_before(&c, m->text, w->at);
    else
        m->count--;
    return true;
}

/* Whether code from `pc` on matches at *at, which becomes the end of the match. */
static answer match(machine *m, size_t pc, size_t *at) {
    const size_t kept = m->count;
    for (;;) {
        const instruction *x = &m->r->code[pc];
        bool fits = true;
        size_t low = 0, there = *at;
        uint32_t c;
        if (*m->steps == 0) {
            vit_fail(m->error, VIT_ERROR_UNSUPPORTED,
                     "an expression of the tokenizer takes too long for a text of %zu bytes",
                     m->length);
            return ANSWER_FAILED;
        }
        --*m->steps;
        switch (x->op) {
        case OP_SET:
            fits = *at < m->length;
            if (!fits) break;
            *at += vit_utf8_get(&c, m->text + *at);
            fits = vit_sets_have(&m->r->sets, x->x, c);
            pc++;
            break;
        case OP_REPEAT:
        case OP_ATOMIC:
            fits = run_of(m, x, at, &low);
            pc++;
            if (!fits || x->op == OP_ATOMIC || *at == low) break;
            there = vit_utf8_before(&c, m->text, *at);
            if (!remember(m, (way){pc, there, low})) return ANSWER_FAILED;
            break;
        case OP_SPLIT:
            if (!remember(m, (way){x->y, *at, *at})) return ANSWER_FAILED;
            pc = x->x;
            break;
        case OP_JUMP:
            pc = x->x;
            break;
        case OP_LOOK:
        case OP_NOT:
            switch (match(m, pc + 1, &there)) {
            case ANSWER_NO:
                fits = x->op != OP_LOOK;
                break;
            case ANSWER_YES:
                fits = x->op == OP_LOOK;
                break;
            case ANSWER_FAILED:
                return ANSWER_FAILED;
            }
            pc = x->x;
            break;
        case OP_START:
            fits = *at == 0 || m->text[*at - 1] == '\n';
            pc++;
            break;
        case OP_END:
            fits = *at == m->length || m->text[*at] == '\n';
            pc++;
            break;
        case OP_MATCH:
        case OP_COUNT:
            m->count = kept;
            return ANSWER_YES;
        }
        if (!fits && !go_back(m, kept, &pc, at)) return ANSWER_NO;
    }
}

vit_status vit_regex_find(bool *found, size_t *start, size_t *end, const vit_regex *r,
                          const char *text, size_t length, size_t from, size_t *steps,
                          vit_error *error) {
    vit_error inside = {.status = VIT_OK};
    machine m = {r, text, length, NULL, 0, 0, steps, &inside};
    answer a = ANSWER_NO;
    for (*start = from;; ++*start) {
        if (*start < length && ((uint8_t)text[*start] & 0xc0) == 0x80) continue;
        *end = *start;
        a = match(&m, 0, end);
        if (a != ANSWER_NO || *start >= length) break;
    }
    vit_free(m.ways);
    *found = false;
    switch (a) {
    case ANSWER_NO:
        break;
    case ANSWER_YES:
        *found = true;
        break;
    case ANSWER_FAILED:
        if (error) *error = inside;
        return inside.status;
    }
    return VIT_OK;
}
