/* What config.c and config_decoder.c share. */
#ifndef VIT_MODEL_CONFIG_PARTS_H
#define VIT_MODEL_CONFIG_PARTS_H

#include "vit/base/json.h"
#include "vit/base/text.h"
#include "vit/model/config.h"

/* The names in JSON, by the enum's value, ended by NULL. */
extern const char *const vit_position_names[], *const vit_norm_place_names[];

/* Appends `, "key": true` or false where it is not the usual value. */
void vit_config_write_flag(vit_text *t, const char *key, bool value, bool usual);

/* ARGUMENT for a decoder whose values do not suit each other or the encoder, and for a network
 * without encoder and decoder. */
vit_status vit_config_check_decoder(const vit_config *config, vit_error *error);

/* Reads the key "decoder" of `object`, if it is there; what it leaves out keeps its value. `name`
 * as in vit_config_read. FORMAT. */
vit_status vit_config_read_decoder(vit_config *config, const json_t *object, const char *name,
                                   vit_error *error);

/* Appends `, "decoder": {...}`. */
void vit_config_write_decoder(vit_text *t, const vit_config *config);

#endif
