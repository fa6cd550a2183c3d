/* The host's floating-point mode is no part of a result, and stays the host's: every function of
 * the public headers is called in each of six modes, gives what it gives in the usual one, and
 * leaves mode and exceptions as they were. A function of functions.inc without a try_NAME below
 * does not link. */
#include "tests/api/modes.h"
#include "tests/api/modes_lessons.h"
#include "tests/api/modes_reliance.h"
#include "tests/api/modes_reports.h"
#include "tests/api/modes_unknown.h"

/* ---- names, numbers ---- */

TEXT(vit_version, ())
TEXT(vit_status_name, (VIT_ERROR_IO))
TEXT(vit_scoring_name, (VIT_SCORING_SIGMOID))
TEXT(vit_model_label, (model, 3))
TEXT(vit_session_warning, (session))
TEXT(vit_preset_json, (1, NULL))
TEXT(vit_cluster_kind, ())
TEXT(vit_tensor_list_path, (list))
TEXT(vit_tensor_list_kind, (list))
TEXT(vit_method_name, (VIT_METHOD_ROLLOUT))
TEXT(vit_few_shot_class, (teaching, 1))
TEXT(vit_few_shot_json, (teaching))
NUMBER(vit_precision_available, (VIT_PRECISION_INT8, NULL))
NUMBER(vit_precision_is_slower, (VIT_PRECISION_INT8, VIT_BF16_ANY, NULL))
NUMBER(vit_cluster_rank, (NULL))
NUMBER(vit_cluster_size, (NULL))
NUMBER(vit_cluster_reports, (NULL))
NUMBER(vit_tensor_list_count, (list))
NUMBER(vit_method_takes_passes, (VIT_METHOD_OCCLUSION))
NUMBER(vit_few_shot_count, (teaching))
NUMBER(vit_few_shot_classes, (teaching))
NUMBER(vit_few_shot_learnt_classes, (teaching))
NUMBER(vit_embedder_tokens, (words, texts[0]))

static void try_vit_model_describe(void) {
    vit_model_info info;
    TRY(info = vit_model_describe(model));
    add_number((double)info.multiply_adds);
    add_number(info.temperature);
    add_number(info.threshold);
    add_text(info.config);
    add_text(info.preprocessing);
}

static void try_vit_text_describe(void) {
    vit_text_info info;
    TRY(info = vit_text_describe(writer));
    add_number(info.length_penalty);
    add_number((double)info.length);
}

static void try_vit_embedder_describe(void) {
    vit_embedder_info info;
    TRY(info = vit_embedder_describe(words));
    add_number(info.scale);
    add_number(info.bias);
}

static void try_vit_tensor_list_at(void) {
    vit_tensor_info info;
    TRY(info = vit_tensor_list_at(list, 2));
    add_text(info.name);
}

static void try_vit_few_shot_at(void) {
    vit_few_shot_picture lesson;
    TRY(lesson = vit_few_shot_at(teaching, 2));
    add_number((double)lesson.label);
}

static void try_vit_few_shot_duplicate(void) {
    vit_near_duplicate copy;
    TRY(copy = vit_few_shot_duplicate(teaching, 0));
    add_text(copy.alike);
}

/* ---- what takes back ---- */

GONE(vit_model_free, vit_model, vit_model_load(&one, mnist, &error))
GONE(vit_session_free, vit_session, vit_session_new(&one, model, NULL, &error))
GONE(vit_tensor_list_free, vit_tensor_list, vit_tensor_list_load(&one, mnist, &error))
GONE(vit_text_session_free, vit_text_session, vit_text_session_new(&one, writer, NULL, &error))
GONE(vit_few_shot_free, vit_few_shot, vit_few_shot_new(&one, model, NULL, &error))
GONE(vit_embedder_free, vit_embedder, vit_embedder_load(&one, clip, NULL, &error))

static void try_vit_map_clear(void) {
    vit_map map;
    works(vit_explain(session, digits[0], NULL, &map, &error));
    TRY(vit_map_clear(&map));
}

static void try_vit_buffer_clear(void) {
    vit_buffer buffer = {vit_alloc(4, 1), 4};
    TRY(vit_buffer_clear(&buffer));
}

static void try_vit_curves_clear(void) {
    vit_curves curves = {.deletion = vit_alloc(4, 4)};
    TRY(vit_curves_clear(&curves));
}

