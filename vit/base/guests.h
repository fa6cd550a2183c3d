/* Which guests this vit was built with. The list `guests` in the root of the sources has them;
 * scripts/guests makes these tables of it. */
#ifndef VIT_BASE_GUESTS_H
#define VIT_BASE_GUESTS_H

#include <stdbool.h>

#define VIT_GUEST_TEXT 400

typedef struct vit_guest {
    const char *name, *what;
    bool built;
} vit_guest;

extern const vit_guest vit_guests[]; /* ended by a name of NULL */

/* An option of a program of the core that only a guest serves. */
typedef struct vit_guest_option {
    const char *program, *name;
    const vit_guest *guest;
} vit_guest_option;

extern const vit_guest_option vit_guest_options[]; /* ended by a program of NULL */

/* A row that a guest has in a table or slot. */
typedef struct vit_guest_row {
    const char *table;
    const vit_guest *guest;
} vit_guest_row;

extern const vit_guest_row vit_guest_rows[]; /* ended by a table of NULL */

/* text = a half sentence that names the guests with rows in the table that are not built in, and
 * how to build them, to follow a message; "" if there are none. Returns text. */
const char *vit_guests_for(char text[VIT_GUEST_TEXT], const char *table);

/* The guest that serves the option and is not built in; NULL: none. */
const vit_guest *vit_guest_missing(const char *program, const char *option);

#endif
