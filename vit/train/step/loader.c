#include "vit/train/step/loader.h"
#include "vit/base/order.h"
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/image/likeness.h"
#include "vit/image/prepare/preprocess.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_EPOCH UINT64_MAX

typedef struct vit_sample {
    uint32_t record;
    vit_sample_key key;
} vit_sample;

/* ---- memory ---- */

vit_status vit_batch_room_new(vit_batch_room *out, const vit_recipe *recipe, size_t height,
                              size_t width, size_t channels, vit_error *error) {
    const size_t pixels = height * width, values = pixels * channels;
    const bool changes = recipe->policy != VIT_POLICY_NONE || recipe->jitter > 0;
    const size_t bend = recipe->augment.elastic > 0 ? 2 * pixels + vit_bend_room(height, width) : 0;
    const size_t before = recipe->mixup > 0 || recipe->cutmix > 0 ? values : 0;
    const size_t floats = bend + before, bytes = changes ? 3 * values : values;
    *out = (vit_batch_room){.memory = vit_alloc_unset(floats * sizeof(float) + bytes + 1, 1)};
    if (!out->memory)
        return vit_fail_memory(error, "a thread's pictures", floats * sizeof(float) + bytes);
    float *numbers = out->memory;
    out->bend = bend > 0 ? numbers : NULL;
    out->before = before > 0 ? numbers + bend : NULL;
    out->record = (uint8_t *)(numbers + floats);
    out->changed = changes ? out->record + values : NULL;
    return VIT_OK;
}

void vit_batch_room_free(vit_batch_room *room) {
    vit_free(room->memory);
    *room = (vit_batch_room){0};
}

/* ---- batches ---- */

/* numbers = 0 .. n - 1, shuffled */
static void shuffle(uint32_t *numbers, size_t n, vit_random r) {
    for (size_t i = 0; i < n; i++) numbers[i] = (uint32_t)i;
    vit_random_shuffle(&r, numbers, (uint32_t)n);
}

/* ---- pictures in shards ---- */

/* Finds where shards begin among the records that are trained on; those held back are sorted, so
 * that they are read in order. */
static vit_status find_shards(vit_loader *l, vit_error *error) {
    const uint32_t *shards = l->data->train.shards;
    const size_t n = l->train_count;
    if (!shards) return VIT_OK;
    l->window = VIT_LOADER_WINDOW;
    l->sorted = vit_alloc(n, sizeof *l->sorted);
    if (!l->sorted) return vit_fail_memory(error, "the order of pictures", n * sizeof *l->sorted);
    memcpy(l->sorted, l->train, n * sizeof *l->sorted);
    qsort(l->sorted, n, sizeof *l->sorted, vit_compare_ids);
    qsort(l->train + n, l->data->train.count - n, sizeof *l->train, vit_compare_ids);
    for (size_t i = 0; i < n; i++)
        l->shard_count += i == 0 || shards[l->sorted[i]] != shards[l->sorted[i - 1]];
    l->shards = vit_alloc(l->shard_count + 1, sizeof *l->shards);
    l->shard_order = vit_alloc(l->shard_count, sizeof *l->shard_order);
    if (!l->shards || !l->shard_order)
        return vit_fail_memory(error, "a list of shards", l->shard_count * sizeof *l->shards);
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || shards[l->sorted[i]] != shards[l->sorted[i - 1]]) l->shards[found++] = i;
    l->shards[found] = n;
    return VIT_OK;
}

/* l->order = the order of an epoch as a stream. */
static void shuffle_shards(vit_loader *l, uint32_t epoch) {
    vit_random r = vit_random_start(l->seed, VIT_RANDOM_SHUFFLE, epoch, 0);
    shuffle(l->shard_order, l->shard_count, r);
    size_t window = 0, filled = 0;
    for (size_t i = 0; i < l->shard_count; i++) {
        const size_t shard = l->shard_order[i];
        for (size_t k = l->shards[shard]; k < l->shards[shard + 1]; k++)
            l->order[filled++] = (uint32_t)k;
        if (filled - window < l->window && i + 1 < l->shard_count) continue;
        r = vit_random_start(l->seed, VIT_RANDOM_SHUFFLE, epoch, (uint32_t)i + 1);
        vit_random_shuffle(&r, l->order + window, (uint32_t)(filled - window));
        window = filled;
    }
}

