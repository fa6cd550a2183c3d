/* vit-bench: how fast the library is on this machine, compared with the machine's peak. */
#include "vit/api/internal.h"
#include "vit/base/cpu.h"
#include "vit/cli/bench/bench.h"
#include "vit/cli/parts/program.h"
#include <string.h>

typedef struct settings {
    const char *preset, *model, *bank;
    uint64_t image, channels, patch, dim, depth, heads, mlp, classes;
    uint64_t batch, beams, tokens, threads;
    vit_optional precision; /* vit_precision */
    bool activation_checkpointing, json;
} settings;

#define SIZE(member, explanation) \
    { VIT_OPTION(COUNT, #member, member, "N"), .help = explanation, .min = 1, .max = 65536 }

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "The network"},
    {VIT_OPTION(TEXT, "preset", preset, "NAME|FILE"),
     .help = "the network, apart from the sizes below (default: mnist)"},
    SIZE(image, "side of the picture (default: the preset's, or 28)"),
    SIZE(channels, "1 or 3"),
    SIZE(patch, "side of a patch"),
    SIZE(dim, "width of a token"),
    SIZE(depth, "encoder blocks"),
    SIZE(heads, "attention heads"),
    SIZE(mlp, "width of the MLP"),
    SIZE(classes, "classes (default: 10)"),
    {VIT_OPTION(TEXT, "model", model, "MODEL"),
     .help = "infer, read, explain, anomaly: a file, directory or\n"
             "name of a model, in place of random weights; read and\n"
             "anomaly need it. model: the file to write"},
    {VIT_OPTION(TEXT, "bank", bank, "FILE"),
     .help = "anomaly: what vit-anomaly build --model MODEL made"},
    {.kind = VIT_OPTION_GROUP, .help = "The measurement"},
    SIZE(batch, "pictures (default: train and ops 128, infer 1, gemm 8)"),
    {VIT_OPTION(COUNT, "beams", beams, "N"), .help = "read: width of the beam search (default: 1)",
     .min = 1, .max = 64},
    {VIT_OPTION(COUNT, "tokens", tokens, "N"), .help = "read: of each text (default: 20)", .min = 1,
     .max = 16384},
    VIT_THREADS_OPTION(settings, "threads (default: as many as there are processors)"),
    {VIT_OPTION(CHOICE, "precision", precision, "P"), .optional = true,
     .help = "f32, bf16, or for infer and read int8: of matrix\n"
             "products (default: f32, a training's preset's)",
     .choices = vit_precision_names},
    {VIT_FLAG("activation-checkpointing", activation_checkpointing),
     .help = "train: keep only the input of each block for the\n"
             "backward pass, and compute the rest again"},
    {VIT_FLAG("json", json), .help = "one JSON object a line"},
};

static const vit_command command = {
    .name = "vit-bench",
    .usage = "usage: vit-bench MODE [OPTION...]\n"
             "\n"
             "Measures, as the median of about two seconds:\n"
             "  train   a whole training step: loading, forward, backward, clipping, AdamW;\n"
             "          and the share of the loading\n"
             "  infer   a batch of pictures through a session of a model that was loaded\n"
             "          from a file\n"
             "  read    pictures of noise through a model that writes texts\n"
             "  explain maps of one picture, in turns with ordinary answers: attention of all\n"
             "          layers and heads, rollout, relevance; in f32\n"
             "  anomaly a picture of noise through a bank of vit-anomaly, in turns with\n"
             "          ordinary answers and with the features of all tokens\n"
             "  model   nothing: writes the network with random weights, for infer --model\n"
             "  gemm    the network's matrix products, forward and backward, in five turns\n"
             "          with the peak: the turn whose share of the peak is the median\n"
             "  ops     every operator, forward and backward, in f32 on one thread, for one\n"
             "          slice of a training batch, with the bytes of its shapes; attention of\n"
             "          one picture on one thread and on two, the fastest runs; then what\n"
             "          a step does with all weights\n"
             "  resize  a picture of 12 megapixels to the network's input, on one thread\n"
             "  peak    the peak of every precision with every instruction set that is there\n"
             "and, in the same run, the peak: multiply-adds on registers alone.\n"
             "\n"
             "  vit-bench train --preset mnist\n"
             "      how fast this machine trains what 'vit-train --data mnist' trains\n"
             "  vit-bench infer --image 224 --channels 3 --patch 16 --dim 192 --depth 12 \\\n"
             "      --heads 3 --mlp 768 --classes 1000\n"
             "      one picture through ViT-Ti/16\n"
             "  VIT_CPU=avx2 vit-bench gemm --dim 384 --mlp 1536 --threads 1\n"
             "      without AVX-512\n",
    .operands = "train|infer|read|explain|anomaly|model|gemm|ops|resize|peak",
    .notes = "FLOP counts 2 x multiply-adds of the patch embedding, the linear layers and the\n"
             "attention products; a training step counts three times the forward pass.\n"
             "VIT_CACHE=512K|1M|... takes a core's second-level cache to be of that size, to\n"
             "measure what blocks made for another processor give; the results are the same.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
};

