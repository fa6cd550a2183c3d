/* Files that appear whole or not at all. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fault.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"

static mode_t mode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static vit_status write_file(const char *path, const char *a, const char *b, vit_error *error) {
    vit_writer *w;
    vit_status status = vit_writer_open(&w, path, error);
    if (status != VIT_OK) {
        assert_null(w);
        return status;
    }
    status = vit_writer_put(w, a, strlen(a), error);
    if (status == VIT_OK) status = vit_writer_put(w, b, strlen(b), error);
    if (status != VIT_OK) {
        vit_writer_abort(w);
        return status;
    }
    return vit_writer_commit(w, error);
}

static void test_writer_writes(void **state) {
    vit_error error;
    mode_t old = umask(027);
    assert_int_equal(write_file("new", "abc", "def", &error), VIT_OK);
    umask(old);
    assert_content("new", "abcdef");
    assert_int_equal(mode_of("new"), 0640);
    assert_int_equal(chmod("new", 0604), 0);
    assert_int_equal(write_file("new", "", "x", &error), VIT_OK);
    assert_content("new", "x");
    assert_int_equal(mode_of("new"), 0604);
    assert_int_equal(write_file("./new", "", "", &error), VIT_OK);
    assert_content("new", "");
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_int_equal(write_file(name, "long", "", &error), VIT_OK);
    assert_content(name, "long");
    assert_int_equal(count_entries(), 2);
}

static void test_writer_is_invisible_until_committed(void **state) {
    put_file("file", "old");
    vit_writer *w;
    assert_int_equal(vit_writer_open(&w, "file", NULL), VIT_OK);
    assert_int_equal(vit_writer_put(w, "new", 3, NULL), VIT_OK);
    assert_content("file", "old");
    vit_writer_abort(w);
    vit_writer_abort(NULL);
    assert_content("file", "old");
    assert_int_equal(count_entries(), 1);
}

/* Two at once, as two runs of a program would: each has its own temporary file. */
static void test_writers_do_not_meet(void **state) {
    vit_writer *a, *b;
    assert_int_equal(vit_writer_open(&a, "file", NULL), VIT_OK);
    assert_int_equal(vit_writer_open(&b, "file", NULL), VIT_OK);
    assert_int_equal(vit_writer_put(a, "from a", 6, NULL), VIT_OK);
    assert_int_equal(vit_writer_put(b, "from b", 6, NULL), VIT_OK);
    assert_int_equal(vit_writer_commit(b, NULL), VIT_OK);
    assert_content("file", "from b");
    assert_int_equal(vit_writer_commit(a, NULL), VIT_OK);
    assert_content("file", "from a");
    assert_int_equal(count_entries(), 1);
}

static void test_writer_follows_links(void **state) {
    assert_int_equal(mkdir("real", 0777), 0);
    put_file("real/file", "old");
    assert_int_equal(symlink("real/file", "link"), 0);
    assert_int_equal(write_file("link", "new", "", NULL), VIT_OK);
    struct stat info;
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_content("real/file", "new");
    assert_int_equal(count_entries(), 2);
}

static void test_writer_refuses(void **state) {
    static const struct {
        const char *path, *says;
    } cases[] = {
        {".", "is a directory"},   {"/dev/null", "device"},       {"/dev/full", "device"},
        {"pipe", "pipe"},          {"a/b", "mkdir -p a"},         {"dangling", "symbolic link"},
        {"", "expected the name"}, {"new/", "expected the name"}, {"file/x", "Not a directory"},
    };
    vit_error error;
    put_file("file", "x");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(write_file(cases[i].path, "x", "", &error), VIT_ERROR_IO);
        assert_says(&error, VIT_ERROR_IO, cases[i].path, cases[i].says);
        assert_non_null(strstr(error.message, "cannot write"));
    }
    assert_int_equal(count_entries(), 3);
    assert_content("file", "x");
}

