/* Pictures in tar files: archives that are wrong, samples, the index, the order of a stream. */
#include "datasets/reader.h"
#include "datasets/shards/pack.h"
#include "datasets/shards/shards.h"
#include "tests/support/fault.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/train/recipe/recipe.h"
#include "vit/train/step/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)

static const vit_dataset_options any = {.want = BOTH, .threads = 2};

/* ---- archives ---- */

static void put_member(vit_string *tar, const char *name, const void *data, size_t size) {
    static const char zeros[VIT_TAR_BLOCK] = {0};
    vit_tar_put_header(tar, name, size);
    vit_string_add_bytes(tar, data, size);
    vit_string_add_bytes(tar, zeros, vit_tar_padding(size));
}

static void put_text(vit_string *tar, const char *name, const char *text) {
    put_member(tar, name, text, strlen(text));
}

static void put_end(vit_string *tar) {
    static const char zeros[2 * VIT_TAR_BLOCK] = {0};
    vit_string_add_bytes(tar, zeros, sizeof zeros);
}

/* Puts the right checksum into the header at `at`. */
static void sign(vit_string *tar, size_t at) {
    unsigned sum = 0;
    char *h = tar->text + at;
    memset(h + 148, ' ', 8);
    for (size_t i = 0; i < VIT_TAR_BLOCK; i++) sum += (uint8_t)h[i];
    snprintf(h + 148, 8, "%06o", sum);
}

static vit_status read_memory(void *data, size_t size, uint64_t offset, const void *context,
                              vit_error *error) {
    const vit_string *tar = context;
    (void)error;
    assert_true(offset <= tar->length && size <= tar->length - offset);
    memcpy(data, tar->text + offset, size);
    return VIT_OK;
}

/* Reads all members: "NAME=CONTENT;" of each. */
static vit_status members_of(char out[2048], const vit_string *tar, size_t size, vit_error *error) {
    vit_tar t = {.path = "a.tar", .size = size, .read = read_memory, .context = tar};
    vit_tar_member m;
    vit_status status;
    out[0] = 0;
    while ((status = vit_tar_next(&t, &m, error)) == VIT_OK && m.name)
        snprintf(out + strlen(out), 2048 - strlen(out), "%s=%.*s;", m.name, (int)m.size,
                 tar->text + m.offset);
    vit_tar_close(&t);
    return status;
}

static void test_names_of_every_length(void **state) {
    char name[400], out[2048], expected[2048];
    for (size_t length = 1; length < 330; length += length < 90 ? 13 : 1) {
        vit_string tar = {0};
        vit_error error;
        memset(name, 'x', length);
        name[length] = 0;
        if (length % 2) /* folders, as a prefix of ustar has them */
            for (size_t i = 20; i + 1 < length; i += 40) name[i] = '/';
        put_text(&tar, name, "content");
        put_end(&tar);
        assert_int_equal(members_of(out, &tar, tar.length, &error), VIT_OK);
        snprintf(expected, sizeof expected, "%s=content;", name);
        assert_string_equal(out, expected);
        vit_string_free(&tar);
    }
}

static void test_an_archive_cut_off_anywhere_is_refused(void **state) {
    char out[2048], whole[2048];
    vit_string tar = {0};
    vit_error error;
    put_text(&tar, "a.cls", "1");
    put_text(&tar,
             "folder/of/a/name/that/is/longer/than/ustar/can/have/it/in/a/header/with/no/"
             "place/to/split/it/at/since/this/last/part/is/longer/"
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.cls",
             "2");
    put_end(&tar);
    assert_int_equal(members_of(whole, &tar, tar.length, &error), VIT_OK);
    for (size_t size = 0; size < tar.length - VIT_TAR_BLOCK; size++)
        assert_int_equal(members_of(out, &tar, size, &error), VIT_ERROR_FORMAT);
    for (size_t size = tar.length - VIT_TAR_BLOCK; size < tar.length; size++)
        assert_int_equal(members_of(out, &tar, size, &error), VIT_OK);
    vit_string_free(&tar);
}

