#include "vit/base/npy.h"

enum { PREFIX = 10, ALIGNMENT = 64 }; /* magic, version, length; NumPy's choice */

void vit_text_add_npy(vit_text *t, const char *type, const size_t *shape, size_t dims) {
    vit_text d = {0};
    vit_text_add(&d, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (size_t i = 0; i < dims; i++)
        vit_text_add(&d, "%s%zu%s", i > 0 ? ", " : "", shape[i], dims == 1 ? "," : "");
    vit_text_add(&d, "), }");
    const size_t used = PREFIX + d.length + 1;
    const size_t padding = (ALIGNMENT - used % ALIGNMENT) % ALIGNMENT;
    const size_t length = d.length + padding + 1;
    const char prefix[PREFIX] = {'\x93', 'N', 'U', 'M',          'P',
                                 'Y',    1,   0,   (char)length, (char)(length >> 8)};
    vit_text_add_bytes(t, prefix, PREFIX);
    vit_text_add(t, "%s%*s\n", d.text ? d.text : "", (int)padding, "");
    t->failed |= d.failed;
    vit_text_free(&d);
}