static void set_order(vit_loader *l, uint64_t epoch) {
    if (l->shards)
        shuffle_shards(l, (uint32_t)epoch);
    else
        shuffle(l->order, l->train_count,
                vit_random_start(l->seed, VIT_RANDOM_SHUFFLE, (uint32_t)epoch, 0));
    l->order_epoch = epoch;
}

/* ---- validation pictures ---- */

/* A class that gives this many by its share gets nearly that by chance. */
#define MANY_HELD_BACK 50

/* What is drawn by class: [classes] each. */
typedef struct held_classes {
    const vit_records *records;
    size_t *count, *held; /* training pictures; those of them that are held back */
    size_t wanted, taken; /* in all */
} held_classes;

/* The most that a class gives in this pass: its share rounded down, then rounded up, then all of it
 * but one picture, which is always left for training. */
static size_t most_held(const held_classes *h, size_t class, int pass) {
    const size_t n = h->count[class], all = h->records->count;
    const double share = (double)h->wanted * (double)n / (double)all;
    const size_t most = pass == 0 ? (size_t)share : pass == 1 ? (size_t)ceil(share) : n - 1;
    return most < n - 1 ? most : n - 1;
}

/* Whether a class of few pictures could get far less, or more, than its share by chance. */
static bool has_small_share(const held_classes *h, size_t classes) {
    for (size_t i = 0; i < classes; i++)
        if (h->count[i] > 0 && most_held(h, i, 0) < MANY_HELD_BACK) return true;
    return false;
}

/* Moves the validation pictures to the end of `numbers`, which are shuffled: of each class,
 * the last ones. Both parts keep their order. kept: scratch, [count of the records]. */
static void draw_by_class(held_classes *h, uint32_t *numbers, bool *kept, uint32_t *moved) {
    const size_t n = h->records->count;
    for (size_t i = 0; i < n; i++) kept[i] = true;
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = n; i-- > 0 && h->taken < h->wanted;) {
            const size_t class = h->records->labels[numbers[i]];
            if (!kept[i] || h->held[class] >= most_held(h, class, pass)) continue;
            kept[i] = false;
            h->held[class]++;
            h->taken++;
        }
    size_t left = 0, last = 0;
    for (size_t i = 0; i < n; i++)
        if (kept[i])
            numbers[left++] = numbers[i];
        else
            moved[last++] = numbers[i];
    memcpy(numbers + left, moved, last * sizeof *moved);
}

/* Draws the validation pictures by class, unless every class gives many: then the last of
 * the shuffled ones are those. */
static vit_status hold_back(vit_loader *l, size_t wanted, vit_error *error) {
    const vit_dataset *d = l->data;
    const size_t n = d->train.count, classes = d->classes;
    if (wanted == 0 || classes == 0 || !d->train.labels) return VIT_OK;
    held_classes h = {&d->train, vit_alloc(classes, sizeof *h.count),
                      vit_alloc(classes, sizeof *h.held), wanted, 0};
    bool *kept = vit_alloc(n, sizeof *kept);
    uint32_t *moved = vit_alloc(wanted, sizeof *moved);
    const bool is_there = h.count && h.held && kept && moved;
    if (is_there) {
        for (size_t i = 0; i < n; i++) h.count[d->train.labels[i]]++;
        if (has_small_share(&h, classes)) {
            draw_by_class(&h, l->train, kept, moved);
            l->val_count = h.taken;
            l->train_count = n - h.taken;
        }
    }
    vit_free(h.count);
    vit_free(h.held);
    vit_free(kept);
    vit_free(moved);
    return is_there ? VIT_OK : vit_fail_memory(error, "the validation pictures", n);
}

/* Which groups of copies are held back: those with a picture that is, but not one whose class would
 * have no training picture left; these are learnt as a whole. left: [classes] training pictures. */
