#include "vit/tensors/weights_path.h"

#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/sha256.h"
#include "vit/formats/signature.h"

#include <string.h>

/* The names that timm, transformers and OpenCLIP give their files, the one to prefer first. */
static const char *const known_names[] = {
    "model.safetensors", "model.safetensors.index.json", "open_clip_model.safetensors",
    "pytorch_model.bin", "pytorch_model.bin.index.json", "open_clip_pytorch_model.bin",
};

static const char *const endings[] = {".safetensors", ".npz",     ".pth", ".pt",
                                      ".bin",         ".pth.tar", ".ckpt"};

static bool ends_as_weights(const char *name) {
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (vit_has_ending(name, endings[i])) return true;
    return false;
}

/* "checkpoint-000000000300.safetensors": if there are several, the last is the newest and is used.
 */
static bool is_checkpoint(const char *name) {
    static const char start[] = "checkpoint-";
    const size_t first = sizeof start - 1;
    return strncmp(name, start, first) == 0 &&
           strcmp(name + first + strspn(name + first, "0123456789"), ".safetensors") == 0;
}

static vit_status choose(const char **found, char *const *names, size_t count,
                         const char *directory, vit_error *error) {
    *found = NULL;
    for (size_t k = 0; k < sizeof known_names / sizeof *known_names; k++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(names[i], known_names[k]) == 0) {
                *found = names[i];
                return VIT_OK;
            }
    for (size_t i = 0; i < count; i++) {
        if (names[i][0] == '.' || !ends_as_weights(names[i])) continue;
        if (*found && !(is_checkpoint(*found) && is_checkpoint(names[i])))
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s holds several files of weights, %s and %s: name one of them",
                            directory, *found, names[i]);
        *found = names[i];
    }
    if (*found) return VIT_OK;
    return vit_fail(error, VIT_ERROR_IO,
                    "%s holds no weights: expected model.safetensors, its .index.json, "
                    "pytorch_model.bin, or one file that ends in .safetensors, .npz, .pth, .pt, "
                    ".ckpt or .bin",
                    directory);
}

vit_status vit_weights_find(char **file, const char *path, vit_error *error) {
    char **names = NULL;
    const char *name;
    size_t count;
    vit_status status = VIT_OK;
    *file = NULL;
    if (vit_path_look(path) == VIT_PATH_DIRECTORY) {
        status = vit_list_directory(&names, &count, path, error);
        if (status == VIT_OK) status = choose(&name, names, count, path, error);
        if (status == VIT_OK) *file = vit_path_join(path, name);
    } else {
        *file = vit_strdup(path);
    }
    vit_free(names);
    return status == VIT_OK && !*file ? vit_fail_memory(error, path, strlen(path)) : status;
}

static const vit_signature foreign[] = {
    VIT_SIGNATURE(
        0, "version https://git-lfs",
        "a Git LFS pointer, not the weights: fetch the file it stands for (git lfs pull)"),
    VIT_SIGNATURE(0, "\x89HDF",
                  "an HDF5 file (Keras), which is not read: expected safetensors, npz or PyTorch"),
    VIT_SIGNATURE(4, "TFL3",
                  "a TensorFlow Lite model, which is not read: expected the weights it was made "
                  "of, as safetensors, npz or PyTorch"),
    VIT_SIGNATURE(0, "GGUF",
                  "a GGUF file, which is not read: expected safetensors, npz or PyTorch"),
    VIT_SIGNATURE(0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9",
                  "a PyTorch file in the format of before version 1.6, which is not read: load it "
                  "in PyTorch and save it again, or write safetensors"),
    VIT_SIGNATURE(0, "\x80\x02",
                  "a bare Python pickle, which is not read: expected safetensors, npz or PyTorch"),
    VIT_SIGNATURE(0, "\x80\x03",
                  "a bare Python pickle, which is not read: expected safetensors, npz or PyTorch"),
    VIT_SIGNATURE(0, "\x80\x04",
                  "a bare Python pickle, which is not read: expected safetensors, npz or PyTorch"),
    VIT_SIGNATURE(257, "ustar",
                  "a tar archive (PyTorch before 0.2), which is not read: load it in PyTorch and "
                  "save it again, or write safetensors"),
    VIT_SIGNATURE(0, "\x93NUMPY",
                  "a single NumPy array, which is no network: expected an .npz of all of them"),
    VIT_SIGNATURE(0, "\x89PNG", "a picture, not weights"),
    VIT_SIGNATURE(0, "\xff\xd8\xff", "a picture, not weights"),
    VIT_SIGNATURE(0, "<!DOCTYPE", "a web page, not weights: was the download refused?"),
    VIT_SIGNATURE(0, "<html", "a web page, not weights: was the download refused?"),
};

/* ONNX: protobuf whose first field is the version of the format, a small number, and whose next one
 * is a text (who made it), the graph or the operators' version. */
static bool is_onnx(const uint8_t *bytes, size_t size) {
    return size > 2 && bytes[0] == 0x08 && bytes[1] > 0 && bytes[1] < 0x40 &&
           strchr("\x12\x1a\x22\x2a\x32\x3a\x42", bytes[2]) && bytes[2];
}

const char *vit_foreign_file(const uint8_t *bytes, size_t size) {
    if (is_onnx(bytes, size))
        return "an ONNX model, which is not read: expected the weights it was made of, as "
               "safetensors, npz or PyTorch";
    return vit_signature_find(foreign, sizeof foreign / sizeof *foreign, bytes, size);
}

vit_status vit_weights_hash(char hex[65], const char *path, vit_error *error) {
    char *file;
    vit_bytes bytes;
    vit_status status = vit_weights_find(&file, path, error);
    if (status != VIT_OK) return status;
    status = vit_map_file(&bytes, file, error);
    vit_free(file);
    if (status != VIT_OK) return status;
    vit_sha256_of(hex, bytes.data, bytes.size);
    vit_unmap_file(&bytes);
    return VIT_OK;
}
