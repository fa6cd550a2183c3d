/* Tables of file names and classes, as imagefolder and Kaggle have them. */
#include "tests/support/fault.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)
static const vit_dataset_options both = {.need = BOTH, .want = BOTH};
static const vit_dataset_options any = {.want = BOTH};

/* directory/0.png, ...: number i has the colour (10 i, i, 7). */
static void put_pictures(const char *directory, int count) {
    char path[128];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%d.png", directory, i);
        put_png(path, 16, 16, (uint8_t)(10 * i), (uint8_t)i, 7);
    }
}

/* Rows NAME<between>CLASS of pictures 0 .. count - 1, which are of cat, dog, cat, ... */
static void put_rows(const char *path, const char *title, const char *form, int count) {
    char text[4000] = "";
    size_t length = (size_t)snprintf(text, sizeof text, "%s\n", title);
    for (int i = 0; i < count; i++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, form, i, i % 2 ? "dog" : "cat");
    put_file(path, text);
}

static void check_cats_and_dogs(const char *data, size_t train, size_t test) {
    vit_dataset set;
    open_set(&set, data, &both);
    assert_true(set.classes == 2 && set.train.count == train && set.test.count == test);
    assert_string_equal(set.labels[0], "cat");
    assert_string_equal(set.labels[1], "dog");
    for (size_t i = 0; i < train; i++) /* green is the number of the picture */
        assert_int_equal(vit_record_pixels(&set, &set.train, i)[1] % 2, set.train.labels[i]);
    vit_dataset_close(&set);
}

static void test_imagefolder(void **state) {
    (void)state;
    put_pictures("a", 14);
    put_rows("a/metadata.csv",
             "\xef\xbb\xbf"
             "file_name,label",
             "%d.png,\"%s\"\r\n", 14);
    check_cats_and_dogs("a", 12, 2);
    put_pictures("b/train", 8);
    put_pictures("b/test", 4);
    put_rows("b/train/metadata.jsonl", "", "{\"file_name\": \"%d.png\", \"label\": \"%s\"}\n", 8);
    put_rows("b/test/metadata.jsonl", "", "{\"file_name\": \"%d.png\", \"label\": \"%s\"}\n", 4);
    check_cats_and_dogs("b", 8, 4);
    put_pictures("c/train", 8);
    put_pictures("c/test", 4);
    char rows[2][2000];
    put_rows("x", "file_name;text;label", "train/%d.png;a; %s\n", 8);
    put_rows("y", "", "test/%d.png;\"of; a\"\"b\"\" \n more\";%s\n", 4);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(i ? "y" : "x", "r");
        assert_non_null(file);
        rows[i][fread(rows[i], 1, sizeof rows[i] - 1, file)] = 0;
        fclose(file);
    }
    char both_rows[4000];
    for (char *at = rows[0]; (at = strstr(at, "; ")); at++) memmove(at + 1, at + 2, strlen(at + 1));
    snprintf(both_rows, sizeof both_rows, "%s%s", rows[0], rows[1]);
    put_file("c/metadata.csv", both_rows);
    check_cats_and_dogs("c", 8, 4);
}

static void test_kaggle(void **state) {
    (void)state;
    put_pictures("a/train", 14);
    put_pictures("a/test", 20); /* of the same names, and not in the table */
    put_rows("a/train.csv", "id,breed", "%d,%s\n", 14);
    put_file("a/test.csv", "id\n1\n2\n");
    put_file("a/sample_submission.csv", "id,breed\n1,cat\n");
    check_cats_and_dogs("a", 12, 2);
    put_pictures("b/images/images", 14);
    put_rows("b/labels.csv", "Image,Id", "%d.png,%s\n", 14);
    check_cats_and_dogs("b", 12, 2);
    put_pictures("c/Train/1", 8);
    put_pictures("c/Test", 4);
    put_rows("c/Train.csv", "Width,Height,ClassId,Path", "16,16,%2$s,Train/1/%1$d.png\n", 8);
    put_rows("c/Test.csv", "Width,Height,ClassId,Path", "16,16,%2$s,Test\\%1$d.png\n",
             4); /* of Windows */
    check_cats_and_dogs("c", 8, 4);
    put_pictures("d/p", 14);
    put_rows("d/annotations.csv", "path\tset\tclass", "p/%d.png\ttrain\t%s\n", 14);
    check_cats_and_dogs("d", 12, 2);
    put_pictures("e", 14);
    put_rows("e/labels.csv", "file_name , label", " %d.png, %s \n", 14); /* space around them */
    check_cats_and_dogs("e", 12, 2);
}