/* One changed bit in a header is found by its checksum, or changes nothing that is read. */
static void test_a_changed_bit_in_a_header_is_found(void **state) {
    char out[2048];
    vit_string tar = {0};
    vit_error error;
    put_text(&tar, "a.cls", "1");
    put_end(&tar);
    for (size_t i = 0; i < VIT_TAR_BLOCK; i++) {
        tar.text[i] ^= 1;
        if (members_of(out, &tar, tar.length, &error) == VIT_OK)
            assert_string_equal(out, "a.cls=1;");
        else
            assert_in_range(i, 0, VIT_TAR_BLOCK);
        tar.text[i] ^= 1;
    }
    vit_string_free(&tar);
}

/* The header of the one member is changed by `change`, and signed again. */
static void refuse_tar(void (*change)(vit_string *tar), const char *what) {
    char out[2048];
    vit_string tar = {0};
    vit_error error;
    put_text(&tar, "a.cls", "1");
    put_end(&tar);
    change(&tar);
    const vit_status status = members_of(out, &tar, tar.length, &error);
    assert_true(status != VIT_OK);
    assert_says(&error, status, "a.tar", what);
    vit_string_free(&tar);
}

static void make_beyond(vit_string *t) {
    memcpy(t->text + 124, "00000003001", 12), sign(t, 0);
}
static void make_huge(vit_string *t) {
    memcpy(t->text + 124, "77777777777", 12), sign(t, 0);
}
static void make_negative(vit_string *t) {
    memset(t->text + 124, 0xff, 12), sign(t, 0);
}
static void make_words(vit_string *t) {
    memcpy(t->text + 124, "-0000000001", 12), sign(t, 0);
}
static void make_link(vit_string *t) {
    t->text[156] = '2', sign(t, 0);
}
static void make_device(vit_string *t) {
    t->text[156] = '3', sign(t, 0);
}
static void make_sparse(vit_string *t) {
    t->text[156] = 'S', sign(t, 0);
}
static void make_unknown(vit_string *t) {
    t->text[156] = 'Q', sign(t, 0);
}
static void make_outside(vit_string *t) {
    memcpy(t->text, "x/../../a", 10), sign(t, 0);
}
static void make_absolute(vit_string *t) {
    memcpy(t->text, "/etc/a", 7), sign(t, 0);
}
static void make_control(vit_string *t) {
    memcpy(t->text, "a\nb", 4), sign(t, 0);
}
static void make_nameless(vit_string *t) {
    memset(t->text, 0, 100), sign(t, 0);
}
static void make_folder_name(vit_string *t) {
    memcpy(t->text, "./\0", 4), sign(t, 0);
}
static void make_other(vit_string *t) {
    memcpy(t->text + 257, "other", 5), sign(t, 0);
}
static void make_unsigned(vit_string *t) {
    t->text[0] = 'b';
}
static void make_two(vit_string *t) {
    put_text(t, "b.cls", "2"), put_end(t);
}

static void test_hostile_archives_are_refused(void **state) {
    refuse_tar(make_beyond, "member a.cls: it would go past the end");
    refuse_tar(make_huge, "member a.cls: it would go past the end");
    refuse_tar(make_negative, "base 256: negative");
    refuse_tar(make_words, "no octal number");
    refuse_tar(make_link, "member a.cls: it is a link");
    refuse_tar(make_device, "member a.cls: it is a device");
    refuse_tar(make_sparse, "member a.cls: it is a sparse file");
    refuse_tar(make_unknown, "member a.cls: it is of a type that is not known");
    refuse_tar(make_outside, "..");
    refuse_tar(make_absolute, "begins with /");
    refuse_tar(make_control, "control characters");
    refuse_tar(make_nameless, "no name");
    refuse_tar(make_folder_name, "no name");
    refuse_tar(make_other, "no header of a tar file");
    refuse_tar(make_unsigned, "checksum is wrong");
    refuse_tar(make_two, "more after its end");
}