static void try_vit_text_answers_clear(void) {
    vit_text_answer answer = {.text = vit_strdup("12")};
    TRY(vit_text_answers_clear(&answer, 1));
}

static void try_vit_evaluation_clear(void) {
    vit_evaluation result = {.confusion = vit_alloc(4, sizeof(size_t))};
    TRY(vit_evaluation_clear(&result));
}

static void try_vit_label_evaluation_clear(void) {
    vit_label_evaluation result = {.scores = vit_alloc(4, sizeof(vit_label_score))};
    TRY(vit_label_evaluation_clear(&result));
}

/* ---- models and sessions ---- */

#define MODEL(name, arguments)        \
    static void try_##name(void) {    \
        vit_model *out;               \
        vit_status status;            \
        TRY(status = name arguments); \
        works(status);                \
        add_model(out);               \
    }
static const vit_model_options resized = {.height = 32, .width = 24, .threads = 2};
static const char *const templates[] = {"a photo of a {}", "{}"};
MODEL(vit_model_load, (&out, mnist, &error))
MODEL(vit_model_load_with, (&out, published, &resized, &error))
MODEL(vit_model_load_memory, (&out, mnist_bytes.data, mnist_bytes.size, "bytes",
                              &(vit_model_options){.precision = VIT_PRECISION_INT8}, &error))
MODEL(vit_model_load_zero_shot,
      (&out, clip, &(vit_model_options){.labels = "cat,dog"}, templates, 2, &error))
MODEL(vit_few_shot_model, (&out, teaching, &error))
MODEL(vit_train,
      (&out,
       &(vit_train_options){.arrays = &few, .set = small, .set_count = 5, .steps = 2, .threads = 2},
       &error))

static void try_vit_session_new(void) {
    vit_session *s;
    vit_status status;
    TRY(status = vit_session_new(&s, model, &(vit_session_options){.threads = 2}, &error));
    works(status);
    add_answers(s, CLASSES);
    vit_session_free(s);
}

static const char *const small_again = "out.safetensors";

static void try_vit_convert(void) {
    const vit_convert_options options = {.in = mnist, .out = small_again, .type = "int8"};
    vit_status status;
    TRY(status = vit_convert(&options, &error));
    works(status);
    add_file(small_again);
}

static void try_vit_convert_zero_shot(void) {
    const vit_convert_options options = {.in = clip, .labels = "cat,dog", .out = small_again};
    vit_status status;
    TRY(status = vit_convert_zero_shot(&options, templates, 2, &error));
    works(status);
    add_file(small_again);
}

/* ---- answers ---- */

FLOATS(vit_classify_file, (session, nine, out, &error), CLASSES)
FLOATS(vit_classify_memory, (session, nine_bytes.data, nine_bytes.size, "nine", out, &error),
       CLASSES)
FLOATS(vit_classify_pixels, (session, digits[0], 56, 14, 1, 56, out, &error), CLASSES)
FLOATS(vit_classify_prepared, (session, digits[0], 3, out, &error), 3 * CLASSES)
FLOATS(vit_embed_prepared, (session, digits[0], 1, out, out + CLASSES, &error), CLASSES + FEATURES)
FLOATS(vit_embed_file, (session, nine, out, &error), FEATURES)
FLOATS(vit_session_features, (session, out, &error), FEATURES)
FLOATS(vit_classify_many, (session, pictures, 2, out, NULL, answers, &error), 2 * CLASSES)
FLOATS(vit_prepare_values, (session, &(vit_picture){.name = nine}, 0, NULL, out, &warning, &error),
       PIXELS)
FLOATS(vit_embed_tokens, (session, pictures, 1, out, answers, &error), TOKENS *FEATURES)
FLOATS(vit_embed_texts, (words, texts, 2, &(vit_embed_texts_options){.unit = true}, out, &error),
       2 * WORDS)
FLOATS(vit_few_shot_answer, (teaching, &pictures[1], out, NULL, 0, NULL, &error), 2)

static void try_vit_embed_normalized(void) {
    float values[PIXELS], logits[CLASSES];
    vit_status status;
    for (size_t i = 0; i < PIXELS; i++) values[i] = (float)digits[0][i] / 77 - 1;
    TRY(status = vit_embed_normalized(session, values, 1, logits, NULL, &error));
    works(status);
    add(logits, sizeof logits);
}

#define PREPARED(name, arguments)     \
    static void try_##name(void) {    \
        uint8_t out[PIXELS];          \
        vit_status status;            \
        TRY(status = name arguments); \
        works(status);                \
        add(out, sizeof out);         \
    }
