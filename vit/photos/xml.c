#include "vit/photos/xml.h"

#include <string.h>

#include "vit/base/size.h"

static vit_status fail(const vit_xml *x, vit_status status, const char *what, vit_error *error) {
    return vit_fail(error, status, "%s: byte %zu: %s", x->name, x->at, what);
}

bool vit_xml_is(const vit_xml *x, vit_span span, const char *word) {
    const size_t length = strlen(word);
    return span.end - span.begin == length && memcmp(x->text + span.begin, word, length) == 0;
}

static bool are_equal(const vit_xml *x, vit_span a, vit_span b) {
    return a.end - a.begin == b.end - b.begin &&
           memcmp(x->text + a.begin, x->text + b.begin, a.end - a.begin) == 0;
}

bool vit_xml_named(const vit_xml *x, const vit_xml_name *name, const char *space,
                   const char *local) {
    return vit_xml_is(x, name->local, local) && vit_xml_is(x, name->space, space);
}

/* ---- characters ---- */

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Of names: letters, digits and what else XML allows in ASCII, and all signs beyond it. */
static bool is_name_character(char c, bool is_first) {
    const unsigned char u = (unsigned char)c;
    if (u >= 0x80 || (unsigned)((u | 0x20) - 'a') < 26 || u == '_' || u == ':') return true;
    return !is_first && ((unsigned)(u - '0') < 10 || u == '-' || u == '.');
}

static bool begins(const vit_xml *x, const char *word) {
    const size_t length = strlen(word);
    return x->size - x->at >= length && memcmp(x->text + x->at, word, length) == 0;
}

static void skip_space(vit_xml *x) {
    while (x->at < x->size && is_space(x->text[x->at])) x->at++;
}

/* Passes everything up to `end`, and that. */
static vit_status skip_past(vit_xml *x, const char *end, const char *what, vit_error *error) {
    const size_t length = strlen(end), begin = x->at;
    for (; x->size - x->at >= length; x->at++) {
        if (memcmp(x->text + x->at, end, length) != 0) continue;
        x->at += length;
        return VIT_OK;
    }
    x->at = begin;
    return fail(x, VIT_ERROR_FORMAT, what, error);
}

vit_status vit_xml_open(vit_xml *x, const char *text, size_t size, const char *name,
                        vit_error *error) {
    *x = (vit_xml){.text = text, .size = size, .name = name};
    if (size >= 2 && ((uint8_t)text[0] == 0xfe || (uint8_t)text[0] == 0xff))
        return fail(x, VIT_ERROR_UNSUPPORTED, "it is UTF-16 or UTF-32, expected UTF-8", error);
    for (x->at = 0; x->at < size;) {
        const unsigned char c = (unsigned char)text[x->at];
        char sign[5] = {0}; /* what is behind the end is no part of it */
        memcpy(sign, text + x->at, vit_min(size - x->at, 4));
        const size_t length = c < 0x80 ? 1 : vit_utf8_length(sign);
        if (c == 0x7f || (c < 0x20 && !is_space((char)c)))
            return fail(x, VIT_ERROR_FORMAT, "a control character, expected XML", error);
        if (length == 0) return fail(x, VIT_ERROR_FORMAT, "it is not UTF-8", error);
        x->at += length;
    }
    x->at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return VIT_OK;
}

/* ---- references ---- */