static void choose_groups(bool *held, size_t *left, const vit_loader *l) {
    const vit_records *r = &l->data->train;
    const uint32_t *group = r->copies->group;
    const size_t n = l->train_count + l->val_count;
    for (size_t i = l->train_count; i < n; i++)
        if (l->train[i] < r->copies->count) held[group[l->train[i]]] = true;
    for (size_t i = 0; i < l->train_count; i++) left[r->labels[l->train[i]]]++;
    for (size_t i = 0; i < l->train_count; i++) {
        const uint32_t record = l->train[i];
        if (record >= r->copies->count || !held[group[record]]) continue;
        if (left[r->labels[record]] > 1)
            left[r->labels[record]]--;
        else
            held[group[record]] = false;
    }
}

/* Holds copies back together: the pictures that are moved come behind those of their part. */
static vit_status keep_together(vit_loader *l, vit_error *error) {
    const vit_copies *c = l->data->train.copies;
    const size_t n = l->train_count + l->val_count;
    if (!c || l->val_count == 0 || l->data->val.count > 0) return VIT_OK;
    bool *held = vit_alloc(c->count, sizeof *held);
    size_t *left = vit_alloc(l->data->classes, sizeof *left), train = 0, val = 0;
    uint32_t *kept = vit_alloc(n, sizeof *kept), *moved = vit_alloc(n, sizeof *moved);
    const bool is_there = held && left && kept && moved;
    if (is_there) {
        choose_groups(held, left, l);
        for (size_t i = 0; i < n; i++) {
            const uint32_t record = l->train[i];
            const bool is_val = record < c->count ? held[c->group[record]] : i >= l->train_count;
            *(is_val ? &moved[val++] : &kept[train++]) = record;
        }
    }
    if (is_there && train > 0 && val > 0) {
        memcpy(l->train, kept, train * sizeof *kept);
        memcpy(l->train + train, moved, val * sizeof *moved);
        l->train_count = train;
        l->val_count = val;
    }
    vit_free(held);
    vit_free(left);
    vit_free(kept);
    vit_free(moved);
    return is_there ? VIT_OK : vit_fail_memory(error, "the validation pictures", n);
}

vit_status vit_loader_new(vit_loader *l, const vit_dataset *data, const vit_recipe *recipe,
                          uint64_t seed, vit_error *error) {
    const bool has_val = data->val.count > 0;
    const size_t n = data->train.count, held_back = has_val ? 0 : vit_recipe_val(recipe, n);
    *l = (vit_loader){.data = data,
                      .shape = {data->height, data->width, data->channels},
                      .recipe = recipe,
                      .mixed_steps = UINT64_MAX,
                      .seed = seed,
                      .train_count = n - held_back,
                      .val_count = has_val ? data->val.count : held_back,
                      .order_epoch = NO_EPOCH};
    if (held_back > 0 && held_back >= n)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "\"val\" holds back %zu pictures, but %s has only %zu for training",
                        held_back, data->name, n);
    l->train = vit_alloc(n, sizeof *l->train);
    l->order = vit_alloc(n, sizeof *l->order);
    l->samples = vit_alloc(l->recipe->batch, sizeof *l->samples);
    if (!l->train || !l->order || !l->samples) {
        vit_loader_free(l);
        return vit_fail_memory(error, "the order of the training pictures",
                               n * 2 * sizeof(uint32_t));
    }
    shuffle(l->train, n, vit_random_start(seed, VIT_RANDOM_SPLIT, 0, 0));
    vit_status status = hold_back(l, held_back, error);
    if (status == VIT_OK) status = keep_together(l, error);
    if (status == VIT_OK) status = find_shards(l, error);
    if (status != VIT_OK) {
        vit_loader_free(l);
        return status;
    }
    if (!has_val) l->val = l->train + l->train_count;
    vit_preprocessing normalise = {.count = 1};
    normalise.operations[0].kind = VIT_OP_NORMALIZE;
    memcpy(normalise.operations[0].mean, data->mean, sizeof data->mean);
    memcpy(normalise.operations[0].std, data->std, sizeof data->std);
    vit_normalize_table(l->table, &normalise, data->channels);
    return VIT_OK;
}