typedef struct mode {
    const char *name;
    size_t batch;
    vit_status (*run)(const bench *b, vit_error *error);
} mode;

static const mode modes[] = {{"train", 128, bench_train},   {"infer", 1, bench_infer},
                             {"read", 1, bench_read},       {"explain", 1, bench_explain},
                             {"anomaly", 1, bench_anomaly}, {"model", 1, bench_model},
                             {"gemm", 8, bench_gemm},       {"ops", 128, bench_ops},
                             {"resize", 1, bench_resize},   {"peak", 1, bench_peaks}};

/* b->preset: the preset with the sizes that are given, which its name then states. */
static vit_status choose_network(bench *b, const settings *s, vit_error *error) {
    vit_status status = vit_preset_load(&b->preset, s->preset ? s->preset : "mnist", error);
    if (status != VIT_OK) return status;
    vit_config *c = &b->preset.config;
    const struct {
        size_t *size;
        uint64_t given;
        size_t otherwise; /* if neither the options nor the preset say it */
    } sizes[] = {
        {&c->height, s->image, 28}, {&c->width, s->image, 28}, {&c->channels, s->channels, 1},
        {&c->patch, s->patch, 0},   {&c->dim, s->dim, 0},      {&c->depth, s->depth, 0},
        {&c->heads, s->heads, 0},   {&c->mlp, s->mlp, 0},      {&c->classes, s->classes, 10}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].given > 0) *sizes[i].size = (size_t)sizes[i].given;
        if (*sizes[i].size == 0) *sizes[i].size = sizes[i].otherwise;
    }
    if (s->image || s->patch || s->dim || s->depth || s->heads || s->mlp)
        snprintf(b->preset.name, sizeof b->preset.name, "%zux%zux%zu p%zu d%zu L%zu h%zu m%zu",
                 c->height, c->width, c->channels, c->patch, c->dim, c->depth, c->heads, c->mlp);
    return vit_config_check(c, error);
}

/* ARGUMENT for options that the mode does not have, or needs. */
static vit_status check_options(const mode *m, const settings *s, vit_error *error) {
    const bool in_turns = m->run == bench_explain || m->run == bench_anomaly;
    const bool from_file = m->run == bench_infer || m->run == bench_read || in_turns;
    if (s->activation_checkpointing && m->run != bench_train)
        return vit_fail(
            error, VIT_ERROR_ARGUMENT,
            "--activation-checkpointing of %s: only train keeps values for a backward pass",
            m->name);
    if ((s->beams > 0 || s->tokens > 0) && m->run != bench_read)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "--beams and --tokens of %s: only read has them",
                        m->name);
    if (!s->model && m->run == bench_read)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "read needs --model, one that writes texts");
    if (s->model && !from_file && m->run != bench_model)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--model of %s: only infer, read, explain and anomaly measure a model's "
                        "file, and model writes one",
                        m->name);
    if (s->precision.given && m->run == bench_peaks)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--precision %s of peak, which measures every precision: leave it out",
                        vit_precision_names[(int)s->precision.value]);
    if (in_turns && s->batch > 1)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--batch %llu of %s, which looks at one picture at a time",
                        (unsigned long long)s->batch, m->name);
    if ((m->run == bench_anomaly) == !s->bank || (s->bank && !s->model))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "anomaly, --bank FILE and --model MODEL go together");
    if (s->model && from_file &&
        (s->preset || s->image || s->channels || s->patch || s->dim || s->depth || s->heads ||
         s->mlp || s->classes))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--model %s has a network of its own: leave --preset and its sizes out",
                        s->model);
    if (!s->model && m->run == bench_model)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "model needs --model FILE, to be written");
    return VIT_OK;
}

