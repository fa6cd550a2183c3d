#ifdef __linux__
#define _GNU_SOURCE /* syscall, O_PATH */
#endif
#include "vit/cli/parts/sandbox.h"

#include <stdlib.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/hub.h"
#include "vit/cli/models/models.h"

const char *const vit_sandbox_words[] = {"on", "off", NULL};

/* missing: "a sandbox", or the part of it that is lacking. */
static vit_status give_up(const vit_sandbox *box, const char *missing, const vit_command *says,
                          vit_error *error) {
    if (box->must)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "--sandbox on: there is none here: %s; off does without", box->lack);
    if (says) vit_say(says, "runs without %s: %s", missing, box->lack);
    return VIT_OK;
}

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Landlock, which libc does not know, and older headers neither ---- */

enum { CREATE_RULES = 444, ADD_RULE = 445, RESTRICT_SELF = 446 }; /* the same everywhere */
enum { ASK_VERSION = 1, PATH_BENEATH = 1 };

enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIRECTORY = 1 << 3,
    REMOVE_DIRECTORY = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_DIRECTORY = 1 << 7,
    MAKE_FILE = 1 << 8,
    REFER = 1 << 13,    /* rename to another directory; version 2 */
    TRUNCATE = 1 << 14, /* version 3 */
    OF_VERSION_1 = (1 << 13) - 1
};
enum { SIGNALS_AND_SOCKETS = 3 }; /* of other processes; version 6 */

typedef struct rule_set {
    uint64_t files, network, scopes;
} rule_set;

typedef struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t directory;
} path_rule;

void vit_sandbox_open(vit_sandbox *box, const vit_optional *choice) {
    *box = (vit_sandbox){.rules = -1,
                         .must = choice->given && choice->value == VIT_SANDBOX_ON,
                         .off = choice->given && choice->value == VIT_SANDBOX_OFF};
    if (box->off) return;
    const long version = syscall(CREATE_RULES, NULL, 0, ASK_VERSION);
    const rule_set rules = {.files = OF_VERSION_1 | (version >= 2 ? REFER : 0) |
                                     (version >= 3 ? TRUNCATE : 0),
                            .scopes = version >= 6 ? SIGNALS_AND_SOCKETS : 0};
    const size_t size = version >= 6   ? sizeof rules
                        : version >= 4 ? offsetof(rule_set, scopes)
                                       : offsetof(rule_set, network);
    if (version > 0) box->rules = (int)syscall(CREATE_RULES, &rules, size, 0);
    if (box->rules < 0) box->lack = "this system has no Landlock (Linux 5.13)";
}

/* path: of a file or directory that is there, or nothing happens. */
static void allow(vit_sandbox *box, const char *path, uint64_t rights) {
    const uint64_t of_files = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
    struct stat info;
    if (box->rules < 0 || !path) return;
    path_rule rule = {.directory = open(path, O_PATH | O_CLOEXEC)};
    if (rule.directory < 0) return;
    const bool directory = fstat(rule.directory, &info) == 0 && S_ISDIR(info.st_mode);
    rule.allowed = directory ? rights : rights & of_files;
    long took = syscall(ADD_RULE, box->rules, PATH_BENEATH, &rule, 0);
    if (took != 0 && errno == EINVAL) { /* an older version does not know TRUNCATE */
        rule.allowed &= OF_VERSION_1;
        took = syscall(ADD_RULE, box->rules, PATH_BENEATH, &rule, 0);
    }
    box->untaken |= took != 0 && (errno == ENOSYS || errno == EPERM);
    close(rule.directory);
}

/* What links in a directory lead to. */
static void read_links(vit_sandbox *box, const char *directory) {
    char **names;
    size_t count;
    if (vit_list_directory(&names, &count, directory, NULL) != VIT_OK) return;
    for (size_t i = 0; i < count; i++) {
        char *path = vit_path_join(directory, names[i]);
        if (path && vit_path_is_link(path)) allow(box, path, READ_FILE | READ_DIRECTORY);
        vit_free(path);
    }
    vit_free(names);
}

static void read_directory(vit_sandbox *box, const char *directory) {
    allow(box, directory, READ_FILE | READ_DIRECTORY);
    read_links(box, directory);
}

void vit_sandbox_read(vit_sandbox *box, const char *path, bool beside) {
    if (box->rules < 0 || !path) return;
    const vit_path_kind kind = vit_path_look(path);
    if (kind == VIT_PATH_DIRECTORY)
        read_directory(box, path);
    else
        allow(box, path, READ_FILE);
    if (kind == VIT_PATH_DIRECTORY || !beside) return;
    char *real = vit_path_real(path);
    char *places[] = {vit_path_directory(path), real ? vit_path_directory(real) : NULL};
    for (size_t i = 0; i < VIT_COUNT(places); i++) {
        if (places[i] && strcmp(places[i], "/") != 0) read_directory(box, places[i]);
        vit_free(places[i]);
    }
    vit_free(real);
}

