#include "datasets/unread.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

#include <string.h>
#include <strings.h>

const char vit_unread_pictures[] =
    "pictures need classes: put those of a class into a folder of its name, or write a table "
    "metadata.csv with the columns file_name and label";

/* Lines of Python that write the pictures of Hugging Face's data sets into a folder for each class,
 * as they are. */
#define UNPACK(load)                                                                            \
    "`import datasets, pathlib; d = datasets." load                                             \
    ".cast_column('image', datasets.Image(decode=False)); name = d.features['label'].int2str` " \
    "and `for i, r in enumerate(d): p = pathlib.Path('train', name(r['label'])); p.mkdir("      \
    "parents=True, exist_ok=True); (p / f'{i}.jpg').write_bytes(r['image']['bytes'])`"

#define SPREADSHEET                                                                         \
    "a spreadsheet is not read: save it as CSV (labels.csv) beside the pictures, with the " \
    "names of the columns, such as file_name and label, in its first line"

/* By the ends of the names. */
static const struct {
    const char *end, *advice;
    bool has_classes; /* also of pictures beside it; else it is told where nothing else is */
    bool is_packed;   /* has the pictures, too */
} unread[] = {
    {".zip", "unpack it first (unzip)", false, false},
    {".tar",
     "unpack it first (tar xf); shards with a KEY.jpg and a KEY.cls for each picture are "
     "called NAME-000000.tar",
     false, false},
    {".tar.gz", "unpack it first (tar xf)", false, false},
    {".tgz", "unpack it first (tar xf)", false, false},
    {".tar.xz", "unpack it first (tar xf)", false, false},
    {"-ubyte.xz", "unpack it first (xz -d)", false, false},
    {".parquet",
     "Parquet is not read; two lines of Python unpack it: " UNPACK(
         "load_dataset('DIRECTORY', split='train')"),
     true, true},
    {".arrow",
     "Arrow is not read; two lines of Python unpack it: " UNPACK("load_from_disk('DIRECTORY')"),
     true, true},
    {".tfrecord", "TFRecord is not read: save its pictures into a folder for each class", true,
     true},
    {"_attr_celeba.txt",
     "CelebA's text is not read, its list_attr_celeba.csv is, with --multi-label or "
     "--class-column: "
     "tail -n +2 list_attr_celeba.txt | sed 's/ *$//; 1s/^/image_id /; s/ \\+/,/g' "
     ">list_attr_celeba.csv",
     true, true},
    {"-imgs.npz",
     "KMNIST's and K49's own .npz are not read: KMNIST's IDX files are, and arrays that "
     "are saved as train_images.npy, train_labels.npy, test_images.npy, ...",
     false, false},
    {"digitStruct.mat",
     "SVHN's whole house numbers are not read: its single digits are, "
     "train_32x32.mat and test_32x32.mat",
     false, false},
    {"unlabeled_X.bin", "pictures without labels: STL-10's train_X.bin and train_y.bin are read",
     false, false},
    {".xlsx", SPREADSHEET, true, false},
    {".xls", SPREADSHEET, true, false},
    {".ods", SPREADSHEET, true, false},
    {".numbers", SPREADSHEET, true, false},
    {".mat",
     "MATLAB's tables are not read: scipy.io.loadmat reads them; write a table labels.csv with the "
     "columns file_name and label",
     true, false},
    {".xml",
     "PASCAL VOC's XML says where objects are, and is not read: write a table labels.csv "
     "with the columns file_name and label",
     true, false},
};