/* An absolute name is one of the folder if it begins with the folder's. */
static void test_absolute_names(void **state) {
    (void)state;
    char here[1024], form[1200];
    put_pictures("d/images", 12);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(form, sizeof form, "%s/d/images/%%d.png,%%s\n", here);
    put_rows("d/train.csv", "image,label", form, 12);
    check_cats_and_dogs("d", 10, 2);
    snprintf(form, sizeof form, "%s/dd/images/%%d.png,%%s\n", here);
    put_rows("d/train.csv", "image,label", form, 12);
    refuse_set("d", &both, VIT_ERROR_FORMAT, "line 2", "leads out of the folder of the table");
}

static void test_numbers_are_in_order(void **state) {
    (void)state;
    vit_dataset set;
    put_pictures("a", 12);
    put_file("a/metadata.csv", "file_name,label\n0.png,10\n1.png,9\n2.png,100\n3.png,9\n"
                               "4.png,10\n5.png,100\n");
    open_set(&set, "a", &any);
    assert_string_equal(set.labels[0], "9");
    assert_string_equal(set.labels[1], "10");
    assert_string_equal(set.labels[2], "100");
    vit_dataset_close(&set);
}

/* A table of something else does not hide the folders. */
static void test_folders_with_a_table(void **state) {
    (void)state;
    put_class("a/train_images/cat", 8, 16, 1);
    put_class("a/train_images/dog", 8, 16, 100);
    put_file("a/train.csv", "image_id,label,variety\n100330.jpg,cat,x\n100365.jpg,dog,y\n");
    vit_dataset set;
    open_set(&set, "a", &both);
    assert_true(set.classes == 2 && set.train.count == 14 && set.test.count == 2);
    vit_dataset_close(&set);
}

/* The checksum names the classes: the same files with others are other data. */
static void test_checksum(void **state) {
    (void)state;
    vit_dataset set;
    char first[65];
    put_pictures("a", 8);
    put_rows("a/metadata.csv", "file_name,label", "%d.png,%s\n", 8);
    open_set(&set, "a", &any);
    memcpy(first, set.checksum, sizeof first);
    vit_dataset_close(&set);
    put_rows("a/metadata.csv", "file_name,label", "%d.png,a %s\n", 8);
    open_set(&set, "a", &any);
    assert_string_not_equal(set.checksum, first);
    vit_dataset_close(&set);
}

static void refused(const char *table, const char *text, const char *says, const char *more) {
    char path[64];
    snprintf(path, sizeof path, "r/%s", table);
    put_file(path, text);
    refuse_set("r", &any, VIT_ERROR_FORMAT, says, more);
    assert_int_equal(unlink(path), 0);
}

static void test_refused(void **state) {
    (void)state;
    put_pictures("r", 4);
    refused("metadata.csv", "file_name,text\n0.png,a cat\n1.png,b\n", "columns file_name, text",
            "label");
    refused("metadata.csv", "a,b,c\n0.png,cat,x\n", "columns a, b, c", "file_name and label");
    refused("train.csv", "label,pixel0,pixel1\n1,0,0\n", "r/train.csv: has pixels", "IDX");
    refused("metadata.csv", "file_name,label\n0.png,cat\n1.png\n", "line 3: has 1 columns", "2");
    refused("metadata.csv", "file_name,label\n0.png,cat\n1.png,\n", "line 3", "no class");
    refused("metadata.csv", "file_name,label\n0.png,\"cat\n", "line 2", "quote does not end");
    refused("metadata.csv", "file_name,label\n../r/0.png,cat\n", "line 2", "leads out");
    refused("metadata.csv", "file_name,label\n/etc/passwd,cat\n", "line 2", "leads out");
    refused("metadata.csv", "file_name,label\n0.png,cat\n0.png,dog\n", "r/0.png", "in another");
    refused("metadata.csv", "file_name,label\n", "no row of a picture", "metadata.csv");
    refused("metadata.csv", "", "empty table", "metadata.csv");
    refused("metadata.csv", "file_name,label\nx.png,cat\ny.png,dog\n", "no picture x.png",
            "line 2");
    refused("metadata.jsonl", "{\"file_name\": \"0.png\"}\n", "the columns file_name", "label");
    refused("metadata.jsonl", "{\"file_name\": \"0.png\", \"label\": 0}\n[1]\n", "line 2", "");
    put_file("r/train.csv", "a,b,c\n");
    refuse_set("r/train.csv", &any, VIT_ERROR_IO, "r/train.csv: is a file", "name the one");
    put_file("r/metadata.csv", "file_name,label\n0.png,cat\n1.png,dog\nx.png,dog\n2.png,cat\n");
    vit_dataset set;
    open_set(&set, "r", &any);
    assert_true(has_note(&set, "x.png: line 4 names it, and it is not there"));
    assert_int_equal(set.train.count, 3);
    vit_dataset_close(&set);
}