void vit_sandbox_write(vit_sandbox *box, const char *path) {
    if (box->rules < 0 || !path) return;
    char *directory =
        vit_path_look(path) == VIT_PATH_DIRECTORY ? vit_strdup(path) : vit_path_directory(path);
    allow(box, directory,
          READ_FILE | READ_DIRECTORY | WRITE_FILE | TRUNCATE | MAKE_FILE | MAKE_DIRECTORY |
              REMOVE_FILE | REMOVE_DIRECTORY);
    vit_free(directory);
}

void vit_sandbox_clear(vit_sandbox *box, const char *directory) {
    allow(box, directory, REMOVE_DIRECTORY);
}

/* Codecs load their plugins late, and processors are counted anew. */
static void read_system(vit_sandbox *box) {
    static const char *const paths[] = {
        "/lib",           "/lib64",           "/usr/lib",       "/usr/lib64",
        "/usr/local/lib", "/etc/ld.so.cache", "/sys/fs/cgroup", "/sys/devices/system",
        "/dev/urandom"};
    for (size_t i = 0; i < VIT_COUNT(paths); i++) allow(box, paths[i], READ_FILE | READ_DIRECTORY);
}

/* ---- seccomp ---- */

/* What Linux's headers filter, seccomp and audit have, where musl's compiler does not find them. */
typedef struct filter_step {
    uint16_t code;
    uint8_t if_true, if_false; /* steps to skip */
    uint32_t value;
} filter_step;

typedef struct filter_program {
    unsigned short length;
    filter_step *steps;
} filter_program;

enum { NUMBER = 0, ARCHITECTURE = 4, FIRST_ARGUMENT = 16 }; /* offsets in what a filter sees */
enum { LOAD_WORD = 0x20, IF_EQUAL = 0x15, IF_FROM = 0x35, IF_BITS = 0x45, RETURN = 0x06 };
enum { SET_FILTER = 1, FOR_ALL_THREADS = 1, CLONE_A_THREAD = 0x10000 };
#define KILL 0x80000000u
#define FAIL(number) (0x00050000u | (number))
#define LET_PASS 0x7fff0000u

#ifdef __x86_64__
#define MACHINE 0xc000003eu
#else
#define MACHINE 0xc00000b7u
#endif

/* What no program does that has its files and sockets: it is refused, as EPERM. */
static const uint32_t refused[] = {
#ifdef __x86_64__
    SYS_fork,
    SYS_vfork,
    SYS_ioperm,
    SYS_iopl,
    SYS_uselib,
    SYS_kexec_file_load,
#endif
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_socket,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_open_by_handle_at,
    SYS_personality,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_acct,
    SYS_quotactl,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_mknodat,
    SYS_memfd_create,
};

/* Threads are started by clone with CLONE_THREAD; clone3, whose flags a filter cannot see, is as
 * if the system did not know it, and libc takes the other. */
static size_t write_filter(filter_step *f) {
    size_t n = 0;
    f[n++] = (filter_step){LOAD_WORD, 0, 0, ARCHITECTURE};
    f[n++] = (filter_step){IF_EQUAL, 1, 0, MACHINE};
    f[n++] = (filter_step){RETURN, 0, 0, KILL};
    f[n++] = (filter_step){LOAD_WORD, 0, 0, NUMBER};
#ifdef __x86_64__
    f[n++] = (filter_step){IF_FROM, 0, 1, 0x40000000}; /* x32 */
    f[n++] = (filter_step){RETURN, 0, 0, KILL};
#endif
    for (size_t i = 0; i < VIT_COUNT(refused); i++) {
        f[n++] = (filter_step){IF_EQUAL, 0, 1, refused[i]};
        f[n++] = (filter_step){RETURN, 0, 0, FAIL(EPERM)};
    }
    f[n++] = (filter_step){IF_EQUAL, 0, 1, SYS_clone3};
    f[n++] = (filter_step){RETURN, 0, 0, FAIL(ENOSYS)};
    f[n++] = (filter_step){IF_EQUAL, 0, 3, SYS_clone};
    f[n++] = (filter_step){LOAD_WORD, 0, 0, FIRST_ARGUMENT}; /* its lower half */
    f[n++] = (filter_step){IF_BITS, 1, 0, CLONE_A_THREAD};
    f[n++] = (filter_step){RETURN, 0, 0, FAIL(EPERM)};
    f[n++] = (filter_step){RETURN, 0, 0, LET_PASS};
    return n;
}

