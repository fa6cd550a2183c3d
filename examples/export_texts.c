/* Writes a data set whose answers are texts in a form that other programs can read: DIR/train.tsv
 * and test.tsv have a line "source, tab, target" for each record, the ids of its tokens separated
 * by spaces (0 starts a text, 1 ends it). If the sources are pictures, their bytes are in
 * DIR/train.u8 and test.u8.
 *
 * usage: export_texts DATA DIR TRAIN TEST      records of each part, at most
 */
#include "datasets/dataset.h"
#include "vit/base/sys.h"
#include <stdio.h>
#include <stdlib.h>

static FILE *create(const char *directory, const char *part, const char *ending) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", directory, part, ending);
    FILE *file = fopen(path, "wb");
    if (!file) perror(path);
    return file;
}

static void put_ids(FILE *file, vit_ids text, char end) {
    for (size_t i = 0; i < text.count; i++)
        fprintf(file, i > 0 ? " %lu" : "%lu", (unsigned long)text.ids[i]);
    fputc(end, file);
}

static vit_status export_part(const vit_dataset *d, const vit_records *r, const char *directory,
                              const char *part, size_t most, vit_error *error) {
    const size_t pixels = d->height * d->width * d->channels;
    const size_t count = r->count < most ? r->count : most;
    uint8_t *picture = malloc(pixels + 1);
    FILE *texts = create(directory, part, "tsv");
    FILE *pictures = pixels > 0 ? create(directory, part, "u8") : NULL;
    vit_status status = VIT_OK;
    if (!picture || !texts || (pixels > 0 && !pictures))
        status = vit_fail(error, VIT_ERROR_IO, "%s: cannot be written", directory);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        put_ids(texts, r->source.at ? vit_texts_get(&r->source, i) : (vit_ids){NULL, 0}, '\t');
        put_ids(texts, vit_texts_get(&r->target, i), '\n');
        if (pixels == 0) continue;
        status = vit_record_read(d, r, i, picture, error);
        if (status == VIT_OK && fwrite(picture, 1, pixels, pictures) != pixels)
            status = vit_fail(error, VIT_ERROR_IO, "%s: cannot be written", directory);
    }
    if (texts && fclose(texts) != 0 && status == VIT_OK)
        status = vit_fail(error, VIT_ERROR_IO, "%s: cannot be written", directory);
    if (pictures && fclose(pictures) != 0 && status == VIT_OK)
        status = vit_fail(error, VIT_ERROR_IO, "%s: cannot be written", directory);
    free(picture);
    return status;
}

int main(int argc, char **argv) {
    const vit_dataset_options options = {.need = VIT_PART_TRAIN | VIT_PART_TEST};
    vit_dataset d;
    vit_error error;
    if (argc != 5) {
        fprintf(stderr, "usage: export_texts DATA DIR TRAIN TEST\n");
        return 2;
    }
    vit_status status = vit_dataset_open(&d, argv[1], &options, &error);
    if (status != VIT_OK) {
        fprintf(stderr, "export_texts: %s\n", error.message);
        return 1;
    }
    if (d.target_vocabulary.count == 0)
        status = vit_fail(&error, VIT_ERROR_MISMATCH, "%s: its answers are classes", argv[1]);
    if (status == VIT_OK)
        status = export_part(&d, &d.train, argv[2], "train", strtoul(argv[3], NULL, 10), &error);
    if (status == VIT_OK)
        status = export_part(&d, &d.test, argv[2], "test", strtoul(argv[4], NULL, 10), &error);
    if (status == VIT_OK)
        printf("%zu %zu %zu %zu\n", d.height, d.width, d.source_vocabulary.count,
               d.target_vocabulary.count);
    else
        fprintf(stderr, "export_texts: %s\n", error.message);
    vit_dataset_close(&d);
    return status == VIT_OK ? 0 : 1;
}
