/* The rule by which a table's columns are chosen, and cells with several classes. */
#include "datasets/tables/columns.h"
#include "datasets/tables/several.h"
#include "vit/base/sys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What is chosen of a table: "label", "3 ones", or the error. The first column names pictures. */
static char said[1200];

static const char *choice_with(const char *text, vit_table_options options) {
    vit_cells c;
    vit_error error = {0};
    vit_columns columns = {0};
    bool is_ours;
    const char *path = *text == '{' ? "t.jsonl" : "t.csv";
    char *copy = vit_strdup(text);
    assert_non_null(copy);
    vit_status status = vit_cells_parse(&c, copy, strlen(copy), path, NULL, NULL, &error);
    if (status == VIT_OK)
        status = vit_columns_choose(&columns, &is_ours, &c, &options, false, &error);
    if (status != VIT_OK)
        snprintf(said, sizeof said, "%s", error.message);
    else if (columns.ones)
        snprintf(said, sizeof said, "%zu ones", columns.ones_count);
    else
        snprintf(said, sizeof said, "%s", c.columns[columns.class]);
    vit_free(columns.ones);
    vit_cells_clear(&c);
    return said;
}

static const char *choice(const char *text) {
    return choice_with(text, (vit_table_options){0});
}

static void assert_says(const char *text, const char *a, const char *b) {
    choice(text);
    if (!strstr(said, a) || !strstr(said, b)) fail_msg("\"%s\" lacks \"%s\", \"%s\"", said, a, b);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(choice("f,x,Label\n1,a,c\n2,b,d\n3,a,c\n"), "Label");
    assert_string_equal(choice("Image Index,Finding Labels,Age\n1,a,1\n2,b,2\n3,a,3\n"),
                        "Finding Labels");
    assert_string_equal(choice("f,ClassId\n1,1\n2,2\n3,1\n"), "ClassId");
    assert_string_equal(choice("f,level\n1,0\n2,1\n3,1\n"), "level");
    assert_string_equal(choice("{\"file\": \"a\", \"label\": 1}\n{\"file\": \"b\", \"label\": 2}"),
                        "label");
    assert_says("f,license,author\n1,a,x\n2,b,y\n3,a,x\n", "columns f, license, author",
                "--class-column");
    assert_says("f,label\n1,a\n2,b\n3,c\n", "column label has another value in each line",
                "--class-column label");
    assert_says("f,target\n1,.5\n2,.25\n3,.5\n", "column target has decimals", "target");
    assert_string_equal(
        choice_with("f,label,who\n1,a,x\n2,b,x\n", (vit_table_options){false, "WHO"}), "who");
    assert_string_equal(
        choice_with("f,label\n1,a\n2,b\n3,c\n", (vit_table_options){false, "label"}), "label");
}

/* Two columns of classes are one if they go together; names beat numbers. */
static void test_two(void **state) {
    (void)state;
    assert_string_equal(choice("f,class_id,label\n1,0,cat\n2,1,dog\n3,0,cat\n"), "label");
    assert_string_equal(choice("f,label,label_text\n1,0,cat\n2,1,dog\n3,0,cat\n"), "label_text");
    assert_string_equal(choice("f,label,class_name\n1,0,cat\n2,1,dog\n3,0,cat\n"), "class_name");
    assert_string_equal(choice("f,category,label\n1,pet,cat\n2,pet,dog\n3,pet,cat\n"), "label");
    assert_says("f,species,breed\n1,cat,a\n2,dog,b\n3,cat,c\n4,cat,a\n", "species and breed",
                "--class-column species");
    assert_says("f,label,label\n1,a,b\n2,a,a\n3,b,a\n", "disagree", "label");
}

static void test_ones(void **state) {
    (void)state;
    assert_string_equal(choice("f,MEL,NV,BKL\n1,1.0,0.0,0.0\n2,0,1,0\n"), "3 ones");
    assert_string_equal(choice("f,a,b\n1,1,-1\n2,-1,1\n"), "2 ones");
    assert_string_equal(choice("f,a,b\n1,True,False\n2,False,True\n"), "2 ones");
    assert_says("f,a,b\n1,TRUE,false\n2,true,true\n", "line 3: has a 1 in 2 columns", "a and b");
    assert_says("f,a,b\n1,1,0\n2,1,1\n", "line 3: has a 1 in 2 columns, a and b", "--multi-label");
    assert_says("f,a,b\n1,0,0\n2,1,0\n", "line 2: has a 1 in none", "--multi-label");
    assert_says("f,a,b\n1,1,-1\n2,-1,0\n", "1, 0 and -1", "lines 3 and 2");
    assert_string_equal(choice_with("f,a,b\n1,-1,1\n2,1,1\n", (vit_table_options){true, NULL}),
                        "2 ones");
}

