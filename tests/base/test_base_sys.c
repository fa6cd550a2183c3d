#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/fault.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"

/* ---- memory ---- */

static void test_memory(void **state) {
    for (size_t n = 0; n < 200; n++) {
        unsigned char *p = vit_alloc(n, 3);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < 3 * n; i++) assert_int_equal(p[i], 0);
        memset(p, 0xff, 3 * n); /* so that the next one is not zero by accident */
        vit_free(p);
    }
    vit_free(NULL);
    assert_null(vit_alloc(SIZE_MAX / 2, 3));
    assert_null(vit_alloc(SIZE_MAX, 1));
    assert_null(vit_alloc(SIZE_MAX / 4 + 1, 4));
    fault_arm(1);
    assert_null(vit_alloc(1, 1));
    fault_disarm();
}

static void test_memory_grows(void **state) {
    int *p = vit_realloc(NULL, 0, 3, sizeof *p);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(p[i], 0);
        p[i] = i + 1;
    }
    fault_arm(1);
    assert_null(vit_realloc(p, 3, 5, sizeof *p));
    fault_disarm();
    assert_null(vit_realloc(p, 3, SIZE_MAX / 2, sizeof *p));
    p = vit_realloc(p, 3, 500, sizeof *p);
    for (int i = 0; i < 500; i++) assert_int_equal(p[i], i < 3 ? i + 1 : 0);
    p = vit_realloc(p, 500, 2, sizeof *p);
    assert_int_equal(p[1], 2);
    vit_free(p);
}

static void test_multiply_and_strdup(void **state) {
    size_t product = 0;
    assert_true(vit_multiply(SIZE_MAX, 1, &product) && product == SIZE_MAX);
    assert_true(vit_multiply(SIZE_MAX, 0, &product) && product == 0);
    assert_true(vit_multiply(0, SIZE_MAX, &product) && product == 0);
    assert_true(vit_multiply(SIZE_MAX / 3, 3, &product) && product == SIZE_MAX / 3 * 3);
    assert_false(vit_multiply(SIZE_MAX / 3 + 1, 3, &product));
    assert_false(vit_multiply(SIZE_MAX, SIZE_MAX, &product));
    char *copy = vit_strdup("text");
    assert_string_equal(copy, "text");
    vit_free(copy);
    fault_arm(1);
    assert_null(vit_strdup("text"));
    fault_disarm();
}

/* ---- reading ---- */

static void test_read_file(void **state) {
    vit_bytes bytes;
    vit_error error;
    put_file("file", "0123456789");
    put_file("empty", "");
    assert_int_equal(vit_read_file(&bytes, "file", 10, &error), VIT_OK);
    assert_int_equal(bytes.size, 10);
    assert_memory_equal(bytes.data, "0123456789", 10);
    vit_free(bytes.data);
    assert_int_equal(vit_read_file(&bytes, "file", 9, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "file has 10 bytes", "at most 9");
    assert_null(bytes.data);
    assert_int_equal(bytes.size, 0);
    assert_int_equal(vit_read_file(&bytes, "empty", 0, &error), VIT_OK);
    assert_int_equal(bytes.size, 0);
    assert_non_null(bytes.data);
    vit_free(bytes.data);
    assert_int_equal(vit_read_file(&bytes, "file", SIZE_MAX, NULL), VIT_OK);
    assert_int_equal(bytes.size, 10);
    vit_free(bytes.data);
}

static void test_read_refuses(void **state) {
    vit_bytes bytes;
    vit_error error;
    static const struct {
        const char *path, *says;
    } cases[] = {
        {"absent", "No such file"},    {".", "directory"},           {"/dev/null", "device"},
        {"/dev/zero", "device"},       {"absent/x", "No such file"}, {"", "No such file"},
        {"file/x", "Not a directory"},
    };
    put_file("file", "x");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(vit_read_file(&bytes, cases[i].path, 100, &error), VIT_ERROR_IO);
        assert_says(&error, VIT_ERROR_IO, cases[i].path, cases[i].says);
        assert_null(bytes.data);
        assert_int_equal(vit_map_file(&bytes, cases[i].path, &error), VIT_ERROR_IO);
        assert_says(&error, VIT_ERROR_IO, cases[i].path, cases[i].says);
        assert_null(bytes.data);
    }
}

