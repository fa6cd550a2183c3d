#include "vit/cli/models/hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/base/text.h"

enum { LONGEST_PART = 96, LONGEST_REVISION = 200, COMMIT = 40 };

static const char repository_characters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

const char *vit_hub_name(const char *name) {
    static const char *const schemes[] = {"hub:", "hf-hub:"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(name, schemes[i], strlen(schemes[i])) == 0) return name + strlen(schemes[i]);
    return NULL;
}

size_t vit_hub_repository_length(const char *name) {
    return strcspn(name, "@");
}

/* ---- names ---- */

/* Of an owner, of a repository, or between the slashes of a revision. */
static bool is_part(const char *text, size_t length) {
    if (length == 0 || length > LONGEST_PART || strchr(".-", text[0])) return false;
    for (size_t i = 0; i < length; i++)
        if (!strchr(repository_characters, text[i])) return false;
    return !strchr(".-", text[length - 1]);
}

/* The number of parts between slashes; 0: one of them is none. */
static size_t count_parts(const char *text, size_t length) {
    size_t parts = 0;
    for (size_t first = 0; first <= length; parts++) {
        const char *slash = memchr(text + first, '/', length - first);
        const size_t end = slash ? (size_t)(slash - text) : length;
        if (!is_part(text + first, end - first)) return 0;
        first = end + 1;
    }
    return parts;
}

/* As the hub writes them: "--" stands for a slash in the cache, so no name has it. */
static bool is_repository(const char *text, size_t length) {
    if (count_parts(text, length) != 2) return false;
    for (size_t i = 0; i + 1 < length; i++)
        if (strchr(".-", text[i]) && text[i + 1] == text[i]) return false;
    return true;
}

static bool is_commit(const char *text, size_t length) {
    return length == COMMIT && strspn(text, "0123456789abcdef") >= length;
}

/* ---- the cache ---- */

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && *value != '\0' ? value : NULL;
}

/* As huggingface_hub finds it. */
static void add_cache(vit_string *out) {
    const char *hub = environment("HF_HUB_CACHE"), *home = environment("HF_HOME");
    const char *cache = environment("XDG_CACHE_HOME"), *user = environment("HOME");
    if (!hub) hub = environment("HUGGINGFACE_HUB_CACHE");
    if (!user) user = environment("USERPROFILE");
    if (hub)
        vit_string_add(out, "%s", hub);
    else if (home)
        vit_string_add(out, "%s/hub", home);
    else if (cache)
        vit_string_add(out, "%s/huggingface/hub", cache);
    else
        vit_string_add(out, "%s/.cache/huggingface/hub", user ? user : "");
}

typedef struct hub_model {
    const char *name;             /* [OWNER/]NAME */
    int length;                   /* of it */
    const char *revision;         /* that was asked for; NULL: none */
    vit_string cache, repository; /* directories */
    char commit[COMMIT + 1];
} hub_model;

static void free_hub_model(hub_model *m) {
    vit_string_free(&m->cache);
    vit_string_free(&m->repository);
}

static vit_status read_name(hub_model *m, const char *name, vit_error *error) {
    const size_t length = vit_hub_repository_length(name);
    m->name = name;
    m->length = (int)length;
    m->revision = name[length] == '@' ? name + length + 1 : NULL;
    if (!is_repository(name, length))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "hub:%s: \"%.*s\" is no name of the Hugging Face hub, expected OWNER/NAME, "
                        "as in hub:facebook/dinov2-small",
                        name, m->length, name);
    if (m->revision && (strlen(m->revision) > LONGEST_REVISION ||
                        count_parts(m->revision, strlen(m->revision)) == 0))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "hub:%s: \"%s\" is no revision, expected a branch, a tag or a commit", name,
                        m->revision);
    return VIT_OK;
}

/* models--OWNER--NAME */
static vit_status find_repository(hub_model *m, vit_error *error) {
    add_cache(&m->cache);
    vit_string_add(&m->repository, "%s/models--", m->cache.failed ? "" : m->cache.text);
    for (int i = 0; i < m->length; i++)
        if (m->name[i] == '/')
            vit_string_add(&m->repository, "--");
        else
            vit_string_add_bytes(&m->repository, m->name + i, 1);
    if (m->cache.failed || m->repository.failed)
        return vit_fail_memory(error, "the path of a model", strlen(m->name));
    return VIT_OK;
}