/* ---- what is ambiguous ---- */

static void check_source(const char *data, const vit_dataset_options *options, const char *source) {
    vit_dataset set;
    open_set(&set, data, options);
    assert_string_equal(set.class_source, source);
    vit_dataset_close(&set);
}

/* The second column of a table is not the classes for want of another. */
static void test_other_columns(void **state) {
    (void)state;
    vit_dataset set;
    put_class("a/cat", 3, 16, 1);
    put_class("a/dog", 3, 16, 100);
    put_file("a/metadata.csv", "file_name,license\ncat/0.png,x\ncat/1.png,y\ndog/0.png,x\n");
    open_set(&set, "a", &any);
    assert_string_equal(set.class_source, "folders");
    assert_true(has_note(&set, "classes: folders (a/metadata.csv: has the columns file_name, "
                               "license"));
    assert_string_equal(set.labels[1], "dog");
    vit_dataset_close(&set);
    vit_dataset_options named = any;
    named.class_column = "License";
    open_set(&set, "a", &named);
    assert_string_equal(set.class_source, "column license of metadata.csv");
    assert_true(has_note(&set, "classes: column license of metadata.csv"));
    assert_string_equal(set.labels[1], "y");
    vit_dataset_close(&set);
    named.class_column = "author";
    refuse_set("a", &named, VIT_ERROR_FORMAT, "has no column author", "file_name, license");
    assert_int_equal(unlink("a/metadata.csv"), 0);
    refuse_set("a", &named, VIT_ERROR_FORMAT, "no table of pictures", "column author");
    refuse_set("digits", &named, VIT_ERROR_ARGUMENT, "digits: is no table", "author");
    /* folders that share the pictures of a table out are no classes */
    put_pictures("b/images_001", 4);
    put_class("b/images_002", 6, 16, 9);
    put_file("b/metadata.csv", "file_name,age\nimages_001/0.png,3\nimages_002/1.png,4\n");
    refuse_set("b", &any, VIT_ERROR_FORMAT, "images_001 and images_002", "has the columns");
    put_class("c/images", 6, 16, 9);
    put_class("c/annotations", 6, 16, 1);
    refuse_set("c", &any, VIT_ERROR_FORMAT, "annotations and images", "--splits-are-classes");
}

static void test_two_tables(void **state) {
    (void)state;
    put_pictures("a/images", 6);
    put_rows("a/train.csv", "image,label", "%d.png,%s\n", 6);
    put_file("a/metadata.csv", "image,patient\n0.png,p\n1.png,q\n2.png,p\n");
    check_source("a", &any, "column label of train.csv");
    put_rows("a/labels.csv", "image,class", "%d.png,a %s\n", 6);
    refuse_set("a", &any, VIT_ERROR_FORMAT,
               "a/labels.csv (column class) and a/train.csv (column "
               "label)",
               "--class-column");
    vit_dataset_options named = any;
    named.class_column = "class";
    check_source("a", &named, "column class of labels.csv");
    assert_int_equal(unlink("a/labels.csv"), 0);
    put_rows("a/some boxes.csv", "image,label,xmin", "%d.png,%s,3\n", 6);
    put_rows("a/sample_submission.csv", "image,label", "%d.png,a %s\n", 6);
    check_source("a", &any, "column label of train.csv");
}