/* What a user without rights may not write; root, who may, becomes nobody in a child. */
static void test_writer_needs_permission(void **state) {
    put_file("protected", "old");
    assert_int_equal(mkdir("closed", 0755), 0);
    assert_int_equal(chmod("protected", 0444), 0);
    assert_int_equal(chmod("closed", 0555), 0);
    assert_int_equal(chmod(".", 0777), 0);
    pid_t child = fork();
    if (child == 0) {
        vit_error e;
        bool ok = geteuid() != 0 || setuid(65534) == 0;
        ok = ok && write_file("protected", "new", "", &e) == VIT_ERROR_IO &&
             strstr(e.message, "cannot write protected: Permission denied") != NULL;
        ok = ok && write_file("closed/file", "new", "", &e) == VIT_ERROR_IO &&
             strstr(e.message, "cannot make a file beside it: Permission denied") != NULL;
        _exit(ok ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_content("protected", "old");
}

/* The system itself refuses to write on, after a short write: a limit on the size of files. */
static void test_writer_meets_a_full_disk(void **state) {
    put_file("file", "old");
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 1000, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    char text[1500];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    vit_error error;
    vit_status status = write_file("file", text, "", &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "cannot write file", "too large");
    assert_content("file", "old");
    assert_int_equal(count_entries(), 1);
}

static void test_short_and_interrupted_transfers(void **state) {
    fault_trickle(true);
    vit_bytes bytes;
    assert_int_equal(write_file("file", "0123456789", "abcdefgh", NULL), VIT_OK);
    assert_int_equal(vit_read_file(&bytes, "file", 18, NULL), VIT_OK);
    fault_trickle(false);
    assert_content("file", "0123456789abcdefgh");
    assert_int_equal(bytes.size, 18);
    assert_memory_equal(bytes.data, "0123456789abcdefgh", 18);
    vit_free(bytes.data);
}

/* Writing on after a failure cannot be committed, even when the disk has room again. */
static void test_a_failed_writer_stays_failed(void **state) {
    put_file("file", "old");
    vit_writer *w;
    vit_error error;
    assert_int_equal(vit_writer_open(&w, "file", NULL), VIT_OK);
    fault_arm(1);
    assert_int_equal(vit_writer_put(w, "lost", 4, &error), VIT_ERROR_IO);
    fault_disarm();
    assert_says(&error, VIT_ERROR_IO, "cannot write file", "No space left");
    assert_int_equal(vit_writer_put(w, "kept", 4, NULL), VIT_OK);
    assert_int_equal(vit_writer_commit(w, &error), VIT_ERROR_IO);
    assert_says(&error, VIT_ERROR_IO, "cannot write file", "earlier");
    assert_content("file", "old");
    assert_int_equal(count_entries(), 1);
}

/* The old file or, when only the sync of the directory or the closing of it failed, the new one;
 * never anything between, and nothing beside it. */
static void check_failed_write(vit_status status, const vit_error *error, int syncs) {
    const char *call = fault_call();
    bool late = (strcmp(call, "fsync") == 0 && syncs == 2) || status == VIT_OK;
    assert_content("file", late ? "new text" : "old");
    assert_int_equal(count_entries(), 1);
    if (status == VIT_OK) {
        assert_string_equal(call, "close");
    } else {
        assert_int_equal(error->status, status);
        assert_true(strlen(error->message) > 10);
        assert_int_equal(status == VIT_ERROR_MEMORY, strcmp(call, "posix_memalign") == 0);
    }
}

static void test_writer_under_every_failure(void **state) {
    long n = 1;
    int syncs = 0, closes = 0, unnoticed = 0;
    for (;; n++) {
        vit_error error = {0};
        put_file("file", "old");
        fault_arm(n);
        vit_status status = write_file("file", "new ", "text", &error);
        fault_disarm();
        if (fault_call() == NULL) {
            assert_int_equal(status, VIT_OK);
            break;
        }
        syncs += strcmp(fault_call(), "fsync") == 0;
        closes += strcmp(fault_call(), "close") == 0;
        unnoticed += status == VIT_OK;
        check_failed_write(status, &error, syncs);
    }
    assert_content("file", "new text");
    assert_int_equal(syncs, 2);
    assert_int_equal(closes, 2);
    assert_int_equal(unnoticed, 1); /* the directory's close, which has nothing to lose */
    assert_int_equal(n - 1, fault_count());
    /* 5 allocations, 2 opens, 2 writes, 2 fsyncs, 2 closes, 1 rename. */
    assert_int_equal(fault_count(), 14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_writer_writes),
        IN_DIRECTORY(test_writer_is_invisible_until_committed),
        IN_DIRECTORY(test_writers_do_not_meet),
        IN_DIRECTORY(test_writer_follows_links),
        IN_DIRECTORY(test_writer_refuses),
        IN_DIRECTORY(test_writer_needs_permission),
        IN_DIRECTORY(test_writer_meets_a_full_disk),
        IN_DIRECTORY(test_short_and_interrupted_transfers),
        IN_DIRECTORY(test_a_failed_writer_stays_failed),
        IN_DIRECTORY(test_writer_under_every_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