static const struct {
    const char *name;
    char sign;
} entities[] = {{"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}};

/* The number of "#65;" or "#x41;"; 0: it is none that XML allows. *length: of its bytes. */
static uint32_t parse_number(size_t *length, const char *text, size_t size) {
    const bool is_hex = size > 1 && text[1] == 'x';
    uint32_t value = 0;
    size_t at = is_hex ? 2 : 1;
    const size_t first = at;
    for (; at < size && text[at] != ';'; at++) {
        const char c = text[at], lower = (char)(c | 0x20);
        const bool is_letter = is_hex && lower >= 'a' && lower <= 'f';
        if (!is_letter && (c < '0' || c > '9')) return 0;
        value = value * (is_hex ? 16 : 10) + (uint32_t)(is_letter ? lower - 'a' + 10 : c - '0');
        if (value > 0x10ffff) return 0;
    }
    *length = at + 1;
    if (at == size || at == first || (value >= 0xd800 && value < 0xe000)) return 0;
    return value < 0x20 && !is_space((char)value) ? 0 : value;
}

/* The character that a reference stands for; text: behind its '&'. 0: it is none. */
static uint32_t parse_reference(size_t *length, const char *text, size_t size) {
    if (size > 0 && text[0] == '#') return parse_number(length, text, size);
    for (size_t i = 0; i < VIT_COUNT(entities); i++) {
        *length = strlen(entities[i].name);
        if (size >= *length && memcmp(text, entities[i].name, *length) == 0)
            return (uint32_t)entities[i].sign;
    }
    return 0;
}

static vit_status check_references(vit_xml *x, vit_span span, vit_error *error) {
    for (size_t at = span.begin; at < span.end; at++) {
        size_t length = 0;
        if (x->text[at] != '&') continue;
        if (parse_reference(&length, x->text + at + 1, span.end - at - 1) != 0) continue;
        x->at = at;
        return fail(x, VIT_ERROR_FORMAT,
                    "a reference is none of &amp; &lt; &gt; &quot; &apos; or a character's number",
                    error);
    }
    return VIT_OK;
}

static void add_character(vit_string *out, uint32_t c) {
    char bytes[4];
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; c >>= 6) bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(lead[length] | c);
    vit_string_add_bytes(out, bytes, length);
}

void vit_xml_decode(vit_string *out, const vit_xml *x, vit_span span) {
    vit_string_add(out, "%s", "");
    for (size_t at = span.begin; at < span.end;) {
        const char *from = x->text + at, *sign = memchr(from, '&', span.end - at);
        const size_t plain = sign ? (size_t)(sign - from) : span.end - at;
        size_t length = 0;
        vit_string_add_bytes(out, from, plain);
        at += plain;
        if (!sign) return;
        const uint32_t c = parse_reference(&length, x->text + at + 1, span.end - at - 1);
        if (c != 0) add_character(out, c);
        at += 1 + length;
    }
}

bool vit_xml_encode(vit_string *out, const char *text) {
    for (const char *at = text; *at;) {
        const size_t length = vit_utf8_length(at);
        const unsigned char c = (unsigned char)*at;
        if ((c < 0x20 && !is_space(*at)) || c == 0x7f || length == 0) return false;
        if (*at == '&' || *at == '<' || *at == '>')
            vit_string_add(out, "%s", *at == '&' ? "&amp;" : *at == '<' ? "&lt;" : "&gt;");
        else
            vit_string_add_bytes(out, at, length);
        at += length;
    }
    return true;
}

/* ---- names ---- */

static vit_status read_name(vit_xml *x, vit_xml_name *name, vit_error *error) {
    const size_t begin = x->at;
    size_t colon = 0, colons = 0;
    if (x->at == x->size || !is_name_character(x->text[x->at], true))
        return fail(x, VIT_ERROR_FORMAT, "a name is expected", error);
    for (; x->at < x->size && is_name_character(x->text[x->at], false); x->at++) {
        if (x->text[x->at] != ':') continue;
        colon = x->at;
        colons++;
    }
    *name = (vit_xml_name){.whole = {begin, x->at}, .local = {begin, x->at}};
    if (colons == 0) return VIT_OK;
    name->local.begin = colon + 1;
    if (colons > 1 || colon == begin || colon + 1 == x->at)
        return fail(x, VIT_ERROR_FORMAT, "a name has its colon in the wrong place", error);
    return VIT_OK;
}

static vit_span prefix_of(const vit_xml_name *name) {
    const bool has_one = name->local.begin > name->whole.begin;
    return (vit_span){name->whole.begin, has_one ? name->local.begin - 1 : name->whole.begin};
}

/* name->space = what its prefix is declared to be. An attribute without one is in no namespace. */
static vit_status resolve(vit_xml *x, vit_xml_name *name, bool is_attribute, vit_error *error) {
    const vit_span prefix = prefix_of(name);
    const bool has_none = prefix.begin == prefix.end;
    name->space = (vit_span){0};
    if ((has_none && is_attribute) || vit_xml_is(x, prefix, "xml")) return VIT_OK;
    for (size_t i = x->binding_count; i-- > 0;) {
        if (!are_equal(x, x->bindings[i].prefix, prefix)) continue;
        name->space = x->bindings[i].uri;
        return VIT_OK;
    }
    return has_none ? VIT_OK
                    : fail(x, VIT_ERROR_FORMAT, "a prefix is not declared by xmlns", error);
}

/* ---- tags ---- */

static vit_status read_value(vit_xml *x, vit_span *value, vit_error *error) {
    skip_space(x);
    if (x->at == x->size || x->text[x->at] != '=')
        return fail(x, VIT_ERROR_FORMAT, "a = is expected behind an attribute's name", error);
    x->at++;
    skip_space(x);
    const char quote = x->at < x->size ? x->text[x->at] : 0;
    if (quote != '"' && quote != '\'')
        return fail(x, VIT_ERROR_FORMAT, "an attribute's value is not in quotes", error);
    value->begin = ++x->at;
    while (x->at < x->size && x->text[x->at] != quote && x->text[x->at] != '<') x->at++;
    if (x->at == x->size || x->text[x->at] == '<')
        return fail(x, VIT_ERROR_FORMAT, "a quote does not end", error);
    value->end = x->at++;
    const size_t after = x->at;
    const vit_status status = check_references(x, *value, error);
    if (status == VIT_OK) x->at = after;
    return status;
}

static vit_status bind(vit_xml *x, vit_span prefix, vit_span uri, vit_error *error) {
    if (x->binding_count == VIT_XML_NAMESPACES)
        return fail(x, VIT_ERROR_UNSUPPORTED, "more namespaces are declared than are read", error);
    for (size_t i = 0; i < x->binding_count; i++)
        if (x->bindings[i].depth == x->depth && are_equal(x, x->bindings[i].prefix, prefix))
            return fail(x, VIT_ERROR_FORMAT, "a prefix is declared twice", error);
    x->bindings[x->binding_count].prefix = prefix;
    x->bindings[x->binding_count].uri = uri;
    x->bindings[x->binding_count++].depth = x->depth;
    return VIT_OK;
}

static vit_status read_attribute(vit_xml *x, vit_error *error) {
    vit_xml_attribute a = {0};
    vit_status status = read_name(x, &a.name, error);
    if (status == VIT_OK) status = read_value(x, &a.value, error);
    if (status != VIT_OK) return status;
    if (vit_xml_is(x, a.name.whole, "xmlns"))
        return bind(x, (vit_span){a.name.whole.begin, a.name.whole.begin}, a.value, error);
    if (vit_xml_is(x, prefix_of(&a.name), "xmlns")) return bind(x, a.name.local, a.value, error);
    if (x->attribute_count == VIT_XML_ATTRIBUTES)
        return fail(x, VIT_ERROR_UNSUPPORTED, "an element has more attributes than are read",
                    error);
    for (size_t i = 0; i < x->attribute_count; i++)
        if (are_equal(x, x->attributes[i].name.whole, a.name.whole))
            return fail(x, VIT_ERROR_FORMAT, "an attribute comes twice", error);
    x->attributes[x->attribute_count++] = a;
    return VIT_OK;
}

static vit_status read_attributes(vit_xml *x, vit_error *error) {
    for (;;) {
        const size_t before = x->at;
        skip_space(x);
        if (begins(x, ">") || begins(x, "/>")) return VIT_OK;
        if (x->at == before) return fail(x, VIT_ERROR_FORMAT, "a tag does not end", error);
        const vit_status status = read_attribute(x, error);
        if (status != VIT_OK) return status;
    }
}

static vit_status read_start(vit_xml *x, vit_error *error) {
    if (x->is_done) return fail(x, VIT_ERROR_FORMAT, "there is a second root element", error);
    if (x->depth == VIT_XML_DEPTH)
        return fail(x, VIT_ERROR_UNSUPPORTED, "elements lie deeper than is read", error);
    x->at++;
    x->depth++;
    x->attribute_count = 0;
    vit_status status = read_name(x, &x->element, error);
    if (status == VIT_OK) status = read_attributes(x, error);
    if (status == VIT_OK) status = resolve(x, &x->element, false, error);
    for (size_t i = 0; i < x->attribute_count && status == VIT_OK; i++)
        status = resolve(x, &x->attributes[i].name, true, error);
    if (status != VIT_OK) return status;
    x->is_empty = x->text[x->at] == '/';
    x->at += x->is_empty ? 2 : 1;
    x->open[x->depth - 1] = x->element;
    x->kind = VIT_XML_START;
    return VIT_OK;
}

/* Closes the innermost element. */
static void close_element(vit_xml *x) {
    x->element = x->open[--x->depth];
    while (x->binding_count > 0 && x->bindings[x->binding_count - 1].depth > x->depth)
        x->binding_count--;
    x->is_done = x->depth == 0;
    x->is_empty = false;
    x->kind = VIT_XML_END;
}

static vit_status read_end(vit_xml *x, vit_error *error) {
    vit_xml_name name;
    x->at += 2;
    const vit_status status = read_name(x, &name, error);
    if (status != VIT_OK) return status;
    if (x->depth == 0 || !are_equal(x, name.whole, x->open[x->depth - 1].whole))
        return fail(x, VIT_ERROR_FORMAT, "an element ends that is not the innermost one", error);
    skip_space(x);
    if (!begins(x, ">")) return fail(x, VIT_ERROR_FORMAT, "a tag does not end", error);
    x->at++;
    close_element(x);
    return VIT_OK;
}

/* ---- what else there is ---- */

/* <?xml ... encoding="..."?> may say UTF-8 alone. */
static vit_status skip_instruction(vit_xml *x, vit_error *error) {
    const size_t begin = x->at;
    const bool is_declaration =
        begins(x, "<?xml") && x->size - begin > 5 && is_space(x->text[begin + 5]);
    const vit_status status = skip_past(x, "?>", "an instruction does not end", error);
    if (status != VIT_OK || !is_declaration) return status;
    for (size_t at = begin; at + 14 < x->at; at++) {
        if (memcmp(x->text + at, "encoding=", 9) != 0) continue;
        const char *value = x->text + at + 10;
        if ((value[0] | 0x20) == 'u' && (value[1] | 0x20) == 't' && (value[2] | 0x20) == 'f' &&
            value[3] == '-' && value[4] == '8')
            return VIT_OK;
        x->at = at;
        return fail(x, VIT_ERROR_UNSUPPORTED, "its encoding is another one than UTF-8", error);
    }
    return VIT_OK;
}

static vit_status read_text(vit_xml *x, vit_error *error) {
    const size_t begin = x->at;
    while (x->at < x->size && x->text[x->at] != '<') x->at++;
    const vit_span span = {begin, x->at};
    for (size_t i = begin; x->depth == 0 && i < span.end; i++)
        if (!is_space(x->text[i])) {
            x->at = i;
            return fail(x, VIT_ERROR_FORMAT, "text outside of the root element", error);
        }
    x->kind = VIT_XML_TEXT;
    const size_t after = x->at;
    const vit_status status = check_references(x, span, error);
    if (status == VIT_OK) x->at = after;
    return status;
}

static vit_status read_cdata(vit_xml *x, vit_error *error) {
    if (x->depth == 0) return fail(x, VIT_ERROR_FORMAT, "text outside of the root element", error);
    x->kind = VIT_XML_CDATA;
    return skip_past(x, "]]>", "a CDATA section does not end", error);
}

vit_status vit_xml_next(vit_xml *x, vit_error *error) {
    vit_status status = VIT_OK;
    if (x->kind == VIT_XML_START && x->is_empty) {
        x->token = (vit_span){x->at, x->at};
        close_element(x);
        return VIT_OK;
    }
    while (status == VIT_OK && (begins(x, "<?") || begins(x, "<!--")))
        status = begins(x, "<?") ? skip_instruction(x, error)
                                 : skip_past(x, "-->", "a comment does not end", error);
    if (status != VIT_OK) return status;
    x->token.begin = x->at;
    if (x->at == x->size) {
        x->kind = VIT_XML_EOF;
        x->token.end = x->at;
        return x->is_done
                   ? VIT_OK
                   : fail(x, VIT_ERROR_FORMAT, "it ends before its root element does", error);
    }
    if (begins(x, "<!DOCTYPE"))
        return fail(x, VIT_ERROR_UNSUPPORTED, "it has a document type, which is not read", error);
    if (begins(x, "<![CDATA["))
        status = read_cdata(x, error);
    else if (begins(x, "</"))
        status = read_end(x, error);
    else if (begins(x, "<"))
        status = read_start(x, error);
    else
        status = read_text(x, error);
    x->token.end = x->at;
    return status;
}
