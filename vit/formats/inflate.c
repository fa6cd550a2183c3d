#include "vit/formats/inflate.h"
#include "vit/base/sys.h"

static voidpf take(voidpf unused, uInt count, uInt size) {
    (void)unused;
    return vit_alloc(count, size);
}

static void give(voidpf unused, voidpf memory) {
    (void)unused;
    vit_free(memory);
}

z_stream vit_inflate_stream(void) {
    return (z_stream){.zalloc = take, .zfree = give};
}