/* The member a.cls with these records of pax before it. */
static vit_status with_pax(char out[2048], char type, const char *records, vit_error *error) {
    vit_string tar = {0};
    put_text(&tar, "pax", records);
    tar.text[156] = type;
    sign(&tar, 0);
    put_text(&tar, "a.cls", "1");
    put_end(&tar);
    const vit_status status = members_of(out, &tar, tar.length, error);
    vit_string_free(&tar);
    return status;
}

static void test_records_of_pax(void **state) {
    char out[2048];
    vit_error error;
    assert_int_equal(
        with_pax(out, 'x', "19 path=long/b.cls\n30 mtime=1700000000.123456789\n", &error), VIT_OK);
    assert_string_equal(out, "long/b.cls=1;");
    assert_int_equal(with_pax(out, 'g', "30 mtime=1700000000.123456789\n", &error), VIT_OK);
    assert_string_equal(out, "a.cls=1;");
    const char *const wrong[] = {"20 path=long/b.cls\n",
                                 "17 path=long/b.cls\n",
                                 "path=x\n",
                                 "0 path=x\n",
                                 "99999999999999999999 path=x\n",
                                 "7 path\n",
                                 "13 size=5000\n",
                                 "10 size=x\n",
                                 "13 path=../a\n",
                                 "22 GNU.sparse.major=1\n",
                                 "9999 path=x\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_true(with_pax(out, 'x', wrong[i], &error) != VIT_OK);
        assert_non_null(strstr(error.message, "a.tar"));
    }
    assert_true(with_pax(out, 'g', "19 path=long/b.cls\n", &error) != VIT_OK);
}

/* ---- samples ---- */

static void put_picture(vit_string *tar, const char *name, uint8_t shade) {
    vit_bytes png;
    vit_error error;
    put_png("picture.png", 32, 32, shade, (uint8_t)(shade * 7), 40);
    assert_int_equal(vit_read_file(&png, "picture.png", 1 << 20, &error), VIT_OK);
    put_member(tar, name, png.data, png.size);
    vit_free(png.data);
}

static void put_tar(const char *path, vit_string *tar) {
    put_end(tar);
    put_bytes(path, tar->text, tar->length);
    vit_string_free(tar);
}

static void test_classes_are_numbers_or_names(void **state) {
    vit_dataset set;
    vit_string tar = {0};
    put_picture(&tar, "x/1.png", 10);
    put_text(&tar, "x/1.cls", " 1\n");
    put_text(&tar, "x/2.json", "{\"label\": 0, \"more\": []}");
    put_picture(&tar, "x/2.big.JPG", 20);
    put_picture(&tar, "3.png", 30);
    put_text(&tar, "3.json", "{\"label\": 7}");
    put_text(&tar, "3.cls", "1");
    put_text(&tar, "__index__/x.png", "no picture");
    put_text(&tar, "./.hidden", "nothing");
    put_tar("d/a-train-000.tar", &tar);
    open_set(&set, "d", &(vit_dataset_options){.want = VIT_PART_TRAIN});
    assert_int_equal(set.train.count, 3);
    assert_int_equal(set.classes, 2);
    assert_string_equal(vit_record_file(&set.train, 1), "d/a-train-000.tar/x/2.big.JPG");
    const uint16_t labels[] = {1, 0, 1};
    assert_memory_equal(set.train.labels, labels, sizeof labels);
    assert_string_equal(set.labels[1], "1");
    assert_true(set.has_characters && has_note(&set, "classes.txt may name them"));
    vit_dataset_close(&set);

    put_file("d/classes.txt", "hen\ncat\n");
    open_set(&set, "d", &(vit_dataset_options){.want = VIT_PART_TRAIN});
    assert_string_equal(set.labels[0], "hen");
    assert_false(set.has_characters);
    vit_dataset_close(&set);
    put_file("d/classes.txt", "hen\n");
    refuse_set("d", &any, VIT_ERROR_FORMAT, "class 1", "names 1 classes");

    put_picture(&tar, "1.png", 10);
    put_text(&tar, "1.cls", "cat");
    put_picture(&tar, "2.png", 20);
    put_text(&tar, "2.cls", "ape");
    put_tar("e/000.tar", &tar);
    open_set(&set, "e", &(vit_dataset_options){.want = VIT_PART_TRAIN});
    assert_string_equal(set.labels[0], "ape");
    assert_int_equal(set.train.labels[0], 1);
    vit_dataset_close(&set);
}

