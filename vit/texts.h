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

/* When beams end that might still be overtaken, as Hugging Face's early_stopping false, true and
 * "never" have it. */
typedef enum vit_stop { VIT_STOP_USUAL, VIT_STOP_EARLY, VIT_STOP_SURE } vit_stop;

/* What a model is given and what it answers with. */
typedef struct vit_text_info {
    bool writes; /* its answers are texts, and it has no classes; else it names classes */
    bool reads_pictures, reads_texts; /* both false: it is given nothing */
    /* How it writes unless vit_text_options say otherwise, in their words: */
    size_t beams, length, no_repeat;
    double length_penalty;
    vit_stop stop;
    size_t tokens; /* of the tokenizer that it was published with; 0: it has signs of its own */
} vit_text_info;

VIT_API vit_text_info vit_text_describe(const vit_model *model);

/* vit_evaluate of a model that writes texts: `correct` and top1 are of whole texts, as they are
 * written greedily, and so is sequences_right, 0..1; tokens_right is the share of tokens that it
 * would write next, given the right ones before them; edit_distance the signs to insert, delete or
 * replace in what is written, over the signs of the right texts; loss the mean over tokens; entropy
 * what the loss of a language model would be that knew how likely each text of its data is, 0 where
 * nobody knows. There are no classes, and top5 is NaN. */

typedef struct vit_text_session vit_text_session;

/* How texts are written; zeroed: as the model says, else greedily. */
typedef struct vit_text_options {
    int threads; /* these three as in vit_session_options */
    const char *cpu;
    vit_precision precision;
    size_t beams;  /* 0: the model's; 1: greedy */
    size_t length; /* tokens at most, with that which every text starts with; 0: the model's */
    double length_penalty; /* of beams: a score is the sum of log p / tokens^length_penalty */
    bool length_penalty_given;
    vit_stop stop;
    bool stop_given;
    size_t no_repeat; /* no so many tokens are there twice; 0: they may be */
    bool no_repeat_given;
    bool
        sample; /* the next token by chance: softmax(logits / temperature) of the top_k likeliest */
    double temperature; /* 0: 1 */
    size_t top_k;       /* 0: all */
    uint64_t seed;
} vit_text_options;

typedef struct vit_text_answer {
    vit_error error;     /* its status is VIT_OK where there is an answer */
    const char *warning; /* as vit_session_warning has it */
    char *text;          /* UTF-8 */
    uint32_t *ids;       /* [count], without those that a text starts and ends with */
    size_t count;
    double score; /* the sum of log p of its tokens, the end with them; of beams divided as
                     length_penalty says */
    bool ended;   /* false: it became as long as it may */
} vit_text_answer;

/* MISMATCH for a model that writes no texts. The model must outlive it. */
VIT_API vit_status vit_text_session_new(vit_text_session **out, const vit_model *model,
                                        const vit_text_options *options, vit_error *error);
VIT_API void vit_text_session_free(vit_text_session *session);

/* answers: [count], freed by vit_text_answers_clear; those of pictures, or texts, that failed have
 * an error and no text. Fails where memory does, and for a model that reads the other kind. Texts
 * of a language model may be NULL: it is given nothing. */
VIT_API vit_status vit_read_pictures(vit_text_session *session, const vit_picture *pictures,
                                     size_t count, vit_text_answer *answers, vit_error *error);
VIT_API vit_status vit_read_texts(vit_text_session *session, const char *const *texts, size_t count,
                                  vit_text_answer *answers, vit_error *error);
VIT_API void vit_text_answers_clear(vit_text_answer *answers, size_t count);

/* What the model looked at while it wrote an answer, which one of the two above gave to this
 * picture, or to this text (both NULL of a language model): a page of HTML that opens in any
 * browser and needs nothing but itself, with all layers and heads; or a PNG of the last layer, over
 * the picture for each token, of texts a matrix. `title` stands above the page. The buffer is freed
 * by vit_buffer_clear. UNSUPPORTED for a page of more than 8 MB. */
VIT_API vit_status vit_explain_text(vit_text_session *session, const vit_picture *picture,
                                    const char *text, const vit_text_answer *answer,
                                    const char *title, bool png, vit_buffer *out, vit_error *error);

#ifdef __cplusplus
}
#endif

#endif
