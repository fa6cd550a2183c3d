/* Layouts: under which names, and in which order of elements, the libraries store the tensors of a
 * ViT. A layout is a table (tables.c); the code here matches the names of a file against it
 * and moves elements to where the parameter table (vit/model/parameters.h) has them.
 *
 * In the names of a table `%` stands for the number of a block, a final `@` for ".weight" or
 * ".bias", a final `*` for anything. "Theirs" is the library's file, "ours" the parameter table.
 */
#ifndef VIT_WEIGHTS_LAYOUT_LAYOUT_H
#define VIT_WEIGHTS_LAYOUT_LAYOUT_H

#include "vit/tensors/tensors.h"
#include "vit/weights/configs/their_config.h"
#include "vit/weights/file/model_file.h"

/* How the elements of a tensor are reordered, theirs -> ours. */
typedef enum vit_reshape {
    VIT_SAME,        /* not at all; dimensions of 1 do not count */
    VIT_TRANSPOSED,  /* [in][out] -> [out][in]; in and out may be several dimensions. Biases: not
                        at all */
    VIT_FROM_PIXELS, /* [P][P][C][out] -> [out][C][P][P] */
    VIT_AROUND_REGISTERS, /* positions [1 + N][D] -> [1 + R + N][D]: those of R registers are 0 */
    VIT_GRID,             /* positions [1][H][W][D] -> [1][H W][D] */
    VIT_RESHAPE_COUNT,
} vit_reshape;

/* How several of their tensors become one of ours. */
typedef enum vit_join {
    VIT_WHOLE,   /* one is one */
    VIT_ROWS,    /* one below the other */
    VIT_COLUMNS, /* side by side, each divided by their number: the mean of two heads; biases: the
                    sum of such parts */
    VIT_CUT,     /* the contrary of VIT_ROWS: theirs is `parts` parts, one below the other, of which
                    ours is `taken`, from `part` on; the next row of the table has the next ones */
    VIT_SLICE,   /* one of theirs becomes two of ours, which stand there one below the other */
    VIT_OUTER,   /* positions of rows, [1][H][D], and of columns, [1][W][D], whose sum is ours */
    VIT_JOIN_COUNT,
} vit_join;

/* What they do, by the enum's value; all false: nothing. */
typedef struct vit_reshape_traits {
    bool transposes, turns_pixels, inserts_registers, splits;
} vit_reshape_traits;

typedef struct vit_join_traits {
    bool rows, columns; /* parts are one below the other, or side by side */
    bool cuts;          /* theirs becomes several of ours */
    bool slices;        /* ours is part of theirs */
    bool outer;         /* each is repeated along the other one's side, and added */
} vit_join_traits;

extern const vit_reshape_traits vit_reshapes[];
extern const vit_join_traits vit_joins[];

typedef struct vit_layout_row {
    const char *theirs, *ours; /* ours NULL: a tensor that is known but not needed */
    vit_reshape reshape;
    vit_join join;
    size_t part, parts; /* of a join: this is part number `part` of `parts` */
    size_t taken;       /* of a cut */
    const char *beside; /* of a slice: the layer in the same block that is the other part */
} vit_layout_row;

/* Whether their tensor is all of ours, or has all of it. */
static inline bool vit_is_whole(const vit_layout_row *row) {
    const vit_join_traits *join = &vit_joins[row->join];
    return !join->rows && !join->columns && !join->outer;
}

typedef struct vit_layout_rows {
    const vit_layout_row *rows;
    size_t count;
} vit_layout_rows;

#define VIT_LAYOUT_CHOICES 10

/* The kinds of config.json, by library, in the order in which they are tried. */
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
    vit_config_kind config; /* the kind of config.json beside such files */
    const char *hint;       /* what such a config contains, for messages; NULL: the library's own */
    bool decodes;           /* it is a layout of decoders, see VIT_PART_DECODER */
    bool reads_texts;       /* it is one of text encoders, see VIT_PART_TEXTS */
    const char *heads_key;  /* the config's key for the number of heads; NULL: "num_heads" */
    void (*usual)(vit_their_config *d); /* says what holds without a config; NULL: it needs one */
    /* how the library resamples positions, without a config and with one; unless that declares it
     */
    vit_position_rule positions[2];
    bool names_norm; /* the final norm's name says whether it stands before or after the pooling */
    bool pools_dist; /* a backbone with a distillation token pools that token, too */
    bool wraps; /* when written, all names but the head's begin with prefixes[0], of a distilled
                   network with prefixes[1] */
    const char *prefixes[VIT_LAYOUT_CHOICES];  /* what names may begin with; ended by NULL */
    const char *blocks[VIT_LAYOUT_CHOICES];    /* what names of tensors in a block begin with */
    vit_layout_rows in_block;                  /* tensors of a block, `ours` without "blocks.%." */
    vit_layout_rows beside;                    /* all other tensors, besides those of */
    vit_layout_rows stems[VIT_LAYOUT_CHOICES]; /* one of these alternatives, and of */
    vit_layout_rows heads[VIT_LAYOUT_CHOICES]; /* one of these; both ended by count 0 */
} vit_layout;