/* Of all threads, so that those that were started before have it, too. */
static bool set_filter(void) {
    filter_step steps[2 * VIT_COUNT(refused) + 16];
    const filter_program program = {(unsigned short)write_filter(steps), steps};
    return syscall(SYS_seccomp, SET_FILTER, FOR_ALL_THREADS, &program) == 0;
}

/* ---- both ---- */

vit_status vit_sandbox_enter(vit_sandbox *box, const vit_command *says, vit_error *error) {
    if (box->off) return VIT_OK;
    if (!box->lack && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        box->lack = "the system does not let it give up privileges";
    if (!box->lack) {
        read_system(box);
        if (box->untaken || syscall(RESTRICT_SELF, box->rules, 0) != 0)
            box->lack = "Landlock does not take its rules";
    }
    if (box->rules >= 0) close(box->rules);
    box->rules = -1;
    return box->lack ? give_up(box, "a sandbox", says, error) : VIT_OK;
}

vit_status vit_sandbox_seal(vit_sandbox *box, const vit_command *says, vit_error *error) {
    if (box->off || box->lack || set_filter()) return VIT_OK;
    box->lack = "this system has no seccomp";
    return give_up(box, "half of its sandbox", says, error);
}

#else
void vit_sandbox_open(vit_sandbox *box, const vit_optional *choice) {
    *box = (vit_sandbox){.rules = -1,
                         .must = choice->given && choice->value == VIT_SANDBOX_ON,
                         .off = choice->given && choice->value == VIT_SANDBOX_OFF,
                         .lack = "it is made of Linux's Landlock"};
}

void vit_sandbox_read(vit_sandbox *box, const char *path, bool beside) {
    (void)box;
    (void)path;
    (void)beside;
}

void vit_sandbox_write(vit_sandbox *box, const char *path) {
    (void)box;
    (void)path;
}

void vit_sandbox_clear(vit_sandbox *box, const char *directory) {
    (void)box;
    (void)directory;
}

vit_status vit_sandbox_enter(vit_sandbox *box, const vit_command *says, vit_error *error) {
    return box->off ? VIT_OK : give_up(box, "a sandbox", says, error);
}

vit_status vit_sandbox_seal(vit_sandbox *box, const vit_command *says, vit_error *error) {
    (void)box;
    (void)says;
    (void)error;
    return VIT_OK;
}
#endif

/* ---- models ---- */

/* Whether the head of a safetensors file names the file of its backbone, which may lie in the
 * working directory. */
static bool has_backbone(const char *path) {
    int file;
    uint64_t size, length = 0;
    uint8_t bytes[8];
    bool found = false;
    if (vit_path_look(path) != VIT_PATH_FILE || vit_file_open(&file, &size, path, NULL) != VIT_OK)
        return false;
    if (size > 8 && size <= 1 << 24 && vit_file_read(bytes, 8, file, 0, path, NULL) == VIT_OK) {
        for (size_t i = 8; i-- > 0;) length = length << 8 | bytes[i];
        length = vit_min(vit_min(length, size - 8), 1 << 20);
        char *head = vit_alloc(length + 1, 1);
        if (head && vit_file_read(head, length, file, 8, path, NULL) == VIT_OK)
            found = strstr(head, "\"vit.backbone\"");
        vit_free(head);
    }
    vit_file_close(file);
    return found;
}

void vit_sandbox_read_model(vit_sandbox *box, const char *name) {
    char *path;
    if (box->rules < 0) return;
    if (name && vit_hub_name(name)) { /* its revision is a file there, its weights are links */
        path = vit_hub_repository(vit_hub_name(name));
        vit_sandbox_read(box, path, false);
        vit_free(path);
        return;
    }
    if (vit_find_model(&path, name, NULL) != VIT_OK) return;
    vit_sandbox_read(box, path, true);
    if (has_backbone(path)) {
        vit_sandbox_read(box, ".", false);
        vit_sandbox_read(box, getenv("VIT_MODELS"), false);
    }
    vit_free(path);
}

void vit_sandbox_read_data(vit_sandbox *box, const char *data) {
    if (!data) return;
    vit_sandbox_read(box, data, true);
    vit_sandbox_read(box, getenv("VIT_DATA"), false);
    vit_sandbox_read(box, "data", false);
}

void vit_sandbox_read_choice(vit_sandbox *box, const vit_model_choice *from) {
    vit_sandbox_read(box, from->config, true);
    vit_sandbox_read(box, from->labels, true);
    vit_sandbox_read(box, from->labels_file, true);
    for (size_t i = 0; i < from->templates.count; i++)
        vit_sandbox_read(box, from->templates.values[i], true);
}