/* Files of /proc have the size 0 and yet a content: like one that grows while it is read. */
static void test_read_a_file_that_lies_about_its_size(void **state) {
    struct stat info;
    if (stat("/proc/self/maps", &info) != 0 || info.st_size != 0) {
        print_message("this system has no /proc/self/maps\n");
        skip();
    }
    vit_bytes bytes;
    vit_error error;
    assert_int_equal(vit_read_file(&bytes, "/proc/self/maps", 1 << 24, &error), VIT_OK);
    assert_true(bytes.size > 100);
    assert_int_equal(bytes.data[bytes.size - 1], '\n');
    vit_free(bytes.data);
    assert_int_equal(vit_read_file(&bytes, "/proc/self/maps", 100, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "/proc/self/maps", "limit of 100 bytes");
}

/* A child writes `size` bytes into the pipe and ends. */
static pid_t start_writer(const int pipe_fds[2], size_t size) {
    pid_t child = fork();
    if (child == 0) {
        close(pipe_fds[0]);
        for (size_t i = 0; i < size; i++) {
            uint8_t byte = (uint8_t)(i % 251);
            if (write(pipe_fds[1], &byte, 1) != 1) break;
        }
        _exit(0);
    }
    close(pipe_fds[1]);
    return child;
}

/* Reads a pipe of `size` bytes: as standard input or by the name of a descriptor. */
static vit_status read_pipe(vit_bytes *bytes, size_t size, size_t limit, bool standard,
                            vit_error *error) {
    int fds[2];
    char name[32];
    assert_int_equal(pipe(fds), 0);
    pid_t child = start_writer(fds, size);
    int saved = dup(STDIN_FILENO);
    snprintf(name, sizeof name, "/dev/fd/%d", fds[0]);
    if (standard) dup2(fds[0], STDIN_FILENO);
    vit_status status = vit_read_file(bytes, standard ? "-" : name, limit, error);
    if (standard) dup2(saved, STDIN_FILENO);
    close(saved);
    close(fds[0]);
    waitpid(child, NULL, 0);
    return status;
}

static void test_read_pipes(void **state) {
    vit_bytes bytes;
    vit_error error;
    static const size_t sizes[] = {0, 1, 4096, 65535, 65536, 65537, 200000};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        size_t size = sizes[i / 2];
        assert_int_equal(read_pipe(&bytes, size, size, i % 2 == 0, &error), VIT_OK);
        assert_int_equal(bytes.size, size);
        for (size_t j = 0; j < size; j++) assert_int_equal(bytes.data[j], j % 251);
        vit_free(bytes.data);
    }
    assert_int_equal(read_pipe(&bytes, 70000, 69999, true, &error), VIT_ERROR_UNSUPPORTED);
    assert_says(&error, VIT_ERROR_UNSUPPORTED, "standard input", "69999");
    assert_int_equal(read_pipe(&bytes, 5, 0, false, &error), VIT_ERROR_UNSUPPORTED);
    assert_null(bytes.data);
}

