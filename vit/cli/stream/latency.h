/* How long answers took, of any number of them, in a fixed room: counts by size, each 1/32 wide. */
#ifndef VIT_CLI_STREAM_LATENCY_H
#define VIT_CLI_STREAM_LATENCY_H

#include "vit/formats/json_out.h"

typedef struct vit_latency {
    uint64_t counts[40 * 32]; /* of microseconds: 32 for each power of two */
    uint64_t count;
    double largest; /* seconds */
} vit_latency;

void vit_latency_add(vit_latency *latency, double seconds);

/* Adds {"median": ..., "p95": ..., "max": ...} in milliseconds; null if there are none. */
void vit_latency_json(vit_json_out *json, const char *key, const vit_latency *latency);

#endif
