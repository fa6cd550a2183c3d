/* Layouts: under which names, and how turned, the libraries store the tensors of a ViT. A layout is
 * a table; the code here matches names against it, and moves elements to where the parameter table
 * (vit/model/parameters.h) has them.
 *
 * In the names of a table `%` stands for the number of a block, a final `@` for ".weight" or
 * ".bias", a final `*` for anything.
 */
#ifndef VIT_WEIGHTS_LAYOUT_H
#define VIT_WEIGHTS_LAYOUT_H

#include "vit/model/positions.h"
#include "vit/tensors/tensors.h"
#include "vit/weights/declared.h"
#include "vit/weights/model_file.h"

typedef enum vit_reshape {
    VIT_SAME,        /* as it is; dimensions of 1 do not count */
    VIT_TRANSPOSED,  /* [in][out] -> [out][in]; each may be several dimensions. Of biases: as it is
                      */
    VIT_FROM_PIXELS, /* [P][P][C][out] -> [out][C][P][P] */
    VIT_AROUND_REGISTERS, /* positions [1 + N][D] -> [1 + R + N][D]: those of the registers are 0 */
} vit_reshape;

/* How a tensor of ours is made of several of theirs. */
typedef enum vit_join {
    VIT_WHOLE,
    VIT_ROWS,    /* one after the other */
    VIT_COLUMNS, /* side by side, each halved: the mean of two heads; of biases: their sum */
} vit_join;

typedef struct vit_layout_row {
    const char *theirs, *ours; /* ours NULL: a tensor that a classifier does not need */
    vit_reshape reshape;
    vit_join join;
    size_t part, parts; /* of a join */
} vit_layout_row;

typedef struct vit_layout_rows {
    const vit_layout_row *rows;
    size_t count;
} vit_layout_rows;

#define VIT_LAYOUT_CHOICES 6

/* Kinds of config.json, by the library that writes them; in the order in which they are tried. */
typedef enum vit_config_kind {
    VIT_CONFIG_HF,
    VIT_CONFIG_OPEN_CLIP,
    VIT_CONFIG_LUCIDRAINS,
    VIT_CONFIG_TORCHVISION,
    VIT_CONFIG_TIMM,
    VIT_CONFIG_COUNT,
} vit_config_kind;

/* Everything that differs between layouts. */
typedef struct vit_layout {
    const char *name;       /* "timm" */
    vit_config_kind config; /* that tells of such a file */
    const char *hint;       /* how such a config looks, for messages; NULL: as the library has it */
    bool decodes;           /* it is of the second part of an encoder-decoder, below */
    const char *heads_key;  /* its key for the number of heads; NULL: "num_heads" */
    void (*declare)(vit_declared *d); /* what a file without a config is; NULL: it needs one */
    vit_position_rule positions;      /* how the library resamples them */
    bool names_norm; /* the final norm's name says whether it stands before or after the pooling */
    bool pools_dist; /* a backbone with a distillation token pools that, too */
    bool wraps;      /* as it is written, all but the head stands behind prefixes[0], of a distilled
                        network behind prefixes[1] */
    const char *prefixes[VIT_LAYOUT_CHOICES];  /* may stand before a name; NULL ends */
    const char *blocks[VIT_LAYOUT_CHOICES];    /* what the names in a block begin with */
    vit_layout_rows in_block;                  /* `ours` without "blocks.%." */
    vit_layout_rows beside;                    /* all others, but */
    vit_layout_rows stems[VIT_LAYOUT_CHOICES]; /* one of these, and */
    vit_layout_rows heads[VIT_LAYOUT_CHOICES]; /* one of these; count 0 ends */
} vit_layout;

extern const vit_layout vit_layouts[];
extern const size_t vit_layout_count;

/* ---- a file's tensors, matched ---- */

/* The parts of an encoder-decoder: what the names of their tensors begin with. Each is bound by
 * itself, by a layout of its own. What joins the two belongs to the decoder's part. */
#define VIT_PART_ENCODER "encoder."
#define VIT_PART_DECODER "decoder."

typedef struct vit_source {
    const vit_tensor *tensor;
    const vit_layout_row *row;
    char ours[48]; /* "blocks.3.attn.qkv.weight", of a decoder's, too */
} vit_source;

typedef struct vit_binding {
    const vit_tensors *file;
    const vit_layout *layout;
    const char *part;                   /* of the file that it is of; NULL: all of it */
    const vit_layout_rows *stem, *head; /* those chosen, or NULL */
    char prefix[64];                    /* of the tensors in the blocks, as in "module.vit." */
    const char *block;                  /* one of layout->blocks */
    vit_source *sources;                /* owned */
    size_t count, depth;                /* depth: blocks there are tensors of */
} vit_binding;

/* The layout that knows most of the part's names; NULL: of the whole file's. MISMATCH where it does
 * not know all of them, or where two tensors have the same meaning; the message names the nearest
 * known name. */
vit_status vit_binding_new(vit_binding *out, const vit_tensors *file, const char *part,
                           vit_error *error);
void vit_binding_free(vit_binding *binding);

/* The first tensor that goes into `ours`, or NULL. */
const vit_source *vit_binding_find(const vit_binding *binding, const char *ours);

/* Elements of `ours` as the file has it, all parts together; 0: there is none. */
size_t vit_binding_elements(const vit_binding *binding, const char *ours);

/* How the file would call `ours`, for messages. */
#define VIT_THEIR_NAME 160
const char *vit_binding_name(char text[VIT_THEIR_NAME], const vit_binding *binding,
                             const char *ours);

/* Of the rows of the table that are the part's: of a decoder's part those of the decoder, else the
 * others. MISMATCH, naming the tensor, where one is missing, has another shape than `config` (a
 * name for messages) says, or does not belong to the network. */
vit_status vit_binding_check(const vit_binding *binding, const vit_table *table, const char *config,
                             vit_error *error);

/* Fills the store from the file, which was checked by its table. FORMAT for an element that is not
 * finite. */
vit_status vit_binding_load(const vit_store *store, const vit_binding *binding, const char *config,
                            vit_error *error);

#endif