static const char *const pictures[] = {".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".bmp"};

static bool ends_in_one(const char *name, size_t length) {
    for (size_t k = 0; k < VIT_COUNT(pictures); k++) {
        const size_t n = strlen(pictures[k]);
        if (length > n && strncasecmp(name + length - n, pictures[k], n) == 0) return true;
    }
    return false;
}

const char *vit_unread_advice(const char *name) {
    for (size_t k = 0; k < VIT_COUNT(unread); k++)
        if (vit_has_ending(name, unread[k].end) || strcmp(name, unread[k].end) == 0)
            return unread[k].advice;
    return ends_in_one(name, strlen(name)) ? vit_unread_pictures : NULL;
}

/* ---- by content ---- */

/* Whether the first line has the name of a picture and something behind it. */
static bool is_table_of_words(const char *text) {
    const size_t name = strcspn(text, " \t,\r\n"), line = strcspn(text, "\r\n");
    return ends_in_one(text, name) && name + 1 < line;
}

static bool names_picture(const char *text) {
    for (const char *at = text; (at = strchr(at, '.')); at++) {
        const size_t length = strcspn(at, "\"'");
        if (length < 6 && at > text && ends_in_one(at - 1, length + 1)) return true;
    }
    return false;
}

static const char *advice_on_text(const char *text, bool is_json) {
    if (!is_json)
        return is_table_of_words(text)
                   ? "a text of pictures and classes is not read; (echo file_name,label; sed "
                     "'s/[ ,\\t]\\+/,/' FILE) >labels.csv makes a table of it"
                   : NULL;
    if (strstr(text, "\"images\"") || strstr(text, "\"annotations\""))
        return "COCO's objects are not read; `import json; d = json.load(open('FILE')); c = "
               "{x['id']: x['name'] for x in d['categories']}; of = {x['id']: set() for x in "
               "d['images']}`, `for a in d['annotations']: of[a['image_id']].add("
               "c[a['category_id']])` and `for x in d['images']: print(json.dumps({'file_name': "
               "x['file_name'], 'labels': sorted(of[x['id']])}))` print a metadata.jsonl, for "
               "--multi-label";
    if (!names_picture(text)) return NULL;
    return text[strspn(text, " \t\r\n")] == '['
               ? "JSON is read an object a line: `import json` and `for r in json.load(open("
                 "'FILE')): print(json.dumps(r))` print a metadata.jsonl"
               : "JSON is read an object a line: `import json` and `for k, v in json.load(open("
                 "'FILE')).items(): print(json.dumps({'file_name': k, 'label': v}))` print a "
                 "metadata.jsonl";
}

#define BEGINNING 4096

/* The advice on a text by what it begins with; NULL: it is something else. */
static const char *look_into(const char *path, bool is_json) {
    char text[BEGINNING + 1];
    uint64_t size;
    int file;
    if (vit_file_open(&file, &size, path, NULL) != VIT_OK) return NULL;
    if (size > BEGINNING) size = BEGINNING;
    if (vit_file_read(text, (size_t)size, file, 0, path, NULL) != VIT_OK) size = 0;
    vit_file_close(file);
    text[size] = 0;
    return advice_on_text(text + vit_utf8_mark(text, (size_t)size), is_json);
}

/* ---- a directory ---- */

/* Texts are looked into directly in the data's directory: deeper, there may be one a picture. */
static vit_unread look_at(const char *path, bool is_top) {
    for (size_t k = 0; k < VIT_COUNT(unread); k++)
        if (vit_has_ending(path, unread[k].end))
            return (vit_unread){.advice = unread[k].has_classes ? unread[k].advice : NULL,
                                .is_packed = unread[k].is_packed};
    const bool is_json = vit_has_ending(path, ".json");
    const bool is_text = is_json || (is_top && vit_has_ending(path, ".txt"));
    return (vit_unread){.advice = is_text ? look_into(path, is_json) : NULL};
}

static vit_unread find(const char *directory, int depth, bool is_top) {
    vit_unread found = {0};
    char **names = NULL;
    size_t count = 0;
    if (vit_list_directory(&names, &count, directory, NULL) != VIT_OK) return found;
    for (size_t i = 0; i < count && !found.path; i++) {
        char *path = vit_name_is_wanted(names[i]) ? vit_path_join(directory, names[i]) : NULL;
        if (!path) continue;
        const vit_unread one = look_at(path, is_top);
        if (one.advice) found = one, found.path = path;
        if (!found.path && depth > 0 && vit_path_look(path) == VIT_PATH_DIRECTORY)
            found = find(path, depth - 1, false);
        if (path != found.path) vit_free(path);
    }
    vit_free(names);
    return found;
}

vit_unread vit_unread_find(const char *directory, int depth) {
    return find(directory, depth, true);
}