/* A name in two folders; folders that differ in numbers hold each picture once. */
static void test_two_places(void **state) {
    (void)state;
    put_pictures("a/images", 6);
    put_pictures("a/annotations", 6);
    put_rows("a/labels.csv", "image,label", "%d.png,%s\n", 6);
    refuse_set("a", &any, VIT_ERROR_FORMAT,
               "line 2: 0.png may be a/annotations/0.png or a/images/0.png", "move the other");
    put_rows("a/labels.csv", "image,label", "%d,%s\n", 6);
    refuse_set("a", &any, VIT_ERROR_FORMAT, "0 may be a/annotations/0.png or", "images");
    put_rows("a/labels.csv", "image,label", "images/%d.png,%s\n", 6);
    check_source("a", &any, "column label of labels.csv");
    put_png("b/HAM_images_part_1/x1.png", 16, 16, 1, 2, 3);
    put_png("b/HAM_images_part_1/x2.png", 16, 16, 1, 2, 3);
    put_png("b/HAM_images_part_2/x3.png", 16, 16, 1, 2, 3);
    put_png("b/HAM_images_part_2/x4.png", 16, 16, 1, 2, 3);
    put_file("b/HAM_metadata.csv", "lesion_id,image_id,dx,age\nl,x1,nv,1\nl,x2,mel,2\nl,x3,nv,1\n"
                                   "l,x4,mel,5\n");
    check_source("b", &any, "column dx of HAM_metadata.csv");
    put_file("b/HAM_metadata.csv", "Image Index,Finding Labels\nx1.png,a|b\nx2.png,a\n"
                                   "x3.png,c\nx4.png,a\n");
    refuse_set("b", &any, VIT_ERROR_FORMAT, "HAM_metadata.csv: line 2: \"a|b\"", "--multi-label");
    const vit_dataset_options several = {.want = BOTH, .multi_label = true};
    check_source("b", &several, "column Finding Labels (names between |) of HAM_metadata.csv");
}

static void test_table_and_folders(void **state) {
    (void)state;
    put_class("a/cat", 3, 16, 1);
    put_class("a/dog", 3, 16, 100);
    static const char rows[] = "file_name,label\ncat/0.png,%s\ncat/1.png,%s\ncat/2.png,%s\n"
                               "dog/0.png,%s\ndog/1.png,%s\ndog/2.png,%s\n";
    char text[400];
    snprintf(text, sizeof text, rows, "c", "c", "c", "d", "d", "d");
    put_file("a/metadata.csv", text);
    check_source("a", &any, "column label of metadata.csv");
    snprintf(text, sizeof text, rows, "cat", "cat", "dog", "dog", "dog", "dog");
    put_file("a/metadata.csv", text);
    refuse_set("a", &any, VIT_ERROR_FORMAT,
               "a/cat/2.png lies in the folder cat and is of class \"dog\"", "--class-column");
    snprintf(text, sizeof text, rows, "dog", "dog", "dog", "cat", "cat", "cat");
    put_file("a/metadata.csv", text);
    refuse_set("a", &any, VIT_ERROR_FORMAT, "disagree", "column label of metadata.csv");
    vit_dataset_options named = any;
    named.class_column = "label";
    check_source("a", &named, "column label of metadata.csv");
}

static void test_parts_of_a_table(void **state) {
    (void)state;
    vit_dataset set;
    put_pictures("a", 8);
    put_file("a/labels.csv", "path,label,split\n0.png,cat,train\n1.png,dog,train\n2.png,cat,eval\n"
                             "3.png,dog,holdout\n4.png,cat,test\n5.png,dog,query\n");
    const vit_dataset_options three = {.want = BOTH | VIT_PART_VAL};
    open_set(&set, "a", &three);
    assert_int_equal(set.train.count, 2);
    assert_int_equal(set.val.count, 2);
    assert_int_equal(set.test.count, 2);
    vit_dataset_close(&set);
    put_file("a/labels.csv", "path,label,split\n0.png,cat,train\n1.png,dog,holdout\n2.png,cat,3\n");
    refuse_set("a", &any, VIT_ERROR_FORMAT, "column split has numbers", "folds");
    put_file("a/labels.csv", "path,label,split\n0.png,cat,train\n1.png,dog,extra\n2.png,cat,val\n");
    refuse_set("a", &any, VIT_ERROR_FORMAT, "line 3: \"extra\"", "PrivateTest");
    /* Roboflow's, with a table in each part */
    put_pictures("b/train", 4);
    put_pictures("b/valid", 2);
    put_file("b/train/_classes.csv", "filename, cat, dog\n0.png, 1, 0\n1.png, 0, 1\n2.png, 0, 1\n");
    put_file("b/valid/_classes.csv", "filename, cat, dog\n0.png, 1, 0\n1.png, 0, 1\n");
    check_source("b", &any, "2 columns of 1 and 0 of train/_classes.csv and valid/_classes.csv");
    put_file("b/train/_classes.csv", "filename, cat, dog\n0.png, 1, 0\n1.png, 0, 1\n2.png, 1, 1\n");
    refuse_set("b", &any, VIT_ERROR_FORMAT, "line 4: has a 1 in 2 columns", "--multi-label");
}

