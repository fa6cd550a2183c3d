/* vit/texts.h - models that write texts: what a picture says, a number in another language.
 *
 *     vit_text_session *session;
 *     vit_text_answer answer;
 *     const vit_picture picture = {.name = "row.png"};
 *     if (vit_text_session_new(&session, model, NULL, &error) == VIT_OK &&
 *         vit_read_pictures(session, &picture, 1, &answer, &error) == VIT_OK) {
 *         puts(answer.text ? answer.text : answer.error.message);
 *         vit_text_answers_clear(&answer, 1);
 *     }
 *     vit_text_session_free(session);
 *
 * The rules of vit/vit.h hold here, too. */
#ifndef VIT_TEXTS_H
#define VIT_TEXTS_H

#include "vit/maps.h"
#include "vit/vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When a beam search that has `beams` finished texts ends: Hugging Face's early_stopping. */
typedef enum vit_early_stopping {
    VIT_EARLY_STOPPING_FALSE, /* when no unfinished text would be better at its present length:
                                 false */
    VIT_EARLY_STOPPING_TRUE,  /* at once: true */
    VIT_EARLY_STOPPING_NEVER, /* when none could be better at the greatest length either: "never" */
    VIT_EARLY_STOPPING_COUNT,
} vit_early_stopping;

/* What a model takes and what it answers with. */
typedef struct vit_text_info {
    bool writes; /* it answers with texts and has no classes; otherwise it names classes */
    bool reads_pictures, reads_texts; /* both false: it takes no input */
    /* How it writes unless vit_text_options say otherwise; the fields mean the same there: */
    size_t beams, length, no_repeat;
    double length_penalty;
    vit_early_stopping early_stopping;
    size_t tokens; /* size of the tokenizer published with it; 0: it has a vocabulary of its own */
} vit_text_info;

VIT_API vit_text_info vit_text_describe(const vit_model *model);

/* How vit_evaluation is filled for a model that writes texts. Texts are written greedily. `correct`
 * counts the texts that are right as a whole; top1 and sequences_right are their share, 0..1.
 * tokens_right is the share of tokens predicted rightly, given the right ones before them.
 * edit_distance is the characters to insert, delete or replace, divided by the characters of the
 * right texts. loss is the mean over tokens. entropy is the loss of an ideal language model, which
 * knows how likely each text of the data is; 0 where that is not known. There are no classes, and
 * top5 is NaN. */

typedef struct vit_text_session vit_text_session;

/* How to write texts. Zeroed: as the model says, else greedily. */
typedef struct vit_text_options {
    int threads; /* threads, cpu and precision are as in vit_session_options */
    const char *cpu;
    vit_precision precision;
    vit_bf16 bf16; /* as in vit_session_options */
    size_t beams;  /* 0: the model's; 1: greedy */
    size_t length; /* most tokens, counting the start token; 0: the model's */
    /* for beams, else ARGUMENT: a score is the sum of log p / tokens^length_penalty; and a
     * vit_early_stopping */
    vit_optional length_penalty, early_stopping;
    vit_optional no_repeat; /* no sequence of this many tokens occurs twice; 0: it may */
    bool sample;        /* draw the next token at random: softmax(logits / temperature) of the top_k
                           likeliest */
    double temperature; /* with sample, else ARGUMENT; 0: 1 */
    size_t top_k;       /* the same; 0: all */
    uint64_t seed;
} vit_text_options;

typedef struct vit_text_answer {
    vit_error error;     /* status VIT_OK: there is an answer */
    const char *warning; /* as from vit_session_warning */
    char *text;          /* UTF-8 */
    uint32_t *ids;       /* [count], without start and end tokens */
    size_t count;
    double score; /* the sum of log p of its tokens and of the end token; for beams, divided as
                     length_penalty says */
    bool ended;   /* false: it was cut off at the greatest length */
} vit_text_answer;

/* Makes a session for writing texts, used by one thread of the caller at a time; the model must
 * outlive it. MISMATCH for a model that writes no texts. */
VIT_API vit_status vit_text_session_new(vit_text_session **out, const vit_model *model,
                                        const vit_text_options *options, vit_error *error);
VIT_API void vit_text_session_free(vit_text_session *session);

/* Write a text for each picture, or each source text. answers: [count], freed by
 * vit_text_answers_clear; where an input fails, its answer has an error and no text. The call
 * itself fails when memory runs out, and for a model that takes the other kind of input. `texts`
 * may be NULL for a language model, which takes no input. */
VIT_API vit_status vit_read_pictures(vit_text_session *session, const vit_picture *pictures,
                                     size_t count, vit_text_answer *answers, vit_error *error);
VIT_API vit_status vit_read_texts(vit_text_session *session, const char *const *texts, size_t count,
                                  vit_text_answer *answers, vit_error *error);
VIT_API void vit_text_answers_clear(vit_text_answer *answers, size_t count);

/* Shows what the model looked at while it wrote `answer`, which one of the two functions above gave
 * for this picture or this text (both NULL for a language model). The result is a self-contained
 * HTML page with all layers and heads, headed by `title`; or, with `png`, an image of the last
 * layer: for a picture one overlay per token, for a text a matrix. Freed by vit_buffer_clear.
 * UNSUPPORTED for a page of more than 8 MB. */
VIT_API vit_status vit_explain_text(vit_text_session *session, const vit_picture *picture,
                                    const char *text, const vit_text_answer *answer,
                                    const char *title, bool png, vit_buffer *out, vit_error *error);

#ifdef __cplusplus
}
#endif

#endif
