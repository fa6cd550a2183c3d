/* What the tensors show of their network, and what the config adds. */
#ifndef VIT_WEIGHTS_FACTS_H
#define VIT_WEIGHTS_FACTS_H

#include "vit/weights/declared.h"
#include "vit/weights/layout.h"

/* The config of the network: from the shapes of the tensors, and where `d` says something, from
 * that; whether the two agree shows when the tensors are loaded. UNSUPPORTED, saying what to add,
 * for what neither shows. */
vit_status vit_facts_config(vit_config *out, const vit_binding *b, const vit_declared *d,
                            vit_error *error);

#endif
