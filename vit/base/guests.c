#include "vit/base/guests.h"

#include <stdio.h>
#include <string.h>

const char *vit_guests_for(char text[VIT_GUEST_TEXT], const char *table) {
    size_t length = 0;
    const vit_guest *last = NULL;
    text[0] = '\0';
    for (const vit_guest_row *r = vit_guest_rows; r->table && length < VIT_GUEST_TEXT; r++) {
        if (r->guest->built || r->guest == last || strcmp(r->table, table) != 0) continue;
        last = r->guest;
        length += (size_t)snprintf(text + length, VIT_GUEST_TEXT - length, "%s%s (%s)",
                                   length == 0 ? "; this vit was built without " : ", ", last->name,
                                   last->what);
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