PREPARED(vit_prepare_memory,
         (session, nine_bytes.data, nine_bytes.size, "nine", 1 << 20, out, &warning, &error))
PREPARED(vit_prepare_picture, (session, &(vit_picture){.name = nine}, out, &error))

static void try_vit_draw_digit(void) {
    uint8_t out[PIXELS], label;
    TRY(label = vit_draw_digit(out, 4, 5));
    add(&label, 1);
    add(out, sizeof out);
}

static const float logits[CLASSES] = {.1F, 1e-20F, -3, 7.3F, 1.F / 3, 2, 5, 1e-39F, -9, 4};

static void try_vit_probabilities(void) {
    float out[CLASSES];
    TRY(vit_probabilities(logits, CLASSES, out));
    add(out, sizeof out);
}

static void try_vit_model_probabilities(void) {
    float out[CLASSES];
    TRY(vit_model_probabilities(model, logits, out));
    add(out, sizeof out);
}

static void try_vit_model_scores(void) {
    float out[CLASSES];
    TRY(vit_model_scores(model, VIT_SCORING_SIGMOID, logits, out));
    add(out, sizeof out);
}

static void try_vit_top_k(void) {
    const float values[] = {1e-40F, -1e-40F, NAN, 2, 1e-41F};
    size_t out[5];
    TRY(vit_top_k(values, 5, 5, out));
    add(out, sizeof out);
}

/* ---- evaluation, reports, training ---- */

static void try_vit_evaluate(void) {
    const vit_evaluate_options options = {.arrays = &few, .threads = 2};
    vit_evaluation e;
    vit_status status;
    TRY(status = vit_evaluate(model, &options, &e, &error));
    works(status);
    add(e.confusion, e.classes * e.classes * sizeof *e.confusion);
    add_number(e.top1);
    add_number(e.loss);
    add_number(e.ece);
    add_number(e.brier);
    vit_evaluation_clear(&e);
}

static void try_vit_evaluate_labels(void) {
    const vit_evaluate_options options = {.data = "labels", .split = VIT_SPLIT_TRAIN};
    vit_label_evaluation e;
    vit_status status;
    TRY(status = vit_evaluate_labels(sigmoid, &options, &e, &error));
    works(status);
    add_number(e.loss);
    add_number(e.mean_average_precision);
    add_number(e.macro_f1);
    vit_label_evaluation_clear(&e);
}

static void try_vit_write_report(void) {
    const vit_report_options options = {.log = "log", .out = "report.html", .model = mnist};
    vit_status status;
    TRY(status = vit_write_report(&options, &error));
    works(status);
    add_file("report.html");
}

static void try_vit_read_log(void) {
    vit_log_summary out;
    vit_status status;
    TRY(status = vit_read_log(&out, "log", &error));
    works(status);
    add_number(out.best_top1);
    add_number(out.test_top1);
}

static void try_vit_find_lr(void) {
    const vit_train_options options = {.arrays = &few, .set = small, .set_count = 5};
    vit_lr_search out;
    vit_status status;
    TRY(status = vit_find_lr(&out, &options, &error));
    works(status);
    add(out.lr, out.count * sizeof *out.lr);
    add(out.loss, out.count * sizeof *out.loss);
}

static vit_cluster *cluster;

static void try_vit_cluster_open(void) {
    vit_status status;
    TRY(status = vit_cluster_open(&cluster, &error));
    works(status);
}

static void try_vit_cluster_close(void) {
    TRY(vit_cluster_close(cluster, VIT_OK));
}

/* ---- tensors ---- */

static void try_vit_tensor_list_load(void) {
    vit_tensor_list *out;
    vit_status status;
    TRY(status = vit_tensor_list_load(&out, mnist, &error));
    works(status);
    vit_tensor_list_free(out);
}

static void try_vit_tensor_list_measure(void) {
    vit_tensor_statistics out;
    vit_status status;
    TRY(status = vit_tensor_list_measure(list, 3, &out, &error));
    works(status);
    add_number(out.mean);
    add_number(out.std);
}

/* ---- maps ---- */

static const vit_map_options relevance = {.method = VIT_METHOD_RELEVANCE};

