/* What classes of a table are called. */
#include "tests/support/folders.h"
#include "tests/support/scratch.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const vit_dataset_options any = {.want = VIT_PART_TRAIN | VIT_PART_TEST};

/* directory/0.png, ...: number i has the colour (10 i, i, 7). */
static void put_pictures(const char *directory, int count) {
    char path[128];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%d.png", directory, i);
        put_png(path, 16, 16, (uint8_t)(10 * i), (uint8_t)i, 7);
    }
}

static void check_names(const char *list, const char *text, const char *first, const char *note) {
    vit_dataset set;
    char path[64];
    snprintf(path, sizeof path, "names/%s", list);
    put_file(path, text);
    open_set(&set, "names", &any);
    assert_string_equal(set.labels[0], first);
    if (!has_note(&set, note)) fail_msg("no note \"%s\" with %s", note, list);
    vit_dataset_close(&set);
    remove(path);
}

/* classes.txt names the numbers of a table, if it has a name for each. */
static void test_names_of_numbers(void **state) {
    (void)state;
    put_pictures("names", 6);
    put_file("names/train.csv", "image,label\n0,1\n1,0\n2,2\n3,1\n4,0\n5,2\n");
    check_names("classes.txt", "cat\ndog\neel\n", "cat", "column label of train.csv, named by c");
    check_names("labels.txt", "2 eel\n1 dog\n0 cat\n", "cat", ", named by labels.txt");
    check_names(
        "classes.txt", "cat\ndog\n", "0",
        "classes.txt names 2 classes, and the table has 3 numbers, 0 to 2: the numbers are");
    check_names("classes.txt", "cat\ndog\ncat\n", "0", "has the name cat twice");
    check_names("labels.txt", "caf\xe9\ndog\neel\n", "0", "line 1 is Latin-1");
    put_file("names/train.csv", "image,label\n0,1\n1,2\n2,3\n3,1\n4,2\n5,3\n");
    check_names("classes.txt", "cat\ndog\neel\n", "cat", ", named by classes.txt");
    put_file("names/train.csv", "image,label\n0,1\n1,2\n2,4\n3,1\n4,2\n5,4\n");
    check_names("classes.txt", "cat\ndog\neel\n", "1", "3 numbers, 1 to 4");
}

/* A class that is called as where there is none is one, and said. */
static void test_class_none(void **state) {
    (void)state;
    vit_dataset set;
    put_pictures("none", 6);
    put_file("none/train.csv", "image,label\n0,cat\n1,None\n2,dog\n3,cat\n4,None\n5,dog\n");
    open_set(&set, "none", &any);
    assert_true(set.classes == 3);
    assert_true(has_note(&set, "\"None\" is learnt as a class, as any other; if it says that there "
                               "is none, leave its lines out"));
    vit_dataset_close(&set);
    put_file("none/train.csv", "image,smiles\n0,-1\n1,1\n2,1\n3,-1\n4,1\n5,-1\n");
    vit_dataset_options column = any;
    column.class_column = "smiles";
    open_set(&set, "none", &column);
    assert_false(has_note(&set, "is learnt as a class"));
    vit_dataset_close(&set);
    put_file("none/train.csv", "image,a,b\n0,True,False\n1,False,True\n2,False,True\n"
                               "3,True,False\n4,True,False\n5,False,True\n");
    open_set(&set, "none", &any);
    assert_true(set.classes == 2 && set.train.labels[0] == 0);
    vit_dataset_close(&set);
    put_file("none/train.csv", "image,Finding Labels\n0,a|b\n1,No Finding\n2,b\n3,a\n4,b\n5,a|b\n");
    vit_dataset_options several = any;
    several.multi_label = true;
    open_set(&set, "none", &several);
    assert_true(has_note(&set, "\"No Finding\" is learnt"));
    assert_true(has_note(&set, "the cell of a picture of no class is empty"));
    vit_dataset_close(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_names_of_numbers),
        IN_DIRECTORY(test_class_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
