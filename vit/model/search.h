/* Which tokens are taken: the state of one text while it is written, apart from any network. */
#ifndef VIT_MODEL_SEARCH_H
#define VIT_MODEL_SEARCH_H

#include "vit/model/write.h"

/* A text, or the beginning of one, START with it. */
typedef struct vit_beam {
    uint32_t *ids; /* [length] */
    size_t count;
    double score; /* sum of log p; of a whole text divided as length_penalty says */
    size_t from;  /* of a running one: the beam that it goes on from */
} vit_beam;

typedef struct vit_candidate {
    size_t beam;
    uint32_t id;
    double score;
} vit_candidate;

typedef struct vit_search {
    const vit_writing *how;
    size_t vocabulary;
    vit_beam *running, *next, *whole; /* [beams] each */
    size_t runs, wholes;              /* how many there are */
    size_t length;                    /* of all running ones, START with it */
    vit_candidate *candidates;        /* [2 beams] */
    double *log_p;                    /* [vocabulary] of one beam */
    uint32_t number;
    bool hopeless;   /* no running one can overtake any more */
    bool numberless; /* a logit was NaN or infinite: the score becomes NaN */
    bool done;
} vit_search;

void vit_search_carve(vit_search *s, vit_arena *arena, const vit_writing *how, size_t vocabulary);

/* Only START is there. number: of the text, for its random numbers. */
void vit_search_start(vit_search *s, uint32_t start, uint32_t number);

/* logits: [runs][vocabulary], after the last token of each running one. Afterwards `done`, or each
 * running one has one token more, its last, which goes on from what was number `from`. */
void vit_search_step(vit_search *s, const float *logits);

/* When it is done. */
vit_written vit_search_result(const vit_search *s);

#endif