/* The sentence of what is not there, with the command that helps. */
static vit_status not_cached(const hub_model *m, const char *what, const char *where,
                             vit_error *error) {
    const char *base = (const char *)memchr(m->name, '/', (size_t)m->length) + 1;
    const int length = m->length - (int)(base - m->name);
    return vit_fail(error, VIT_ERROR_IO,
                    "hub:%s: %s%s in Hugging Face's cache (%s); \"scripts/fetch-weights %.*s%s%s\" "
                    "downloads it into %.*s/, to be named so",
                    m->name, what, where, m->cache.text, m->length, m->name,
                    m->revision ? " --revision " : "", m->revision ? m->revision : "", length,
                    base);
}

/* The commit that refs/REVISION names, or the revision itself. */
static vit_status find_commit(hub_model *m, vit_error *error) {
    const char *revision = m->revision ? m->revision : "main";
    vit_string ref = {0};
    vit_bytes text = {0};
    vit_status status = VIT_OK;
    vit_string_add(&ref, "%s/refs/%s", m->repository.text, revision);
    if (ref.failed) {
        status = vit_fail_memory(error, "the path of a model", strlen(revision));
    } else if (vit_path_look(ref.text) == VIT_PATH_FILE) {
        status = vit_read_regular(&text, ref.text, 4096, error);
        size_t length = status == VIT_OK ? strcspn((const char *)text.data, "\r\n") : 0;
        if (status == VIT_OK && !is_commit((const char *)text.data, length))
            status = vit_fail(error, VIT_ERROR_FORMAT,
                              "%s: expected a commit, 40 hexadecimal digits", ref.text);
        if (status == VIT_OK) memcpy(m->commit, text.data, COMMIT);
    } else if (is_commit(revision, strlen(revision))) {
        memcpy(m->commit, revision, COMMIT);
    } else {
        status = not_cached(m, "no revision ", revision, error);
    }
    vit_free(text.data);
    vit_string_free(&ref);
    return status;
}

static bool is_weights(const char *file) {
    static const char *const endings[] = {".safetensors", ".bin", ".npz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (vit_has_ending(file, endings[i])) return true;
    return false;
}

/* The snapshot, if it has weights: programs that wanted the config alone have downloaded no more.
 */
static vit_status find_snapshot(char **path, const hub_model *m, vit_error *error) {
    vit_string directory = {0};
    char **files = NULL;
    size_t count = 0;
    bool found = false;
    vit_status status = VIT_OK;
    vit_string_add(&directory, "%s/snapshots/%s", m->repository.text, m->commit);
    if (directory.failed) {
        status = vit_fail_memory(error, "the path of a model", COMMIT);
    } else if (vit_path_look(directory.text) != VIT_PATH_DIRECTORY) {
        status = not_cached(m, "no snapshot of commit ", m->commit, error);
    } else {
        status = vit_list_directory(&files, &count, directory.text, error);
        for (size_t i = 0; i < count && !found; i++) found = is_weights(files[i]);
        if (status == VIT_OK && !found) status = not_cached(m, "no weights", "", error);
    }
    vit_free(files);
    if (status == VIT_OK && !(*path = vit_strdup(directory.text)))
        status = vit_fail_memory(error, "the path of a model", directory.length);
    vit_string_free(&directory);
    return status;
}

char *vit_hub_repository(const char *name) {
    hub_model m = {0};
    char *path = NULL;
    if (read_name(&m, name, NULL) == VIT_OK && find_repository(&m, NULL) == VIT_OK)
        path = vit_strdup(m.repository.text);
    free_hub_model(&m);
    return path;
}

vit_status vit_find_in_hub(char **path, const char *name, vit_error *error) {
    hub_model m = {0};
    *path = NULL;
    vit_status status = read_name(&m, name, error);
    if (status == VIT_OK) status = find_repository(&m, error);
    if (status == VIT_OK && vit_path_look(m.repository.text) != VIT_PATH_DIRECTORY)
        status = not_cached(&m, "it is not", "", error);
    if (status == VIT_OK) status = find_commit(&m, error);
    if (status == VIT_OK) status = find_snapshot(path, &m, error);
    if (status == VIT_OK)
        fprintf(stderr, "hub:%.*s is revision %s of Hugging Face's cache, %s\n", m.length, m.name,
                m.commit, m.cache.text);
    free_hub_model(&m);
    return status;
}