extern const vit_layout vit_layouts[];
extern const size_t vit_layout_count;

/* The part of p that the row is, as a matrix of ours, [*out][*in]. Weights have outputs as rows;
 * vectors and tokens are [count][1]. */
void vit_layout_measure(size_t *out, size_t *in, const vit_layout_row *row, const vit_parameter *p);

/* Of a slice: the parameter that is the other part of their tensor, of which p is one; NULL: there
 * is none. */
const vit_parameter *vit_layout_other(const vit_layout_row *row, const vit_parameter *p,
                                      const vit_table *table);

/* ---- the tensors of a file, bound to ours ---- */

/* The two parts of an encoder-decoder: what the names of their tensors begin with. Each part has a
 * layout and a binding of its own. Tensors outside both, which connect the two, belong to the
 * decoder's part. */
#define VIT_PART_ENCODER "encoder."
#define VIT_PART_DECODER "decoder."

/* Of a network with two encoders, one of images and one of texts: the latter. Its binding is of the
 * whole file, by a layout to which the other encoder's tensors are known and not needed. */
#define VIT_PART_TEXTS "texts"

typedef struct vit_source {
    const vit_tensor *tensor;
    const vit_layout_row *row;
    char ours[48]; /* "blocks.3.attn.qkv.weight"; of a decoder without "decoder." */
} vit_source;

typedef struct vit_binding {
    const vit_tensors *file;
    const vit_layout *layout;
    const char *part;                   /* VIT_PART_...; NULL: the whole file */
    const vit_layout_rows *stem, *head; /* the alternatives that the file has; or NULL */
    bool words; /* the head's rows come from elsewhere, and the file's head stands before them */
    char prefix[64];     /* what names of tensors in blocks begin with: "module.vit." */
    const char *block;   /* what follows that: one of layout->blocks */
    vit_source *sources; /* [count], owned */
    size_t count, depth; /* depth: number of blocks */
    char left_out[160]; /* how the names begin that are known and not needed: "decoder_blocks, head"
                         */
} vit_binding;

/* Binds the tensors of a part, or with part NULL of the whole file, by the layout that knows most
 * of their names; of several that know as many, by one beside which the config's kind stands. kind:
 * VIT_CONFIG_COUNT if there is no config. Freed by vit_binding_free. Errors: MISMATCH if that
 * layout does not know a name, with the nearest one that it knows, or if two tensors mean the same;
 * MEMORY. */
vit_status vit_binding_new(vit_binding *out, const vit_tensors *file, const char *part,
                           vit_config_kind kind, vit_error *error);
void vit_binding_free(vit_binding *binding);

/* Of a network with the head "cosine": the file's head is its projection, and the layer after it is
 * not the file's. */
void vit_binding_take_words(vit_binding *binding);

/* The first tensor that `ours` is made of, or NULL. */
const vit_source *vit_binding_find(const vit_binding *binding, const char *ours);

/* Elements of all tensors that `ours` is made of; 0: there is none. */
size_t vit_binding_elements(const vit_binding *binding, const char *ours);

/* The name that `ours` has, or would have, in the file, for messages. Returns `text`. */
#define VIT_THEIR_NAME 160
const char *vit_binding_name(char text[VIT_THEIR_NAME], const vit_binding *binding,
                             const char *ours);

/* Checks the tensors against the table's rows that are the part's. MISMATCH, naming the tensor, if
 * one is missing, has another shape, or belongs to no row. config: the name of the config, for
 * messages. */
vit_status vit_binding_check(const vit_binding *binding, const vit_table *table, const char *config,
                             vit_error *error);

/* Sets `stored` of the table's rows: of those that only copy tensors of one type, by that type. */
void vit_binding_stored(const vit_binding *binding, vit_table *table);

/* Whether the tensor of that name is stored as the outputs of a WEIGHT of a block, [out][in], or
 * some of them: int8 rounds it. */
bool vit_binding_rounds(const vit_binding *binding, const vit_table *table, const char *tensor);

/* Fills the store with the tensors, after vit_binding_check. Errors: FORMAT for an element that is
 * not finite; those of reading; MEMORY. */
vit_status vit_binding_load(const vit_store *store, const vit_binding *binding, const char *config,
                            vit_error *error);

#endif