static void test_map_file(void **state) {
    vit_bytes bytes;
    vit_error error;
    put_file("file", "0123456789");
    put_file("empty", "");
    assert_int_equal(vit_map_file(&bytes, "file", &error), VIT_OK);
    assert_int_equal(bytes.size, 10);
    assert_memory_equal(bytes.data, "0123456789", 10);
    vit_unmap_file(&bytes);
    assert_null(bytes.data);
    assert_int_equal(vit_map_file(&bytes, "empty", &error), VIT_OK);
    assert_null(bytes.data);
    assert_int_equal(bytes.size, 0);
    vit_unmap_file(&bytes);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(vit_map_file(&bytes, "pipe", &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "pipe", "expected a regular file");
}

/* ---- names ---- */

static void test_paths(void **state) {
    put_file("file", "x");
    assert_int_equal(symlink("file", "link"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(vit_path_look("file"), VIT_PATH_FILE);
    assert_int_equal(vit_path_look("link"), VIT_PATH_FILE);
    assert_int_equal(vit_path_look("."), VIT_PATH_DIRECTORY);
    assert_int_equal(vit_path_look("dangling"), VIT_PATH_NONE);
    assert_int_equal(vit_path_look("absent"), VIT_PATH_NONE);
    assert_int_equal(vit_path_look("/dev/null"), VIT_PATH_NONE);
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}, {"a", "", "a/"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path = vit_path_join(cases[i][0], cases[i][1]);
        assert_string_equal(path, cases[i][2]);
        vit_free(path);
    }
    fault_arm(1);
    assert_null(vit_path_join("a", "b"));
    fault_disarm();
}

static void test_list_directory(void **state) {
    char **names;
    size_t count;
    vit_error error;
    assert_int_equal(vit_list_directory(&names, &count, ".", &error), VIT_OK);
    assert_int_equal(count, 0);
    vit_free(names);
    put_file("b", "");
    put_file("B", "");
    put_file(".hidden", "");
    put_file("\xc3\xa9", "");
    put_file("a10", "");
    put_file("a9", "");
    static const char *const expected[] = {".hidden", "B", "a10", "a9", "b", "\xc3\xa9"};
    assert_int_equal(vit_list_directory(&names, &count, ".", &error), VIT_OK);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < 6; i++) assert_string_equal(names[i], expected[i]);
    vit_free(names);
    assert_int_equal(vit_list_directory(&names, &count, "absent", &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "absent", "No such file");
    assert_null(names);
    assert_int_equal(vit_list_directory(&names, &count, "b", &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "directory b", "Not a directory");
}

static void test_list_large_directory(void **state) {
    char name[200];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%0150d", i * 7919 % 300);
        put_file(name, "");
    }
    char **names;
    size_t count;
    assert_int_equal(vit_list_directory(&names, &count, ".", NULL), VIT_OK);
    assert_int_equal(count, 300);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%0150d", i);
        assert_string_equal(names[i], name);
    }
    vit_free(names);
}

static void test_make_and_remove(void **state) {
    vit_error error;
    assert_int_equal(vit_make_directory("new", &error), VIT_OK);
    assert_int_equal(vit_make_directory("new", &error), VIT_OK);
    assert_int_equal(vit_path_look("new"), VIT_PATH_DIRECTORY);
    put_file("file", "x");
    assert_int_equal(vit_make_directory("file", &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "file", "there is a file of that name");
    assert_int_equal(symlink("nowhere/at-all", "link"), 0);
    assert_int_equal(vit_make_directory("link", &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "link", "a link that leads nowhere");
    assert_int_equal(vit_remove_file("link", &error), VIT_OK);
    assert_int_equal(vit_make_directory("a/b", &error), VIT_ERROR_IO);
    assert_int_equal(vit_remove_file("file", &error), VIT_OK);
    assert_int_equal(vit_remove_file("file", &error), VIT_OK);
    assert_int_equal(vit_remove_file("new", &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "cannot remove new", "irectory");
}

static void test_clock(void **state) {
    double before = vit_clock(), last = before;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    for (int i = 0; i < 1000; i++) {
        double now = vit_clock();
        assert_true(now >= last);
        last = now;
    }
    assert_true(last - before >= 0.0199 && last - before < 20);
}

/* ---- every single failure ---- */

static vit_status read_it(vit_error *error) {
    vit_bytes bytes;
    vit_status status = vit_read_file(&bytes, "file", 100, error);
    assert_int_equal(bytes.data != NULL, status == VIT_OK);
    vit_free(bytes.data);
    return status;
}

static vit_status map_it(vit_error *error) {
    vit_bytes bytes;
    vit_status status = vit_map_file(&bytes, "file", error);
    assert_int_equal(bytes.data != NULL, status == VIT_OK);
    vit_unmap_file(&bytes);
    return status;
}

static vit_status list_it(vit_error *error) {
    char **names;
    size_t count;
    vit_status status = vit_list_directory(&names, &count, ".", error);
    assert_int_equal(names != NULL, status == VIT_OK);
    assert_int_equal(count, status == VIT_OK ? 1 : 0);
    vit_free(names);
    return status;
}

static void test_readers_under_every_failure(void **state) {
    vit_status (*const readers[])(vit_error *) = {read_it, map_it, list_it};
    put_file("file", "some text");
    for (size_t i = 0; i < 3; i++) {
        for (long n = 1;; n++) {
            vit_error error = {0};
            fault_arm(n);
            vit_status status = readers[i](&error);
            fault_disarm();
            if (fault_call() == NULL) {
                assert_true(n > 3);
                break;
            }
            if (strcmp(fault_call(), "close") == 0) {
                continue; /* of a file only read from: nothing is lost */
            }
            assert_int_not_equal(status, VIT_OK);
            assert_int_equal(error.status, status);
            assert_true(strlen(error.message) > 10);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_grows),
        cmocka_unit_test(test_multiply_and_strdup),
        IN_DIRECTORY(test_read_file),
        IN_DIRECTORY(test_read_refuses),
        cmocka_unit_test(test_read_a_file_that_lies_about_its_size),
        cmocka_unit_test(test_read_pipes),
        IN_DIRECTORY(test_map_file),
        IN_DIRECTORY(test_paths),
        IN_DIRECTORY(test_list_directory),
        IN_DIRECTORY(test_list_large_directory),
        IN_DIRECTORY(test_make_and_remove),
        cmocka_unit_test(test_clock),
        IN_DIRECTORY(test_readers_under_every_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
