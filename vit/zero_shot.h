/* vit/zero_shot.h - zero-shot classification and embeddings of texts: CLIP and SigLIP.
 *
 *     vit_embedder *embedder;
 *     const char *const texts[] = {"a photo of a cat", "a photo of a dog"};
 *     if (vit_embedder_load(&embedder, "clip-vit-base-patch32", NULL, &error) == VIT_OK) {
 *         float features[2][512];
 *         vit_embed_texts(embedder, texts, 2, NULL, features[0], &error);
 *     }
 *     vit_embedder_free(embedder);
 *
 * A picture's features (vit_embed_file, of the same directory) and a text's point in similar
 * directions where the text says what is on the picture. For class prompts there is
 * vit_model_options.labels, and vit_model_load_zero_shot: the model then is one of these classes.
 * docs/zero-shot.md has more.
 *
 * The rules of vit/vit.h hold here, too. */
#ifndef VIT_ZERO_SHOT_H
#define VIT_ZERO_SHOT_H

#include "vit/vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A text encoder and its tokenizer. One thread of the caller at a time. */
typedef struct vit_embedder vit_embedder;

typedef struct vit_embedder_options {
    const char *config; /* as in vit_model_options */
    int threads;        /* threads, cpu and precision are as in vit_session_options */
    const char *cpu;
    vit_precision precision;
    vit_bf16 bf16; /* as in vit_session_options */
    /* "hf" or "open_clip": whose ids the texts of CLIP get; NULL: its library's */
    const char *emulate;
} vit_embedder_options;

typedef struct vit_embedder_info {
    size_t features;     /* of a text, as many as of a picture */
    size_t length;       /* the most tokens of a text, with those that stand around it */
    size_t vocabulary;   /* ids that the encoder knows */
    size_t parameters;   /* trainable ones, of the encoder */
    double scale, bias;  /* logit = scale * cosine(picture, text) + bias */
    vit_scoring scoring; /* probabilities of labels: SOFTMAX over them, or SIGMOID of each */
} vit_embedder_info;

/* Loads the text encoder of a published model of two encoders: the directory, with its config and
 * tokenizer. UNSUPPORTED for a model without such an encoder; IO if there is no tokenizer; MISMATCH
 * for files of different models. */
VIT_API vit_status vit_embedder_load(vit_embedder **out, const char *path,
                                     const vit_embedder_options *options, vit_error *error);
VIT_API void vit_embedder_free(vit_embedder *embedder);
VIT_API vit_embedder_info vit_embedder_describe(const vit_embedder *embedder);

typedef struct vit_embed_texts_options {
    bool cut;  /* texts of more tokens than `length` are cut at the end; otherwise they fail */
    bool unit; /* features are divided by their length, the root of the sum of their squares */
} vit_embed_texts_options;

/* features: [count][features], of texts in UTF-8. The numbers of a text depend on it alone.
 * UNSUPPORTED for a text that is too long, FORMAT for one that is not UTF-8; the message names it.
 */
VIT_API vit_status vit_embed_texts(vit_embedder *embedder, const char *const *texts, size_t count,
                                   const vit_embed_texts_options *options, float *features,
                                   vit_error *error);

/* As vit_model_load_with, where options->labels are class prompts that become the classes of a
 * model with a text encoder: names in a file, one a line, or a list, "cat,dog,a red bus".
 * templates: [template_count] texts with {} in a label's place, "a photo of a {}", whose mean
 * stands for the label; or files of such, one a line; or "imagenet", the 80 of CLIP's authors, or
 * "imagenet-simple", 7 of them. None: the labels alone, as vit_model_load_with takes them.
 * ARGUMENT for templates of a model whose classes are no prompts. */
VIT_API vit_status vit_model_load_zero_shot(vit_model **out, const char *path,
                                            const vit_model_options *options,
                                            const char *const *templates, size_t template_count,
                                            vit_error *error);

/* The same for vit_convert: the prompts become the classes of an ordinary model. */
VIT_API vit_status vit_convert_zero_shot(const vit_convert_options *options,
                                         const char *const *templates, size_t template_count,
                                         vit_error *error);

/* Tokens of a text, with those that stand around it; 0 if it is no UTF-8. At most `length`. */
VIT_API size_t vit_embedder_tokens(const vit_embedder *embedder, const char *text);

#ifdef __cplusplus
}
#endif

#endif