static vit_status measure(const mode *m, const settings *s, vit_error *error) {
    bench b = {.json = s->json,
               .activation_checkpointing = s->activation_checkpointing,
               .batch = s->batch > 0 ? (size_t)s->batch : m->batch,
               .beams = s->beams > 0 ? (size_t)s->beams : 1,
               .tokens = s->tokens > 0 ? (size_t)s->tokens : 20};
    vit_status status = check_options(m, s, error);
    if (status == VIT_OK) status = choose_network(&b, s, error);
    if (status != VIT_OK) return status;
    b.model = s->model;
    b.bank = s->bank;
    if (b.model) snprintf(b.preset.name, sizeof b.preset.name, "%s", b.model);
    if (m->run == bench_model) return bench_model(&b, error);
    if (s->precision.given)
        b.precision = (vit_precision)s->precision.value;
    else if (m->run == bench_train)
        b.precision = b.preset.recipe.precision;
    const bool floats = m->run == bench_ops || m->run == bench_resize || m->run == bench_explain;
    const bool answers = m->run == bench_infer || m->run == bench_read || m->run == bench_anomaly;
    const vit_precision_row *row = &vit_precisions[b.precision];
    if ((row->converts && floats) || (!row->trains && !answers))
        return vit_fail(
            error, VIT_ERROR_ARGUMENT,
            "--precision %s of %s, which is measured in %s: infer, read, anomaly%s have it",
            vit_precision_names[b.precision], m->name, floats ? "f32 only" : "f32 or bf16",
            row->trains ? ", train and gemm" : "");
    status = vit_choose(&b.kernels, &b.threads, vit_chosen_cpu(), (int)s->threads, b.precision,
                        VIT_BF16_ANY, error);
    if (status != VIT_OK) return status;
    b.preset.recipe.precision = b.precision;
    if (m->run == bench_ops || m->run == bench_resize) b.threads = 1;
    if (m->run == bench_peaks) return bench_peaks(&b, error);
    b.peak = bench_peak(b.kernels->cpu, b.precision, b.threads);
    if (!b.json) {
        char brand[64];
        vit_cpu_brand(brand, sizeof brand);
        printf("%s: %s, threads: %d, %s, %s, peak %.1f GFLOP/s\n", b.preset.name, brand, b.threads,
               vit_cpu_name(b.kernels->cpu), vit_precision_names[b.precision], b.peak);
    }
    return m->run(&b, error);
}

int main(int argc, char **argv) {
    settings s = {0};
    vit_error error;
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    if (argc != 2)
        return vit_say_usage(&command, "say what to measure: train, infer, read, explain, anomaly, "
                                       "gemm, ops, resize or peak; or model, to write one");
    size_t i = 0;
    while (i < sizeof modes / sizeof *modes && strcmp(modes[i].name, argv[1]) != 0) i++;
    if (i == sizeof modes / sizeof *modes)
        return vit_say_usage(&command, "only train, infer, read, explain, anomaly, gemm, ops, "
                                       "resize and peak can be measured,\nand model be written");
    if (measure(&modes[i], &s, &error) != VIT_OK) return vit_say_error(&command, &error);
    return vit_program_end(&command, VIT_EXIT_OK);
}
