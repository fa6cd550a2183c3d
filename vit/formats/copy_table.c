#include "vit/formats/copy_table.h"
#include "vit/formats/csv.h"

const char vit_copy_table_head[] =
    "picture,split,label,copy_of,copy_of_split,copy_of_label,alike\n";

static void add_side(vit_string *text, const vit_copy_side *side) {
    vit_csv_path(text, side->file);
    vit_string_add(text, ",%s,", side->split);
    vit_csv_field(text, side->label);
    vit_string_add(text, ",");
}

void vit_copy_table_add(vit_string *text, const vit_copy_side *picture, const vit_copy_side *of,
                        const char *alike) {
    add_side(text, picture);
    add_side(text, of);
    vit_string_add(text, "%s\n", alike);
}