/* What cannot be read says how it can be. */
static void test_packed(void **state) {
    (void)state;
    put_file("a/data/train-00000-of-00001.parquet", "PAR1");
    put_file("a/README.md", "x");
    refuse_set("a", &any, VIT_ERROR_FORMAT, "a/data/train-00000-of-00001.parquet: Parquet",
               "write_bytes");
    put_pictures("b/img_align_celeba", 4);
    put_file("b/list_attr_celeba.txt", "1\nBald Young\n0.png -1  1\n");
    refuse_set("b", &any, VIT_ERROR_FORMAT, "list_attr_celeba.csv", "tail -n +2");
}

/* Tables and texts that are not read, and the line that makes a table of them. */
static void test_unread_tables(void **state) {
    (void)state;
    put_pictures("a", 4);
    put_file("a/labels.xlsx", "PK");
    refuse_set("a", &any, VIT_ERROR_FORMAT, "labels.xlsx: a spreadsheet", "save it as CSV");
    put_pictures("b/images", 4);
    put_file("b/annotations/instances.json", "{\"images\": [], \"annotations\": []}");
    refuse_set("b", &any, VIT_ERROR_FORMAT, "b/annotations/instances.json: COCO", "--multi-label");
    put_pictures("c", 4);
    put_file("c/train.txt", "0.png cat\n1.png dog\n");
    refuse_set("c", &any, VIT_ERROR_FORMAT, "train.txt: a text of pictures", "sed");
    put_pictures("d", 4);
    put_file("d/labels.json", "{\"0.png\": \"cat\"}");
    refuse_set("d", &any, VIT_ERROR_FORMAT, "labels.json: JSON is read", "'file_name': k");
    put_pictures("e", 4);
    put_file("e/labels.csv", "0.png,cat\n1.png,dog\n");
    refuse_set("e", &any, VIT_ERROR_FORMAT, "first line names a picture, 0.png", "file_name,label");
    put_file("e/labels.csv", "sep=;\r\nimage;label\r\n0;cat\r\n1;dog\r\n2;cat\r\n3;nan\r\n");
    refuse_set("e", &any, VIT_ERROR_FORMAT, "line 6: \"nan\" is what programs",
               "leave the line out");
    put_file("e/labels.csv", "image;label\n0;cat\n1;N/A\n2;cat\n3;dog\n");
    refuse_set("e", &any, VIT_ERROR_FORMAT, "line 3: \"N/A\" is what programs", "the line out");
}

