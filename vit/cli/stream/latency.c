#include "vit/cli/stream/latency.h"

#include <math.h>

enum { PARTS = 32, POWERS = 40 };

/* Below 64 microseconds each has a count of its own; above it those that agree in the first six
 * binary digits. */
static size_t place_of(double seconds) {
    uint64_t us = seconds > 0 ? (uint64_t)(seconds * 1e6) : 0;
    size_t power = 0;
    for (; us >= 2 * PARTS && power < POWERS - 2; us >>= 1) power++;
    if (us >= 2 * PARTS) us = 2 * PARTS - 1;
    return power * PARTS + (size_t)us;
}

/* The smallest value of a place, in milliseconds. */
static double value_of(size_t place) {
    if (place < 2 * PARTS) return (double)place / 1000;
    const size_t power = place / PARTS - 1;
    return (double)((uint64_t)(place - power * PARTS) << power) / 1000;
}

void vit_latency_add(vit_latency *l, double seconds) {
    l->counts[place_of(seconds)]++;
    l->count++;
    if (seconds > l->largest) l->largest = seconds;
}

static double quantile(const vit_latency *l, double share) {
    const double wanted = share * (double)l->count;
    uint64_t sum = 0;
    if (l->count == 0) return NAN;
    for (size_t i = 0; i < PARTS * POWERS; i++) {
        sum += l->counts[i];
        if ((double)sum >= wanted && sum > 0) return value_of(i);
    }
    return l->largest * 1000;
}

void vit_latency_json(vit_json_out *json, const char *key, const vit_latency *l) {
    vit_json_open(json, key, '{');
    vit_json_number(json, "median", quantile(l, 0.5));
    vit_json_number(json, "p95", quantile(l, 0.95));
    vit_json_fixed(json, "max", l->count > 0 ? l->largest * 1000 : NAN, 3);
    vit_json_close(json, '}');
}
