#include "vit/base/guests.h"

#include <stdio.h>
#include <string.h>

static bool has_row(const vit_guest *guest, const char *table) {
    for (const vit_guest_row *r = vit_guest_rows; r->table; r++)
        if (r->guest == guest && strcmp(r->table, table) == 0) return true;
    return false;
}

const char *vit_guests_for(char text[VIT_GUEST_TEXT], const char *table) {
    size_t length = 0;
    text[0] = '\0';
    for (const vit_guest *g = vit_guests; g->name && length < VIT_GUEST_TEXT; g++) {
        if (g->built || !has_row(g, table)) continue;
        length += (size_t)snprintf(text + length, VIT_GUEST_TEXT - length, "%s%s (%s)",
                                   length == 0 ? "; this vit was built without " : ", ", g->name,
                                   g->what);
    }
    if (length > 0 && length < VIT_GUEST_TEXT)
        snprintf(text + length, VIT_GUEST_TEXT - length, ": make without WITHOUT and CORE has all");
    return text;
}

const vit_guest *vit_guest_missing(const char *program, const char *option) {
    for (const vit_guest_option *o = vit_guest_options; o->program; o++)
        if (!o->guest->built && strcmp(o->program, program) == 0 && strcmp(o->name, option) == 0)
            return o->guest;
    return NULL;
}