/* Lists of pictures that say the parts, as NIH's and CelebA's. */
static void test_part_lists(void **state) {
    (void)state;
    vit_dataset set;
    put_pictures("a", 8);
    put_rows("a/labels.csv", "image,label", "%d.png,%s\n", 8);
    put_file("a/train_val_list.txt", "0.png\n1.png\n2.png\n3.png\n4.png\n");
    put_file("a/test_list.txt", "5.png\r\n6.png\r\n7.png");
    check_cats_and_dogs("a", 5, 3);
    put_file("a/test_list.txt", "5.png\n6.png\n");
    refuse_set("a", &any, VIT_ERROR_FORMAT, "line 9: no part is said of 7.png",
               "test_list.txt and train_val_list.txt");
    put_file("a/test_list.txt", "4.png\n5.png\n6.png\n7.png");
    refuse_set("a", &any, VIT_ERROR_FORMAT, "4.png is in two lists", "train_val_list.txt (line 5)");
    put_pictures("b", 8);
    put_rows("b/labels.csv", "image,label", "%d.png,%s\n", 8);
    put_rows("b/list_eval_partition.csv", "image_id,partition", "%d.png,0\n", 4);
    put_file("b/test.txt", "4.png\n5.png x\n6\nothers.png\n");
    refuse_set("b", &any, VIT_ERROR_FORMAT, "7.png", "list_eval_partition.csv and test.txt");
    put_file("b/test.txt", "4.png\n5.png x\n6\n7\n");
    check_cats_and_dogs("b", 4, 4);
    put_rows("b/list_eval_partition.csv", "image_id,partition", "%d.png,4\n", 4);
    refuse_set("b", &any, VIT_ERROR_FORMAT, "says no part that is known of 0.png",
               "expected train");
    put_file("b/list_eval_partition.csv", "x\n");
    put_rows("b/labels.csv", "image,label,split", "%d.png,%s,test\n", 8);
    put_file("b/test.txt", "4.png\n");
    put_file("b/train.txt", "5.png\n");
    refuse_set("b", &any, VIT_ERROR_FORMAT, "line 7: the part of 5.png", "train.txt says another");
    put_pictures("c", 4);
    put_file("c/labels.csv", "image,label\n0,Cat\n1,cat\n2,hot_dog\n3,Hot dog\n0.png,Cat\n");
    open_set(&set, "c", &any);
    assert_true(has_note(&set, "\"Cat\" and \"cat\", and others, differ in case"));
    assert_false(has_note(&set, "dates"));
    vit_dataset_close(&set);
    put_pictures("d/2024-05-01", 2);
    put_pictures("d/2024-12", 2);
    open_set(&set, "d", &any);
    assert_true(has_note(&set, "called as dates, 2024-05-01"));
    vit_dataset_close(&set);
}

/* ---- several classes a picture ---- */

static const vit_dataset_options lists = {.want = BOTH, .multi_label = true};

/* Of pictures 0 .. 11, number i is of "a b" if i is odd, of "c" if i % 3 is 0, and else of none. */
static void check_lists(const char *data, const char *first) {
    vit_dataset set;
    size_t pictures = 0;
    open_set(&set, data, &lists);
    assert_int_equal(set.classes, 2);
    assert_string_equal(set.labels[0], first);
    assert_string_equal(set.labels[1], "c");
    const vit_records *parts[] = {&set.train, &set.test};
    for (size_t p = 0; p < 2; p++) {
        assert_true(vit_records_list_classes(parts[p]));
        for (size_t i = 0; i < parts[p]->count; i++, pictures++) {
            const unsigned number = vit_record_pixels(&set, parts[p], i)[1];
            const vit_ids list = vit_texts_get(&parts[p]->target, i);
            size_t count = 0;
            if (number % 2 == 1) assert_int_equal(list.ids[count++], 0);
            if (number % 3 == 0) assert_int_equal(list.ids[count++], 1);
            assert_int_equal(list.count, count);
            assert_int_equal(parts[p]->labels[i], count > 0 ? list.ids[0] : 0);
        }
    }
    assert_int_equal(pictures, 12);
    vit_dataset_close(&set);
}

/* Writes 12 rows: `form` has the number, then the text of its classes out of the four. */
static void put_lists(const char *path, const char *title, const char *form,
                      const char *const texts[4]) {
    char text[4000];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", title);
    for (int i = 0; i < 12; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, form, i,
                                   texts[i % 2 + (i % 3 == 0 ? 2 : 0)]);
    put_file(path, text);
}

static void test_several_classes(void **state) {
    (void)state;
    static const char *const semicolons[] = {"", "a b", " c ", "c; a b"},
                             *const spaces[] = {"", "ab", "c", "c ab c"},
                             *const ones[] = {"0,0", "1,0", "0,1.0", "1,1"},
                             *const json[] = {"[]", "[\"a b\"]", "[\"c\"]", "[\"c\", \"a b\"]"};
    vit_dataset one, other;
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) put_pictures(names[i], 12);
    put_lists("a/metadata.csv", "file,labels\n", "%d.png,%s\n", semicolons);
    check_lists("a", "a b");
    put_lists("b/metadata.csv", "image_id,tags\n", "%d,%s\n", spaces);
    check_lists("b", "ab");
    put_lists("c/train.csv", "file,a b,c\n", "%d.png,%s\n", ones);
    check_lists("c", "a b");
    put_lists("d/metadata.jsonl", "", "{\"file_name\": \"%d.png\", \"labels\": %s}\n", json);
    check_lists("d", "a b");
    open_set(&one, "a", &lists);
    open_set(&other, "c", &lists);
    assert_string_equal(one.checksum, other.checksum); /* of the same classes */
    vit_dataset_close(&other);
    put_lists("c/train.csv", "file,a b,c\n", "%d.png,%s\n",
              (const char *const[]){"0,0", "1,0", "0,1", "0,1"});
    open_set(&other, "c", &lists);
    assert_string_not_equal(one.checksum, other.checksum);
    vit_dataset_close(&one);
    vit_dataset_close(&other);
}

