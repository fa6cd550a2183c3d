/* The models that are part of the program; scripts/embed-models writes the list. */
#ifndef VIT_CLI_SERVE_SHIPPED_H
#define VIT_CLI_SERVE_SHIPPED_H

#include <stdint.h>

typedef struct serve_shipped {
    const char *name;           /* NULL: the end of the list */
    const uint8_t *begin, *end; /* a model file */
} serve_shipped;

extern const serve_shipped serve_shipped_models[];

#endif
