#include "vit/train/recipe/expect.h"
#include "vit/base/math.h"
#include <math.h>
#include <string.h>

#define BEYOND 1.25 /* times the longest, or shortest, training */

vit_expectation vit_expect(const vit_measured *rows, const char *data_sha256, const char *preset,
                           double steps) {
    const vit_measured *below = NULL, *above = NULL, *longest = NULL;
    vit_expectation e = {.top1 = NAN, .at_least = NAN};
    for (const vit_measured *m = rows; m->data_sha256; m++) {
        if (strcmp(m->data_sha256, data_sha256) != 0 || strcmp(m->preset, preset) != 0) continue;
        if (!longest || m->steps > longest->steps) longest = m;
        if (m->steps <= steps && (!below || m->steps > below->steps)) below = m;
        if (m->steps >= steps && (!above || m->steps < above->steps)) above = m;
    }
    if (!longest) return e;
    e.step_seconds = longest->seconds / longest->steps;
    if (!below && steps * BEYOND >= above->steps) below = above;
    if (below && !above) e.at_least = below->top1;
    if (!above && steps <= BEYOND * below->steps) above = below;
    if (!below || !above) return e;
    e.first = below->steps, e.last = above->steps;
    const double whole = vit_log(e.last / e.first);
    const double share = whole > 0 ? vit_log(steps / e.first) / whole : 0;
    e.at_least = e.top1 = below->top1 + share * (above->top1 - below->top1);
    return e;
}
