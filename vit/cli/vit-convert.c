/* vit-convert: writes a model in the layout of a library, or with weights of half the size. */
#include <stddef.h>

#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/program.h"
#include "vit/zero_shot.h"

extern const char *const vit_target_names[];  /* vit/model/switches.c */
extern const char *const vit_written_types[]; /* vit/api/model_convert.c */

typedef struct settings {
    vit_model_choice from;
    int layout, type; /* of the words below; layout -1: this program's own */
    bool force;
    const char *calibrate;
    uint64_t pictures;
} settings;

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "What is written"},
    {VIT_OPTION(CHOICE, "layout", layout, "LAYOUT"),
     .help = "timm, hf, torchvision, npz, onnx or pytorch: what is to\n"
             "load OUT, a directory. hf is Hugging Face's library,\n"
             "transformers; npz has Google's names; onnx is one file,\n"
             "NAME.onnx; pytorch is model.py, the network in plain\n"
             "PyTorch, and its weights (default: OUT is a model file)",
     .choices = vit_target_names},
    {VIT_OPTION(CHOICE, "dtype", type, "f32|bf16|f16|int8"),
     .help = "the type of the weights: float32, or bfloat16 or\n"
             "float16, to which they are rounded; or int8, those of\n"
             "the blocks in 8-bit integers with a scale for each\n"
             "output, for a model file, hf and onnx (default: f32)",
     .choices = vit_written_types},
    {VIT_OPTION(TEXT, "calibrate", calibrate, "DIR"),
     .help = "with --dtype int8: pictures of DIR, a folder of them or\n"
             "data as for vit-evaluate, show which channels are\n"
             "outliers; half of these goes from the norms to the\n"
             "weights (SmoothQuant)"},
    {VIT_OPTION(COUNT, "calibrate-pictures", pictures, "N"),
     .help = "how many of these are used, spread evenly (default: 64)", .min = 1, .max = 1000000},
    {VIT_FLAG("force", force), .help = "write the model even if the layout cannot express all\n"
                                       "of it, and say what is lost; never write one that the\n"
                                       "library could not load"},
    {.kind = VIT_OPTION_GROUP, .help = "What is read"},
    {VIT_OPTION(TEXT, "config", from.config, "FILE"),
     .help = "in place of the config.json beside the weights"},
    VIT_EMULATE_OPTION(settings),
    VIT_LABELS_OPTION(settings),
    VIT_LABELS_FILE_OPTION(settings),
    VIT_TEMPLATE_OPTION(settings),
};

static const vit_command command = {
    .name = "vit-convert",
    .usage = "usage: vit-convert [OPTION...] IN OUT\n"
             "\n"
             "Writes a model so that another library can load it: with that library's names\n"
             "and config, and with labels and preprocessing. IN is a model as for the other\n"
             "programs.\n"
             "\n"
             "  vit-convert mnist mnist.onnx --layout onnx\n"
             "      onnxruntime.InferenceSession(\"mnist.onnx\")\n"
             "  vit-convert vit_small/ small-timm --layout timm\n"
             "      timm.create_model(\"local-dir:small-timm\", pretrained=True)\n"
             "  vit-convert vit_base_patch16_224/ base.safetensors --dtype bf16\n"
             "      one file, half as large\n"
             "  vit-convert vit_base_patch16_224/ base8.safetensors --dtype int8\n"
             "      one of about a quarter, which answers in int8\n"
             "  vit-convert --labels-file words.txt clip/ words.safetensors\n"
             "      CLIP with these words as its classes, an ordinary model\n",
    .operands = "IN OUT",
    .notes = "A model that a layout cannot express is refused with the reason; onnx and\n"
             "pytorch take every model.\n"
             "Exit status: 0 done, 1 the conversion failed, 2 wrong usage.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

/* Returns the exit status. */
static int run(const settings *s, const char *in, const char *out) {
    char *path;
    const char *labels;
    vit_error error;
    vit_status status = vit_chosen_labels(&labels, &s->from, &error);
    if (status == VIT_OK) status = vit_find_model(&path, in, &error);
    if (status == VIT_OK) {
        const vit_convert_options choice = {.in = path,
                                            .config = s->from.config,
                                            .emulate = s->from.emulate,
                                            .labels = labels,
                                            .out = out,
                                            .layout =
                                                s->layout < 0 ? NULL : vit_target_names[s->layout],
                                            .type = vit_written_types[s->type],
                                            .force = s->force,
                                            .calibrate = s->calibrate,
                                            .calibrate_pictures = (size_t)s->pictures,
                                            .cpu = vit_chosen_cpu(),
                                            .note = vit_say_note,
                                            .user = (void *)&command};
        status = vit_convert_zero_shot(&choice, s->from.templates.values, s->from.templates.count,
                                       &error);
        vit_free(path);
    }
    return status == VIT_OK ? VIT_EXIT_OK : vit_say_error(&command, &error);
}

int main(int argc, char **argv) {
    settings s = {.layout = -1};
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (s.pictures > 0 && !s.calibrate)
        return vit_say_usage(&command, "--calibrate-pictures is for --calibrate DIR");
    if (argc != 3) return vit_say_usage(&command, "expected IN, a model, and OUT, what to write");
    return vit_program_end(&command, run(&s, argv[1], argv[2]));
}