void vit_loader_free(vit_loader *l) {
    vit_free(l->train);
    vit_free(l->order);
    vit_free(l->sorted);
    vit_free(l->shards);
    vit_free(l->shard_order);
    vit_free(l->samples);
    *l = (vit_loader){0};
}

const vit_records *vit_loader_val_records(const vit_loader *l) {
    return l->data->val.count > 0 ? &l->data->val : &l->data->train;
}

void vit_loader_plan(vit_loader *l, uint64_t steps) {
    l->mixed_steps = (uint64_t)(l->recipe->mix_until * (double)steps);
}

void vit_loader_prepare(vit_loader *l, uint64_t step) {
    const vit_texts *targets = &l->data->train.target;
    l->mixes = step < l->mixed_steps && (l->recipe->mixup > 0 || l->recipe->cutmix > 0);
    l->answers = 0;
    const uint32_t *records = l->sorted ? l->sorted : l->train;
    for (size_t i = 0; i < l->recipe->batch; i++) {
        const uint64_t at = step * l->recipe->batch + i, epoch = at / l->train_count;
        const uint32_t position = (uint32_t)(at % l->train_count);
        if (l->order_epoch != epoch) set_order(l, epoch);
        vit_random r = vit_random_start(l->seed, VIT_RANDOM_STRANGER, (uint32_t)epoch, position);
        vit_sample *s = &l->samples[i];
        *s = (vit_sample){records[l->order[position / l->recipe->repeats]],
                          {.epoch = (uint32_t)epoch, .position = position}};
        s->key.stranger =
            l->recipe->outlier_exposure > 0 && vit_random_uniform(&r) < l->recipe->outlier_exposure;
        if (targets->at) l->answers += vit_texts_get(targets, s->record).count + 1;
    }
}

/* ---- pictures ---- */

/* image = the pixels, posed or cropped, with a rectangle erased, as the recipe says. */
static void move_picture(float *image, const uint8_t *pixels, float *bend, vit_loader *l,
                         const vit_sample *s, vit_random *r) {
    const vit_augmentation *a = &l->recipe->augment;
    const vit_picture_shape *shape = &l->shape;
    vit_pose pose = vit_pose_draw(a, r);
    if (a->flip && l->recipe->flip_alternates) { /* every second epoch, from a random one on */
        vit_random flip = vit_random_start(l->seed, VIT_RANDOM_FLIP, 0, s->record);
        pose.mirrored = (vit_random_u32(&flip) + s->key.epoch) % 2 == 1;
    }
    if (a->crop > 0) {
        const vit_box box = vit_crop_draw(shape, a, r);
        vit_crop_apply(image, pixels, l->table, shape, a, &box, pose.mirrored);
    } else {
        if (a->elastic > 0) {
            vit_bend_draw(bend, bend + 2 * shape->height * shape->width, shape, a, r);
            pose.bend = bend;
        }
        vit_pose_apply(image, pixels, l->table, shape, a, &pose);
    }
    const vit_box hole = vit_erase_draw(shape, a, r);
    for (size_t y = 0; y < hole.height; y++)
        memset(image + ((hole.top + y) * shape->width + hole.left) * shape->channels, 0,
               hole.width * shape->channels * sizeof *image);
}

/* *pixels: the sample's picture before it is augmented, in the record's memory or in the room's. */
static vit_status get_pixels(const uint8_t **pixels, const vit_batch_room *room,
                             const vit_loader *l, const vit_sample *s, vit_error *error) {
    uint8_t *record = room->record;
    if (!s->key.stranger)
        return vit_record_get(pixels, &record, l->data, &l->data->train, s->record, error);
    vit_random r = vit_random_start(l->seed, VIT_RANDOM_STRANGER, s->key.epoch, s->key.position);
    vit_random_uniform(&r); /* the number with which vit_loader_prepare made it a stranger */
    vit_stranger_draw(record, &r);
    *pixels = record;
    return VIT_OK;
}