static void test_folders_have_one_class(void **state) {
    (void)state;
    vit_dataset set;
    put_pictures("a/cat", 6);
    put_pictures("a/dog", 6);
    open_set(&set, "a", &lists);
    assert_true(vit_records_list_classes(&set.train));
    for (size_t i = 0; i < set.train.count; i++) {
        const vit_ids list = vit_texts_get(&set.train.target, i);
        assert_true(list.count == 1 && list.ids[0] == set.train.labels[i]);
    }
    vit_dataset_close(&set);
}

static void assert_lists_refused(const char *table, const char *reason) {
    vit_dataset set;
    vit_error error;
    put_file("a/train.csv", table);
    assert_int_equal(vit_dataset_open(&set, "a", &lists, &error), VIT_ERROR_FORMAT);
    if (!strstr(error.message, reason)) fail_msg("'%s' lacks '%s'", error.message, reason);
}

static void test_lists_refused(void **state) {
    (void)state;
    put_pictures("a", 4);
    assert_lists_refused("file,x,y\n0.png,1,2\n1.png,0,1\n", "line 2: column y has \"2\"");
    assert_lists_refused("file,labels\n0.png,a\n0.png,a;b\n1.png,b\n",
                         "is of class \"a\" in one line of its table, and of \"a;b\"");
    assert_lists_refused("file,labels\n0.png,\n1.png,\n", "has no class");
}

static void check_two_classes(const vit_dataset *set) {
    assert_true(set->classes == 2);
}

static void test_faults_of_lists(void **state) {
    (void)state;
    put_pictures("a", 4);
    put_file("a/metadata.jsonl", "{\"file_name\": \"0.png\", \"labels\": [\"x\", \"y\"]}\n"
                                 "{\"file_name\": \"1.png\", \"labels\": []}\n"
                                 "{\"file_name\": \"2.png\", \"labels\": \"y;x\"}\n");
    for (long n = 1;; n++) {
        open_with_fault("a", &lists, n, check_two_classes);
        if (!fault_call()) break;
    }
    assert_int_equal(unlink("a/metadata.jsonl"), 0);
    put_file("a/train.csv", "file,x,y\n0,1,1\n1,0,0\n2,0,1\n");
    for (long n = 1;; n++) {
        open_with_fault("a", &lists, n, check_two_classes);
        if (!fault_call()) break;
    }
}

/* A picture that cannot be read is left out. */
static void check_set(const vit_dataset *set) {
    assert_true(set->classes == 2 && set->train.count >= 3);
}

static void test_faults(void **state) {
    (void)state;
    put_pictures("a/train", 4);
    put_rows("a/train.csv", "id,breed", "%d,%s\n", 4);
    for (long n = 1;; n++) {
        open_with_fault("a", &any, n, check_set);
        if (!fault_call()) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_imagefolder),
        IN_DIRECTORY(test_kaggle),
        IN_DIRECTORY(test_absolute_names),
        IN_DIRECTORY(test_numbers_are_in_order),
        IN_DIRECTORY(test_folders_with_a_table),
        IN_DIRECTORY(test_checksum),
        IN_DIRECTORY(test_refused),
        IN_DIRECTORY(test_other_columns),
        IN_DIRECTORY(test_two_tables),
        IN_DIRECTORY(test_two_places),
        IN_DIRECTORY(test_table_and_folders),
        IN_DIRECTORY(test_parts_of_a_table),
        IN_DIRECTORY(test_packed),
        IN_DIRECTORY(test_unread_tables),
        IN_DIRECTORY(test_part_lists),
        IN_DIRECTORY(test_faults),
        IN_DIRECTORY(test_several_classes),
        IN_DIRECTORY(test_folders_have_one_class),
        IN_DIRECTORY(test_lists_refused),
        IN_DIRECTORY(test_faults_of_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