static void test_samples_that_lack_something_are_left_out(void **state) {
    vit_dataset set;
    vit_string tar = {0};
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.png", i);
        put_picture(&tar, name, (uint8_t)(40 * i));
        snprintf(name, sizeof name, "%d.cls", i);
        put_text(&tar, name, i % 2 ? "1" : "0");
    }
    put_picture(&tar, "classless.png", 1);
    put_text(&tar, "broken.png", "no picture");
    put_text(&tar, "broken.cls", "0");
    put_picture(&tar, "two.left.png", 1);
    put_picture(&tar, "two.right.png", 2);
    put_text(&tar, "two.cls", "0");
    put_text(&tar, "words.txt", "no picture in it");
    put_tar("d/train-0.tar", &tar);
    put_picture(&tar, "t.png", 5);
    put_text(&tar, "t.cls", "0");
    put_tar("d/test-0.tar", &tar);
    open_set(&set, "d", &any);
    assert_int_equal(set.train.count, 4);
    assert_int_equal(set.test.count, 1);
    assert_true(has_note(&set, "d/train-0.tar/classless.png: its class is not told"));
    assert_true(has_note(&set, "d/train-0.tar/two.right.png: its sample has two pictures"));
    assert_true(has_note(&set, "d/train-0.tar/broken.png: "));
    vit_dataset_close(&set);
    put_text(&tar, "notes.txt", "other files");
    put_tar("f/0.tar", &tar);
    refuse_set("f", &any, VIT_ERROR_FORMAT, "f: its tar files hold no samples", "tar xf");
    put_file("g/train-test-0.tar", "");
    refuse_set("g", &any, VIT_ERROR_FORMAT, "train-test-0.tar", "says several");
}

/* ---- packed folders ---- */

static void pack(const char *data, const char *out, uint64_t bytes) {
    vit_packed packed;
    vit_error error = {0};
    const vit_pack_options o = {.data = data, .out = out, .bytes = bytes, .seed = 3, .threads = 2};
    if (vit_pack(&packed, &o, &error) != VIT_OK) fail_msg("%s", error.message);
}

/* 40 pictures of 2 classes, in shards of about 8. */
static void pack_small(void) {
    put_class("d/train/a", 20, 32, 1);
    put_class("d/train/b", 20, 32, 2);
    put_class("d/test/a", 4, 32, 3);
    pack("d", "s", 10000);
}

static void test_an_index_opens_what_the_shards_hold(void **state) {
    vit_dataset by_index, by_shards, in_files;
    uint8_t pixels[32 * 32 * 3];
    vit_error error;
    pack_small();
    open_set(&by_index, "s", &any);
    const vit_dataset_options streamed = {.want = BOTH, .cache = 1};
    open_set(&in_files, "s", &streamed);
    assert_int_equal(unlink("s/" VIT_SHARDS_INDEX), 0);
    open_set(&by_shards, "s", &any);
    assert_string_equal(by_index.checksum, by_shards.checksum);
    assert_string_equal(by_index.checksum, in_files.checksum);
    assert_true(by_index.train.count == 40 && by_shards.train.count == 40);
    assert_true(!by_index.train.files && in_files.train.files->resident == 0);
    assert_true(by_index.train.shards[39] > by_index.train.shards[0]);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(by_index.train.labels[i], by_shards.train.labels[i]);
        assert_int_equal(by_index.train.shards[i], in_files.train.shards[i]);
        assert_string_equal(vit_record_file(&by_index.train, i),
                            vit_record_file(&by_shards.train, i));
        assert_memory_equal(vit_record_pixels(&by_index, &by_index.train, i),
                            vit_record_pixels(&by_shards, &by_shards.train, i), sizeof pixels);
        assert_int_equal(vit_record_read(&in_files, &in_files.train, i, pixels, &error), VIT_OK);
        assert_memory_equal(pixels, vit_record_pixels(&by_index, &by_index.train, i),
                            sizeof pixels);
    }
    assert_int_equal(by_index.test.count, 4);
    vit_dataset_close(&by_index);
    vit_dataset_close(&by_shards);
    vit_dataset_close(&in_files);
}