static void test_splits(void **state) {
    (void)state;
    assert_string_equal(choice("f,label,split\n1,a,train\n2,b,hold-out\n3,a,Dev\n"), "label");
    assert_says("f,label,split\n1,a,train\n2,b,extra\n3,a,train\n", "line 3: \"extra\"", "gallery");
    assert_says("f,label,split\n1,a,train\n2,b,\n3,a,train\n", "line 3: \"\"", "column split");
    assert_says("f,label,set\n1,a,0\n2,b,1\n3,a,1\n", "column set has numbers", "folds");
    assert_says("f,label,fold\n1,a,0\n2,b,1\n3,a,1\n", "column fold has numbers", "pandas");
    assert_int_equal(vit_split_kind("Training", false), VIT_TREE_TRAIN);
    assert_int_equal(vit_split_kind("validation", false), VIT_TREE_VAL);
    assert_int_equal(vit_split_kind("PublicTest", false), VIT_TREE_VAL);
    assert_int_equal(vit_split_kind("PrivateTest", true), VIT_TREE_TEST);
    assert_int_equal(vit_split_kind("query", false), VIT_TREE_TEST);
    assert_int_equal(vit_split_kind("eval", false), VIT_TREE_TEST);
    assert_int_equal(vit_split_kind("eval", true), VIT_TREE_VAL);
    assert_int_equal(vit_split_kind("unlabeled", false), VIT_TREE_KINDS);
}

/* A cell with several classes is refused where one is expected. */
static void test_several_refused(void **state) {
    (void)state;
    assert_says("f,label\n1,cat|pet\n2,dog\n3,dog\n", "line 2: \"cat|pet\"", "--multi-label");
    assert_says("f,label\n1,cat\n2,cat;dog\n3,cat\n", "line 3: \"cat;dog\"", "--multi-label");
    assert_says("f,label\n1,\"['cat', 'dog']\"\n2,\"['cat']\"\n3,\"['cat']\"\n", "line 2",
                "--multi-label");
    assert_says("f,label\n1,\"cat, pet\"\n2,\"dog, pet\"\n3,\"dog, pet\"\n", "several classes",
                "--multi-label");
    assert_says("f,label\n1,cat\n2,\"dog, cat\"\n3,cat\n", "line 3: \"dog, cat\"", "--multi-label");
    assert_string_equal(choice("f,label\n1,\"Pepper, bell\"\n2,Tomato\n3,Tomato\n"), "label");
}

/* names = those of a cell, each with a bar behind it, or the error. */
static const char *names_of(const char *column, const char *cell) {
    vit_cells c;
    vit_error error = {0};
    char separator, *names = NULL, *copy = vit_strdup(column);
    size_t count = 0, length = 0;
    assert_non_null(copy);
    assert_int_equal(vit_cells_parse(&c, copy, strlen(copy), "t.csv", NULL, NULL, &error), VIT_OK);
    vit_status status = vit_several_find(&separator, &c, 1, &error);
    if (status == VIT_OK) status = vit_several_split(&names, &count, cell, separator, &error);
    snprintf(said, sizeof said, "%s", status == VIT_OK ? "" : error.message);
    const char *at = names;
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
        length += (size_t)snprintf(said + length, sizeof said - length, "%s|", at);
    vit_free(names);
    vit_cells_clear(&c);
    return said;
}

static void test_several(void **state) {
    (void)state;
    assert_string_equal(names_of("f,l\n1,a;b\n", " red bus ; cat;"), "red bus|cat|");
    assert_string_equal(names_of("f,l\n1,a|b\n", "red bus|cat, dog"), "red bus|cat, dog|");
    assert_string_equal(names_of("f,l\n1,\"a, b\"\n", "red bus, cat"), "red bus|cat|");
    assert_string_equal(names_of("f,l\n1,a b\n", "cat \t dog"), "cat|dog|");
    assert_string_equal(names_of("f,l\n1,\"['a']\"\n", "['a b', \"it's\"]"), "a b|it's|");
    assert_string_equal(names_of("f,l\n1,[a]\n", "[\"a, b\", \"c\", 7]"), "a, b|c|7|");
    assert_string_equal(names_of("f,l\n1,[a]\n", "{'a','b'}"), "a|b|");
    assert_string_equal(names_of("f,l\n1,[a]\n", "[red bus, cat]"), "red bus|cat|");
    assert_string_equal(names_of("f,l\n1,[a]\n", "[0 1]"), "0|1|");
    assert_string_equal(names_of("f,l\n1,[a]\n", "[]"), "");
    assert_non_null(strstr(names_of("f,l\n1,[a]\n", "['a]"), "a quote does not end"));
    assert_non_null(strstr(names_of("f,l\n1,a;b\n2,a|b\n", "a"), "in two ways: line 2"));
    assert_non_null(strstr(names_of("f,l\n1,[a]\n2,b\n", "a"), "in two ways: line 2"));
}

/* What spreadsheets and Windows do to a table. */
static void test_texts(void **state) {
    (void)state;
    assert_string_equal(choice("\xef\xbb\xbf"
                               "f\tlabel\r\n1\ta\r\n2\tb\r\n\r\n\t\r\n"),
                        "label");
    assert_string_equal(choice("f,label,\n1,a,\n2,b,,\n,,\n"), "label");
    vit_cells c;
    vit_error error = {0};
    static const char wide[] = "\xff\xfe"
                               "f\0,\0l\0\n\0";
    char *copy = vit_alloc(sizeof wide, 1);
    assert_non_null(copy);
    memcpy(copy, wide, sizeof wide);
    assert_int_equal(vit_cells_parse(&c, copy, sizeof wide - 1, "t.csv", NULL, NULL, &error),
                     VIT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "t.csv: is UTF-16"));
    vit_cells_clear(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_ones),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_several_refused),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
