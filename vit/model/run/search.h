/* Which token comes next: the search for one text while it is written. It is given logits and knows
 * nothing of networks. Greedy, by chance, or a beam search, which keeps the `beams` likeliest
 * beginnings. */
#ifndef VIT_MODEL_RUN_SEARCH_H
#define VIT_MODEL_RUN_SEARCH_H

#include "vit/model/run/generate.h"

/* A finished text, or the beginning of one; START is its first id. */
typedef struct vit_beam {
    uint32_t *ids; /* [count] */
    size_t count;
    double score; /* sum of log p; of a finished text divided by the length penalty */
    size_t from;  /* of an unfinished one: the beam before the last step that it continues */
} vit_beam;

/* A beam with one more token. */
typedef struct vit_candidate {
    size_t beam;
    uint32_t id;
    double score;
} vit_candidate;

typedef struct vit_search {
    const vit_generation *how;
    size_t vocabulary;
    /* [beams] each: unfinished; those of the next step; finished, the best first */
    vit_beam *running, *next, *finished;
    size_t runs, finished_count; /* how many are running, finished */
    size_t length;               /* ids of each running one, START included */
    vit_candidate *candidates;   /* [2 beams] */
    double *log_p;               /* [vocabulary] of the tokens after one beam */
    uint32_t number;             /* of the text, for its random numbers */
    bool beaten;                 /* no running one can become better than the finished ones */
    bool not_finite;             /* a logit was NaN or infinite: the score becomes NaN */
    bool done;
} vit_search;

/* Memory from the arena. how: borrowed. */
void vit_search_carve(vit_search *s, vit_arena *arena, const vit_generation *how,
                      size_t vocabulary);

/* Begins a text, of which there is START alone. number: of the text, for its random numbers. */
void vit_search_start(vit_search *s, uint32_t start, uint32_t number);

/* Takes one token. logits: [runs][vocabulary], of the tokens after each running beam. Afterwards
 * s->done is set, or each running beam has one more id and says in `from` which beam it continues.
 */
void vit_search_step(vit_search *s, const float *logits);

/* The best text, once the search is done; its ids are the search's. */
vit_generated vit_search_result(const vit_search *s);

#endif