static void try_vit_explain(void) {
    for (vit_method m = 0; m < VIT_METHOD_COUNT; m++) {
        const vit_map_options options = {.method = m, .steps = 2};
        vit_map map;
        vit_status status;
        TRY(status = vit_explain(session, digits[0], &options, &map, &error));
        works(status);
        size_t count = 1;
        for (size_t i = 0; i < map.dims; i++) count *= map.shape[i];
        add(map.values, count * sizeof *map.values);
        add_number(map.probability);
        vit_map_clear(&map);
    }
}

static void try_vit_map_png(void) {
    vit_map map;
    vit_buffer png;
    vit_status status;
    works(vit_explain(session, digits[0], &relevance, &map, &error));
    TRY(status = vit_map_png(session, digits[0], &map, 1, &png, &error));
    works(status);
    add(png.data, png.size);
    vit_buffer_clear(&png);
    vit_map_clear(&map);
}

static void try_vit_map_curves(void) {
    vit_map map;
    vit_curves curves;
    vit_status status;
    works(vit_explain(session, digits[0], &relevance, &map, &error));
    TRY(status = vit_map_curves(session, digits[0], &map, &curves, &error));
    works(status);
    add_number(curves.deletion_area);
    add_number(curves.insertion_area);
    vit_curves_clear(&curves);
    vit_map_clear(&map);
}

static void try_vit_explain_page(void) {
    vit_buffer html;
    vit_status status;
    TRY(status = vit_explain_page(session, digits[0], NULL, &html, &error));
    works(status);
    add(html.data, html.size);
    vit_buffer_clear(&html);
}

static void try_vit_explain_layers(void) {
    float out[CLASSES];
    vit_status status;
    TRY(status = vit_explain_layers(session, digits[0], NULL, out, NULL, NULL, &error));
    works(status);
    add(out, sizeof out);
}

/* ---- texts ---- */

static void add_written(vit_text_answer *answer) {
    works(answer->error.status);
    add_text(answer->text);
    add_number(answer->score);
    vit_text_answers_clear(answer, 1);
}

static void try_vit_text_session_new(void) {
    vit_text_session *s;
    vit_text_answer answer;
    vit_status status;
    TRY(status = vit_text_session_new(&s, writer, &(vit_text_options){.beams = 2}, &error));
    works(status);
    works(vit_read_pictures(s, &shown, 1, &answer, &error));
    add_written(&answer);
    vit_text_session_free(s);
}

static void try_vit_read_pictures(void) {
    vit_text_answer answer;
    vit_status status;
    TRY(status = vit_read_pictures(text_session, &shown, 1, &answer, &error));
    works(status);
    add_written(&answer);
}

/* Of a model that reads pictures: that it says so. All but what is read is the same. */
static void try_vit_read_texts(void) {
    vit_text_answer answer;
    vit_status status;
    TRY(status = vit_read_texts(text_session, texts, 1, &answer, &error));
    assert_int_equal(status, VIT_ERROR_MISMATCH);
}

static void try_vit_explain_text(void) {
    vit_text_answer answer;
    vit_buffer html;
    vit_status status;
    works(vit_read_pictures(text_session, &shown, 1, &answer, &error));
    TRY(status = vit_explain_text(text_session, &shown, NULL, &answer, "", false, &html, &error));
    works(status);
    add(html.data, html.size);
    vit_buffer_clear(&html);
    add_written(&answer);
}

static void try_vit_embedder_load(void) {
    float out[2 * WORDS];
    vit_embedder *one;
    vit_status status;
    TRY(status = vit_embedder_load(&one, clip, NULL, &error));
    works(status);
    works(vit_embed_texts(one, texts, 2, NULL, out, &error));
    add(out, sizeof out);
    vit_embedder_free(one);
}

/* ---- teaching ---- */

static void add_taught(vit_few_shot *t) {
    float out[2];
    works(vit_few_shot_learn(t, NULL, &error));
    works(vit_few_shot_answer(t, &pictures[0], out, NULL, 0, NULL, &error));
    add(out, sizeof out);
    vit_few_shot_free(t);
}

static void try_vit_few_shot_new(void) {
    vit_few_shot *t;
    vit_status status;
    TRY(status = vit_few_shot_new(
            &t, model, &(vit_few_shot_options){.head = "logistic", .no_curve = true}, &error));
    works(status);
    works(vit_few_shot_add(t, "one", pictures, 10, NULL, &error));
    works(vit_few_shot_add(t, "other", pictures + 10, 10, NULL, &error));
    add_taught(t);
}

