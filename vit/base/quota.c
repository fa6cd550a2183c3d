/* On Linux, control groups limit the processors of a container to a number of microseconds in each
 * period. Version 2 has both numbers in cpu.max, version 1 has a file for each. The limits of the
 * groups above a group apply to it, too. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "vit/base/cpu.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

enum { MOST_BYTES = 1 << 16 };

/* The text of the file root + directory + name, or "" if it cannot be read. Freed by
 * vit_string_free.
 */
static vit_string read_text(const char *root, const char *directory, const char *name) {
    vit_string path = {0}, text = {0};
    vit_bytes bytes;
    vit_string_add(&path, "%s%s%s", root, directory, name);
    vit_string_add(&text, "%s", "");
    if (!path.failed && vit_path_look(path.text) == VIT_PATH_FILE &&
        vit_read_file(&bytes, path.text, MOST_BYTES, NULL) == VIT_OK) {
        vit_string_add_bytes(&text, (const char *)bytes.data, bytes.size);
        vit_free(bytes.data);
    }
    vit_string_free(&path);
    return text;
}

/* "200000 100000\n" is 2 processors; "max 100000" and anything but two numbers is no limit. */
static double processors(char *limits) {
    double quota, period;
    char *second = strchr(limits, ' ');
    if (!second) return INFINITY;
    *second++ = '\0';
    second[strcspn(second, "\n")] = '\0';
    const bool are_numbers = vit_parse_double(limits, &quota) && vit_parse_double(second, &period);
    return are_numbers && quota > 0 && period > 0 ? quota / period : INFINITY;
}

static double quota_of(const char *root, const char *group) {
    vit_string limits = read_text(root, group, "/cpu.max");
    if (!limits.failed && limits.length == 0) {
        vit_string quota = read_text(root, group, "/cpu.cfs_quota_us");
        vit_string period = read_text(root, group, "/cpu.cfs_period_us");
        if (!quota.failed && !period.failed) {
            quota.text[strcspn(quota.text, "\n")] = '\0';
            vit_string_add(&limits, "%s %s", quota.text, period.text);
        }
        vit_string_free(&quota);
        vit_string_free(&period);
    }
    const double bound = limits.failed ? INFINITY : processors(limits.text);
    vit_string_free(&limits);
    return bound;
}

/* The lowest limit of a group and those above it. If a container does not see the whole path, it
 * ends in groups that are missing, which have no limit. */
static double bound_of(const char *root, const char *hierarchy, const char *group) {
    vit_string path = {0};
    double bound = INFINITY;
    vit_string_add(&path, "%s%s", hierarchy, group);
    while (!path.failed) {
        bound = fmin(bound, quota_of(root, path.text));
        if (strlen(path.text) <= strlen(hierarchy)) break;
        *strrchr(path.text, '/') = '\0';
    }
    vit_string_free(&path);
    return bound;
}

/* A line of /proc/self/cgroup: "0::/group" in version 2, "4:cpu,cpuacct:/group" in version 1. */
static double bound_of_line(const char *root, char *line) {
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(++controllers, ':') : NULL;
    if (!group) return INFINITY;
    *group++ = '\0';
    if (*controllers == '\0') return bound_of(root, "/sys/fs/cgroup", group);
    const bool is_cpu = strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0 ||
                        strcmp(controllers, "cpuacct,cpu") == 0;
    return is_cpu ? bound_of(root, "/sys/fs/cgroup/cpu", group) : INFINITY;
}

/* In a sandbox the groups cannot be read, and a process stays in those it was in: what was counted
 * before is true. */
int vit_cpu_quota(const char *root) {
    static atomic_int before;
    vit_string groups = read_text(root, "", "/proc/self/cgroup");
    const bool is_read = !groups.failed && groups.length > 0;
    double bound = INFINITY;
    for (char *line = groups.failed ? NULL : groups.text; line && *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        bound = fmin(bound, bound_of_line(root, line));
        line = end ? end + 1 : NULL;
    }
    vit_string_free(&groups);
    const int quota = bound < 1e6 ? (int)ceil(bound) : 0;
    if (*root != '\0') return quota;
    if (is_read) atomic_store(&before, quota);
    return is_read ? quota : atomic_load(&before);
}
