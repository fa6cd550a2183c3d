#include "vit/cli/classify/classify_settings.h"

#include <string.h>

#include "vit/base/size.h"

const char *const vit_place_words[] = {"link", "copy", "move", NULL};
VIT_CHECK_ROWS(vit_place_words, VIT_PLACE_COUNT + 1);

const char *const vit_yuv_names[] = {"bt601", "bt709", NULL};
VIT_CHECK_ROWS(vit_yuv_names, VIT_YUV_COUNT + 1);

bool vit_classify_writes(const vit_classify_settings *s, int format) {
    return s->format.given && s->format.value == format;
}

bool vit_classify_changes_files(const vit_classify_settings *s) {
    return s->photos.sort_into || s->photos.write_tags;
}

const char *vit_classify_contradiction(const vit_classify_settings *s, int pictures) {
    const char *stream = vit_streams ? vit_streams->contradiction(&s->stream, pictures) : NULL;
    if (stream) return stream;
    if (s->stream.stream && s->format.given && !vit_classify_writes(s, VIT_AS_JSON))
        return "--stream writes JSON: leave --format out";
    if (s->sandbox.given && s->sandbox.value == VIT_SANDBOX_ON &&
        (s->stream.stream || vit_classify_changes_files(s)))
        return "--sandbox on is for answers: --stream, --sort-into and --write-tags go without";
    if (s->stream.stream) return vit_coverage_contradiction(&s->sets);
    if (s->list && pictures > 0) return "--list reads no picture";
    if (s->list && vit_classify_writes(s, VIT_AS_CSV)) return "--list writes text or JSON";
    const bool has_pictures = pictures > 0 || s->files_from;
    const bool has_classes = !s->list && !s->embed && s->shard.schedule == 0;
    const char *photos =
        vit_photo_libraries
            ? vit_photo_libraries->contradiction(&s->photos, has_pictures, has_classes)
            : NULL;
    if (photos || s->list || s->photos.undo) return photos;
    if (pictures == 0 && !s->files_from)
        return "no picture is named: give PICTURE... or --files-from FILE";
    if (pictures > 0 && s->files_from) return "PICTURE... and --files-from exclude each other";
    if (s->shard.steps > 0 && s->shard.schedule == 0)
        return "--shard is i/n: part i of n, such as 2/8";
    if (s->shard.steps > 0 && s->files_from && strcmp(s->files_from, "-") == 0)
        return "--shard counts the pictures first: give --files-from a file";
    if (s->null && !s->files_from) return "-0 is for the names of --files-from";
    if (s->out && !s->embed) return "--out is for the matrix of --embed, which is missing";
    if ((s->neighbours > 0) == !s->among) return "--neighbours K and --among DATA go together";
    if (s->neighbours > 0 && vit_classify_writes(s, VIT_AS_CSV))
        return "--neighbours are text or JSON";
    if (s->embed && s->format.given && !vit_classify_writes(s, VIT_AS_JSON))
        return "--embed writes JSON, or with --out a .npy file: leave --format out";
    const char *sets = vit_coverage_contradiction(&s->sets);
    if (sets) return sets;
    return s->logits && vit_classify_writes(s, VIT_AS_CSV) ? "--logits are written as text or JSON"
                                                           : NULL;
}