/* One picture, augmented but not mixed. */
static vit_status make_picture(float *image, const vit_batch_room *room, vit_loader *l,
                               const vit_sample *s, vit_error *error) {
    const vit_picture_shape *shape = &l->shape;
    const size_t values = shape->height * shape->width * shape->channels;
    const uint8_t *pixels;
    const vit_status status = get_pixels(&pixels, room, l, s, error);
    if (status != VIT_OK) return status;
    vit_random r = vit_random_start(l->seed, VIT_RANDOM_AUGMENT, s->key.epoch, s->key.position);
    if (l->recipe->policy != VIT_POLICY_NONE || l->recipe->jitter > 0) {
        uint8_t *changed = room->changed;
        memcpy(changed, pixels, values);
        vit_policy_apply(changed, changed + values, shape, l->recipe->policy, &r);
        if (l->recipe->jitter > 0)
            vit_jitter_apply(changed, changed + values, shape, l->recipe->jitter, &r);
        pixels = changed;
    }
    move_picture(image, pixels, room->bend, l, s, &r);
    return VIT_OK;
}

/* The teacher's stored logits for a picture; NULL: there are none. */
static const float *taught(const vit_loader *l, const vit_sample *s) {
    return l->teacher ? l->teacher + s->record * l->data->classes : NULL;
}

/* Mixes pictures first .. first + count - 1 of the batch, each with the one before it as that was
 * before mixing: so the last is mixed first. The picture before the first belongs to another slice
 * and is made here a second time. Strangers are not mixed. */
static vit_status mix_pictures(float *images, vit_sample_key *keys, const vit_batch_room *room,
                               vit_loader *l, size_t first, size_t count, vit_error *error) {
    const vit_picture_shape *shape = &l->shape;
    const vit_mixing mixing = {l->recipe->mixup, l->recipe->cutmix, l->recipe->mix_share};
    const size_t values = shape->height * shape->width * shape->channels;
    for (size_t i = count; i-- > 0;) {
        const vit_sample *other =
            &l->samples[(first + i + l->recipe->batch - 1) % l->recipe->batch];
        vit_random r = vit_random_start(l->seed, VIT_RANDOM_MIX, keys[i].epoch, keys[i].position);
        const vit_mix mix = vit_mix_draw(&mixing, shape->height, shape->width, &r);
        if (!(mix.share > 0) || keys[i].stranger || other->key.stranger) continue;
        if (i == 0) {
            const vit_status status = make_picture(room->before, room, l, other, error);
            if (status != VIT_OK) return status;
        }
        vit_mix_apply(images + i * values, i > 0 ? images + (i - 1) * values : room->before, &mix,
                      shape->height, shape->width, shape->channels);
        keys[i].other = l->data->train.labels[other->record];
        if (vit_records_list_classes(&l->data->train)) {
            const vit_ids theirs = vit_texts_get(&l->data->train.target, other->record);
            keys[i].other_classes = theirs.ids;
            keys[i].other_class_count = theirs.count;
        }
        keys[i].share = mix.share;
        keys[i].other_teacher = taught(l, other);
    }
    return VIT_OK;
}

vit_status vit_loader_source(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                             size_t count, const vit_batch_room *room, void *context,
                             vit_error *error) {
    vit_loader *l = context;
    const vit_dataset *data = l->data;
    const size_t values = data->height * data->width * data->channels;
    for (size_t i = 0; i < count; i++) {
        const vit_sample *s = &l->samples[first + i];
        keys[i] = s->key;
        labels[i] = data->train.labels ? data->train.labels[s->record] : 0;
        keys[i].answers = l->answers;
        keys[i].teacher = taught(l, s);
        if (data->train.source.at) keys[i].source = vit_texts_get(&data->train.source, s->record);
        const vit_ids target =
            data->train.target.at ? vit_texts_get(&data->train.target, s->record) : (vit_ids){0};
        if (vit_records_list_classes(&data->train)) {
            keys[i].classes = target.ids;
            keys[i].class_count = target.count;
        } else {
            keys[i].target = target;
        }
        if (values == 0) continue;
        const vit_status status = make_picture(images + i * values, room, l, s, error);
        if (status != VIT_OK) return status;
    }
    return l->mixes ? mix_pictures(images, keys, room, l, first, count, error) : VIT_OK;
}