/* Joined sets are in memory, and shuffled as a whole. */
static void test_shards_are_joined(void **state) {
    vit_dataset set;
    vit_loader l;
    vit_error error;
    const vit_recipe recipe = {.batch = 8, .repeats = 1, .val = 8};
    pack_small();
    open_set(&set, "s+d", &any);
    assert_true(set.train.count == 80 && !set.train.shards);
    assert_int_equal(vit_loader_new(&l, &set, &recipe, 5, &error), VIT_OK);
    vit_loader_prepare(&l, 3);
    assert_null(l.sorted);
    vit_loader_free(&l);
    vit_dataset_close(&set);
}

/* Changes a byte of a file. */
static void change(const char *path, long at) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

static void test_damage_fails_at_its_use_with_its_name(void **state) {
    vit_dataset set;
    vit_error error;
    uint8_t pixels[32 * 32 * 3];
    const vit_dataset_options streamed = {.want = BOTH, .cache = 1};
    pack_small();
    change("s/train-000001.tar", VIT_TAR_BLOCK + 60);
    open_set(&set, "s", &streamed);
    size_t failed = 0;
    for (size_t i = 0; i < 40; i++)
        if (vit_record_read(&set, &set.train, i, pixels, &error) != VIT_OK) {
            assert_says(&error, VIT_ERROR_FORMAT, "s/train-000001.tar/", "CRC-32");
            assert_non_null(strstr(error.message, vit_record_file(&set.train, i)));
            failed++;
        }
    assert_int_equal(failed, 1);
    vit_dataset_close(&set);
    change("s/" VIT_SHARDS_INDEX, 80);
    refuse_set("s", &streamed, VIT_ERROR_FORMAT, "s/shards.tsv", "vit-pack --index s");
}

static void test_an_index_of_other_shards_is_refused(void **state) {
    vit_bytes tar;
    vit_error error;
    vit_packed packed;
    vit_dataset set;
    pack_small();
    assert_int_equal(vit_read_file(&tar, "s/train-000000.tar", 1 << 20, &error), VIT_OK);
    assert_int_equal(vit_write_file("s/train-000999.tar", tar.data, tar.size, &error), VIT_OK);
    refuse_set("s", &any, VIT_ERROR_MISMATCH, "tells of", "vit-pack --index s");
    const vit_pack_options o = {.data = "s"};
    assert_int_equal(vit_pack_index(&packed, &o, &error), VIT_OK);
    open_set(&set, "s", &any);
    assert_int_equal(set.train.count, packed.train);
    assert_true(set.train.count > 40);
    vit_dataset_close(&set);
    assert_int_equal(truncate("s/train-000999.tar", 512), 0);
    refuse_set("s", &any, VIT_ERROR_MISMATCH, "s/train-000999.tar: has 512 bytes", "shards.tsv");
    assert_int_equal(unlink("s/train-000999.tar"), 0);
    refuse_set("s", &any, VIT_ERROR_IO, "s/train-000999.tar", "No such file");
    vit_free(tar.data);
}