/* `call` changes a teaching t. */
#define TAUGHT(name, call)              \
    static void try_##name(void) {      \
        vit_few_shot *t = teach(false); \
        vit_status status;              \
        TRY(status = call);             \
        works(status);                  \
        add_taught(t);                  \
    }
TAUGHT(vit_few_shot_add,
       vit_few_shot_add(t, "other", &(vit_picture){.name = nine}, 1, NULL, &error))
TAUGHT(vit_few_shot_correct, vit_few_shot_correct(t, 3, "other", &error))
TAUGHT(vit_few_shot_forget, vit_few_shot_forget(t, 3, &error))

static void try_vit_few_shot_learn(void) {
    vit_few_shot *t = teach(false);
    vit_few_shot_result learnt;
    vit_status status;
    TRY(status = vit_few_shot_learn(t, &learnt, &error));
    works(status);
    add_text(vit_few_shot_json(t));
    add_number(learnt.strength);
    add_taught(t);
}

static void try_vit_few_shot_add_data(void) {
    vit_few_shot *t;
    vit_status status;
    works(vit_few_shot_new(&t, model, &quick, &error));
    TRY(status = vit_few_shot_add_data(t, NULL, &few, NULL, NULL, &error));
    works(status);
    add_number((double)vit_few_shot_count(t));
    vit_few_shot_free(t);
}

static void try_vit_few_shot_test(void) {
    vit_tested out;
    vit_status status;
    TRY(status = vit_few_shot_test(tested, 3, &out, &error));
    works(status);
    add_number(out.top1);
    add_number(out.low);
}

static void try_vit_few_shot_nearest(void) {
    float features[FEATURES];
    vit_few_shot_neighbour out[3];
    vit_status status;
    for (size_t i = 0; i < FEATURES; i++) features[i] = 1 / (float)(i + 3);
    TRY(status = vit_few_shot_nearest(teaching, features, out, 3, &error));
    works(status);
    add(out, sizeof out);
}

/* `call` writes a file. */
#define WRITES(name, call)         \
    static void try_##name(void) { \
        vit_status status;         \
        TRY(status = call);        \
        works(status);             \
        add_file("written");       \
        unlink("written");         \
    }
WRITES(vit_few_shot_report, vit_few_shot_report(teaching, "written", &error))
WRITES(vit_few_shot_save, vit_few_shot_save(teaching, "written", &error))
WRITES(vit_few_shot_save_head, vit_few_shot_save_head(teaching, "written", mnist, &error))

static void try_vit_few_shot_take_head(void) {
    float out[2];
    vit_model *taught;
    vit_few_shot *t;
    vit_status status;
    works(vit_few_shot_model(&taught, teaching, &error));
    works(vit_few_shot_new(&t, model, &quick, &error));
    TRY(status = vit_few_shot_take_head(t, taught, &error));
    works(status);
    works(vit_few_shot_answer(t, &pictures[0], out, NULL, 0, NULL, &error));
    add(out, sizeof out);
    vit_few_shot_free(t);
    vit_model_free(taught);
}

/* ---- all ---- */

static const struct {
    const char *name;
    void (*call)(void);
} functions[] = {
#define FUNCTION(name) {#name, try_##name},
#include "tests/api/functions.inc"
};
#define COUNT (sizeof functions / sizeof *functions)

static void try_all(char hex[COUNT][65]) {
    for (size_t i = 0; i < COUNT; i++) {
        function = functions[i].name;
        vit_sha256_start(&given);
        functions[i].call();
        vit_sha256_hex(&given, hex[i]);
    }
}

static void every_function_in_every_mode(void **state) {
    static char want[COUNT][65], got[COUNT][65];
    signal(SIGFPE, say_where);
    open_all();
    for (size_t m = 0; m < MODES; m++) {
        current = &modes[m];
        try_all(m == 0 ? want : got);
        for (size_t i = 0; m > 0 && i < COUNT; i++)
            if (strcmp(want[i], got[i]) != 0)
                fail_msg("%s, %s: another result", functions[i].name, current->name);
    }
    close_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_DIRECTORY(every_function_in_every_mode)};
    if (!getcwd(root, sizeof root)) return 1;
    snprintf(mnist, sizeof mnist, "%s/models/mnist.safetensors", root);
    snprintf(clip, sizeof clip, "%s/tests/fixtures/words/clip", root);
    snprintf(published, sizeof published, "%s/tests/fixtures/published/hf_4", root);
    snprintf(nine, sizeof nine, "%s/tests/fixtures/image_rgb.png", root);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
