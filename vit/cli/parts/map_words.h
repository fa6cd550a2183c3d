/* Maps as people ask for them, in words, and as JSON: for vit-explain and vit-serve. Messages begin
 * with `option`, "--class" or "class". Errors: ARGUMENT. */
#ifndef VIT_CLI_PARTS_MAP_WORDS_H
#define VIT_CLI_PARTS_MAP_WORDS_H

#include "vit/formats/json_out.h"
#include "vit/maps.h"

/* A method's name, such as "attention". */
vit_status vit_map_read_method(vit_method *out, const char *option, const char *word,
                               vit_error *error);

/* A label, or else a number of a class. */
vit_status vit_map_read_class(vit_map_options *out, const vit_model *model, const char *option,
                              const char *word, vit_error *error);

/* A head's number, or "mean", "max" or "min" of all. */
vit_status vit_map_read_head(vit_map_options *out, const char *option, const char *word,
                             vit_error *error);

/* "cls", "regN", a patch N or ROW,COLUMN, "mean" or "pool". */
vit_status vit_map_read_query(vit_map_options *out, const vit_model_info *info, const char *option,
                              const char *word, vit_error *error);

/* Adds the members of the object that stands for a map of the picture `file`; "shape" only where it
 * is not the grid, or `shape` asks for it. */
void vit_map_add_json(vit_json_out *json, const char *file, const vit_model *model,
                      vit_method method, const vit_map *map, bool shape);

#endif