static void test_nothing_is_left_of_a_packing_that_failed(void **state) {
    vit_packed packed;
    vit_error error;
    const vit_pack_options o = {.data = "d", .out = "s", .bytes = 10000};
    bool exists;
    put_class("d/train/a", 6, 32, 1);
    put_class("d/train/b", 6, 32, 2);
    vit_status status = VIT_ERROR_IO;
    for (long n = 1; status != VIT_OK; n += 3) {
        fault_arm(n);
        status = vit_pack(&packed, &o, &error);
        fault_disarm();
        assert_int_equal(vit_path_exists(&exists, "s.unfinished", NULL), VIT_OK);
        assert_false(exists && status != VIT_OK && strstr(error.message, "s.unfinished: is there"));
        if (exists) { /* removing it failed, too */
            assert_int_equal(system("rm -r s.unfinished"), 0);
        }
        if (status == VIT_OK) break;
        assert_int_equal(vit_path_exists(&exists, "s", NULL), VIT_OK);
        if (exists) break; /* all but the last sync of its directory succeeded */
    }
    assert_int_equal(vit_path_exists(&exists, "s/shards.tsv", NULL), VIT_OK);
    assert_true(exists);
}

/* ---- the order of a stream ---- */

#define SHARDS 10
#define EACH 30

/* A set that is only labels and shards: number i is in shard i / EACH. */
static void fake_set(vit_dataset *set) {
    *set = (vit_dataset){.height = 1, .width = 1, .channels = 1, .classes = 2};
    set->std[0] = 1;
    set->train.count = SHARDS * EACH;
    set->train.labels = vit_alloc(set->train.count, sizeof *set->train.labels);
    set->train.shards = vit_alloc(set->train.count, sizeof *set->train.shards);
    set->train.pixels = vit_alloc(set->train.count, 1);
    for (size_t i = 0; i < set->train.count; i++) {
        set->train.labels[i] = (uint16_t)(i % 2);
        set->train.shards[i] = (uint32_t)(i / EACH);
    }
}

static void test_a_stream_reads_few_shards_at_a_time(void **state) {
    enum { WINDOW = 2 * EACH - 10 }; /* two shards without what is held back of them, at least */
    vit_dataset set;
    vit_loader l;
    vit_error error;
    vit_recipe recipe = {.batch = 8, .repeats = 1, .val = 30};
    uint32_t before[SHARDS * EACH] = {0};
    fake_set(&set);
    assert_int_equal(vit_loader_new(&l, &set, &recipe, 5, &error), VIT_OK);
    l.window = WINDOW;
    assert_int_equal(l.shard_count, SHARDS);
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
        size_t seen[SHARDS * EACH] = {0}, last[SHARDS] = {0}, first[SHARDS], changes = 0;
        for (size_t i = 0; i < SHARDS; i++) first[i] = SIZE_MAX;
        /* The first step of the epoch, and none before it: any step is reached directly. */
        vit_loader_prepare(&l, (epoch * l.train_count + 7) / 8);
        for (size_t i = 0; i < l.train_count; i++) {
            const uint32_t record = l.sorted[l.order[i]], shard = record / EACH;
            seen[record]++;
            first[shard] = first[shard] < i ? first[shard] : i;
            last[shard] = i;
            changes += epoch > 0 && before[i] != record;
            before[i] = record;
        }
        for (size_t i = 0; i < l.train_count; i++) assert_int_equal(seen[l.sorted[i]], 1);
        for (size_t i = 0; i < SHARDS; i++)
            assert_in_range(last[i] - first[i], EACH / 2, WINDOW + EACH);
        assert_true(epoch == 0 || changes > l.train_count / 2);
    }
    vit_loader_free(&l);
    vit_dataset_close(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_every_length),
        cmocka_unit_test(test_an_archive_cut_off_anywhere_is_refused),
        cmocka_unit_test(test_a_changed_bit_in_a_header_is_found),
        cmocka_unit_test(test_hostile_archives_are_refused),
        cmocka_unit_test(test_records_of_pax),
        IN_DIRECTORY(test_classes_are_numbers_or_names),
        IN_DIRECTORY(test_samples_that_lack_something_are_left_out),
        IN_DIRECTORY(test_an_index_opens_what_the_shards_hold),
        IN_DIRECTORY(test_shards_are_joined),
        IN_DIRECTORY(test_damage_fails_at_its_use_with_its_name),
        IN_DIRECTORY(test_an_index_of_other_shards_is_refused),
        IN_MEMORY(test_nothing_is_left_of_a_packing_that_failed),
        cmocka_unit_test(test_a_stream_reads_few_shards_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
