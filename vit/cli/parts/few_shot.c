#include "vit/cli/parts/few_shot.h"
#include "vit/cli/classify/neighbours.h"
#include "vit/cli/evaluate/probe.h"

#include <math.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/copy_table.h"
#include "vit/formats/csv.h"

static const char *percent(char text[32], double share) {
    return vit_format_fixed(text, 100 * share, 1);
}

/* ---- what was learnt ---- */

static void add_curve(vit_string *t, const vit_few_shot_result *l) {
    char number[32], twice[32];
    if (l->points < 2) return;
    vit_string_add(t, "with fewer pictures a class:");
    for (size_t i = 0; i + 1 < l->points; i++)
        vit_string_add(t, "%s %zu: %s %%", i > 0 ? "," : "", l->curve[i].pictures,
                       percent(number, l->curve[i].accuracy));
    if (!isnan(l->doubled))
        vit_string_add(t, "; with twice as many about %s %%", percent(twice, l->doubled));
    vit_string_add(t, "\n");
}

static void add_picture(vit_string *t, const vit_few_shot *teaching, size_t index) {
    const vit_few_shot_picture lesson = vit_few_shot_at(teaching, index);
    if (lesson.name)
        vit_string_add_visible(t, lesson.name, 0);
    else
        vit_string_add(t, "picture %zu", index);
}

static void add_suspects(vit_string *t, const vit_few_shot *teaching,
                         const vit_few_shot_result *l) {
    char number[32];
    if (l->suspects > 0) vit_string_add(t, "pictures that may be of another class:\n");
    for (size_t i = 0; i < l->suspects; i++) {
        const vit_suspect *s = &l->suspect[i];
        const vit_few_shot_picture lesson = vit_few_shot_at(teaching, s->index);
        vit_string_add(t, "  ");
        add_picture(t, teaching, s->index);
        vit_string_add(t, ": said to be ");
        vit_string_add_visible(t, vit_few_shot_class(teaching, lesson.label), 0);
        vit_string_add(t, ", looks like ");
        vit_string_add_visible(t, vit_few_shot_class(teaching, s->answer), 0);
        vit_string_add(t, " (%s %%)\n", percent(number, s->probability));
    }
    if (l->suspects == VIT_SUSPECTS)
        vit_string_add(t,
                       "  the first %d; all of them: vit-evaluate --model MODEL --data DATA "
                       "--label-issues issues.csv (of data with parts DATA/train)\n",
                       VIT_SUSPECTS);
}

/* The table of copies: all pairs among the pictures that the head was computed from. */
static vit_status write_copies(const char *path, const vit_few_shot *t, vit_error *error) {
    vit_string text = {0};
    vit_string_add(&text, "%s", vit_copy_table_head);
    for (size_t i = 0;; i++) {
        const vit_near_duplicate c = vit_few_shot_duplicate(t, i);
        if (!c.alike) break;
        const vit_few_shot_picture lessons[] = {vit_few_shot_at(t, c.second),
                                                vit_few_shot_at(t, c.first)};
        vit_copy_side sides[2];
        for (int k = 0; k < 2; k++)
            sides[k] = (vit_copy_side){lessons[k].name ? lessons[k].name : "", "train",
                                       vit_few_shot_class(t, lessons[k].label)};
        vit_copy_table_add(&text, &sides[0], &sides[1], c.alike);
    }
    return vit_write_text(path, &text, error);
}

/* Copies: how many, and all those whose classes differ. */
static void add_copies(vit_string *t, const vit_few_shot *teaching, const vit_few_shot_result *l) {
    const vit_near_duplicate example = vit_few_shot_duplicate(teaching, 0);
    if (l->copies == 0) return;
    vit_string_add(t, "%zu picture%s of others, such as ", l->copies,
                   l->copies == 1 ? " is a copy" : "s are copies");
    add_picture(t, teaching, example.second);
    vit_string_add(t, " (%s) of ", example.alike);
    add_picture(t, teaching, example.first);
    vit_string_add(t,
                   ": copies were left out together; --near-duplicates FILE.csv lists them all\n");
    if (l->contradictions > 0) vit_string_add(t, "the same picture in two classes:\n");
    for (size_t i = 0;; i++) {
        const vit_near_duplicate c = vit_few_shot_duplicate(teaching, i);
        const size_t both[] = {c.first, c.second};
        if (!c.alike) break;
        if (vit_few_shot_at(teaching, c.first).label == vit_few_shot_at(teaching, c.second).label)
            continue;
        for (size_t k = 0; k < 2; k++) {
            vit_string_add(t, k == 0 ? "  " : ", ");
            add_picture(t, teaching, both[k]);
            vit_string_add(t, ": ");
            vit_string_add_visible(
                t, vit_few_shot_class(teaching, vit_few_shot_at(teaching, both[k]).label), 0);
        }
        vit_string_add(t, " (%s)\n", c.alike);
    }
}

static bool print_text(const vit_command *command, const vit_few_shot_call *c,
                       const vit_few_shot *t, const vit_few_shot_result *l,
                       const vit_tested *tested) {
    char a[32], b[32], d[32];
    vit_string text = {0};
    vit_string_add(&text, "%zu pictures of %zu classes, each answered without it (%s):\n",
                   l->pictures, l->classes, l->left_out);
    vit_string_add(&text, "  %s %% right, in 19 of 20 cases between %s and %s %%\n",
                   percent(a, l->accuracy), percent(b, l->low), percent(d, l->high));
    add_copies(&text, t, l);
    add_curve(&text, l);
    if (l->confusions > 0) {
        vit_string_add(&text, "most confused: ");
        vit_string_add_visible(&text, vit_few_shot_class(t, l->confused[0]), 0);
        vit_string_add(&text, " and ");
        vit_string_add_visible(&text, vit_few_shot_class(t, l->confused[1]), 0);
        vit_string_add(&text, ", %zu time%s\n", l->confusions, l->confusions == 1 ? "" : "s");
    }
    add_suspects(&text, t, l);
    if (tested->images > 0)
        vit_string_add(&text, "test part: %s %% of %zu pictures right\n", percent(a, tested->top1),
                       tested->images);
    vit_string_add(&text, "model: %s\n", c->out);
    return vit_print(command, &text);
}

static bool print_json(const vit_command *command, const vit_few_shot_call *c,
                       const vit_few_shot *t, const vit_tested *tested, double seconds) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "event", "done");
    vit_json_text(&json, "model", c->out);
    vit_json_number(&json, "test_top1", tested->images > 0 ? tested->top1 : NAN);
    vit_json_raw(&json, "learnt", vit_few_shot_json(t));
    vit_json_number(&json, "seconds", seconds);
    vit_json_close(&json, '}');
    return vit_print_json(command, &json);
}

/* ---- vit-train --head ---- */

static vit_status check_absent(const char *path, const char *option, const vit_few_shot_call *c,
                               vit_error *error) {
    bool exists = false;
    const vit_status status = vit_path_exists(&exists, path, error);
    if (status != VIT_OK || !exists || c->overwrite) return status;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s exists: name another file (%s), or replace it (--overwrite)", path, option);
}

static vit_status check_out(const vit_few_shot_call *c, vit_error *error) {
    const vit_status status = check_absent(c->out, "--out", c, error);
    if (status != VIT_OK || !c->lessons || !c->data) return status;
    return check_absent(c->lessons, "--lessons", c, error);
}

/* ---- lessons that are kept ---- */

/* *left, *right = what stands before and after the "=" of an option's value; freed by vit_free of
 * *left. last: the last "=" counts, not the first. */
static vit_status split(char **left, const char **right, const char *option, const char *value,
                        const char *form, bool last, vit_error *error) {
    const char *at = last ? strrchr(value, '=') : strchr(value, '=');
    if (!at || at == value || !at[1])
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%s %s: expected %s", option, value, form);
    *left = vit_strdup(value);
    if (!*left) return vit_fail_memory(error, "an option", strlen(value));
    (*left)[at - value] = 0;
    *right = *left + (at - value) + 1;
    return VIT_OK;
}

static void note_class(const vit_command *command, const vit_few_shot *t, const char *name) {
    vit_string text = {0};
    for (size_t k = 0; k < vit_few_shot_classes(t); k++)
        if (strcmp(vit_few_shot_class(t, k), name) == 0) return;
    vit_string_add(&text, "%s is a new class", name);
    if (!text.failed) vit_say_note(text.text, (void *)command);
    vit_string_free(&text);
}

static vit_status forget(vit_few_shot *t, const char *name, vit_error *error) {
    size_t index;
    const vit_status status = vit_few_shot_find(&index, t, name, error);
    return status == VIT_OK ? vit_few_shot_forget(t, index, error) : status;
}

static vit_status relabel(const vit_command *command, vit_few_shot *t, const char *value,
                          vit_error *error) {
    char *name = NULL;
    const char *class_name;
    size_t index;
    vit_status status = split(&name, &class_name, "--relabel", value, "NAME=CLASS", true, error);
    if (status == VIT_OK) status = vit_few_shot_find(&index, t, name, error);
    if (status == VIT_OK &&
        strcmp(vit_few_shot_class(t, vit_few_shot_at(t, index).label), class_name) == 0)
        status = vit_fail(error, VIT_ERROR_ARGUMENT, "--relabel %s: the picture is of class %s",
                          value, class_name);
    if (status == VIT_OK) {
        note_class(command, t, class_name);
        status = vit_few_shot_correct(t, index, class_name, error);
    }
    vit_free(name);
    return status;
}

static vit_status add_file(const vit_command *command, vit_few_shot *t, const char *value,
                           vit_error *error) {
    char *class_name = NULL;
    const char *path;
    const size_t before = vit_few_shot_count(t);
    vit_status status = split(&class_name, &path, "--add", value, "CLASS=FILE", false, error);
    if (status == VIT_OK) {
        note_class(command, t, class_name);
        const vit_picture picture = {.name = path, .is_regular_file = true};
        status = vit_few_shot_add(t, class_name, &picture, 1, NULL, error);
    }
    if (status == VIT_OK && vit_few_shot_count(t) == before)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "--add %s: the picture is among the lessons of that class", value);
    vit_free(class_name);
    return status;
}

/* The lessons of the file, as the options change them. */
static vit_status change_lessons(const vit_command *command, const vit_few_shot_call *c,
                                 vit_few_shot *t, vit_error *error) {
    vit_status status = vit_few_shot_load_lessons(t, c->lessons, error);
    for (size_t i = 0; i < c->forget.count && status == VIT_OK; i++)
        status = forget(t, c->forget.values[i], error);
    for (size_t i = 0; i < c->relabel.count && status == VIT_OK; i++)
        status = relabel(command, t, c->relabel.values[i], error);
    for (size_t i = 0; i < c->add.count && status == VIT_OK; i++)
        status = add_file(command, t, c->add.values[i], error);
    return status;
}

/* Of lessons that were changed the model comes first: interrupted after it, the same command can be
 * given again. */
static vit_status save(const vit_few_shot_call *c, vit_few_shot *t, vit_error *error) {
    vit_status status = VIT_OK;
    if (c->lessons && c->data) status = vit_few_shot_save_lessons(t, c->lessons, error);
    if (status == VIT_OK)
        status = c->refers ? vit_few_shot_save_head(t, c->out, c->init, error)
                           : vit_few_shot_save(t, c->out, error);
    if (status == VIT_OK && c->lessons && !c->data)
        status = vit_few_shot_save_lessons(t, c->lessons, error);
    return status;
}

static vit_status teach(const vit_command *command, const vit_few_shot_call *c, vit_model **model,
                        vit_few_shot **t, vit_few_shot_result *learnt, vit_tested *tested,
                        vit_error *error) {
    const vit_model_options opening = {.config = c->config,
                                       .height = c->size.height,
                                       .width = c->size.width,
                                       .cpu = vit_chosen_cpu(),
                                       .threads = c->threads};
    const vit_few_shot_options options = {.head = c->head,
                                          .class_column = c->classes.class_column,
                                          .exclude = c->classes.exclude,
                                          .relabel = c->classes.relabel,
                                          .tag_branch = vit_chosen_tags(&c->classes.tags),
                                          .empty_classes = c->classes.empty_classes,
                                          .splits_are_classes = c->classes.splits_are_classes,
                                          .balance = c->balance,
                                          .keep_lessons = c->lessons != NULL,
                                          .views = c->views,
                                          .threads = c->threads,
                                          .cpu = vit_chosen_cpu()};
    *tested = (vit_tested){0};
    vit_status status = check_out(c, error);
    if (status == VIT_OK && c->near_duplicates)
        status = vit_csv_check(c->near_duplicates, "near-duplicates", vit_copy_table_head, error);
    if (status == VIT_OK) status = vit_model_load_with(model, c->init, &opening, error);
    if (status == VIT_OK) status = vit_few_shot_new(t, *model, &options, error);
    if (status == VIT_OK)
        status =
            c->data ? vit_few_shot_add_data(*t, c->data, NULL, vit_say_note, (void *)command, error)
                    : change_lessons(command, c, *t, error);
    if (status == VIT_OK) status = vit_few_shot_learn(*t, learnt, error);
    if (status == VIT_OK) status = save(c, *t, error);
    if (status == VIT_OK && c->near_duplicates)
        status = write_copies(c->near_duplicates, *t, error);
    if (status == VIT_OK && c->report) status = vit_few_shot_report(*t, c->report, error);
    if (status == VIT_OK && vit_few_shot_test(*t, 0, tested, NULL) != VIT_OK)
        *tested = (vit_tested){0}; /* the data have no test part */
    return status;
}

int vit_few_shot_make(const vit_command *command, const vit_few_shot_call *c) {
    vit_model *model = NULL;
    vit_few_shot *t = NULL;
    vit_few_shot_result learnt;
    vit_tested tested;
    vit_error error;
    const double start = vit_clock();
    int exit_status = VIT_EXIT_OK;
    if (teach(command, c, &model, &t, &learnt, &tested, &error) != VIT_OK)
        exit_status = vit_say_error(command, &error);
    else if (c->json ? !print_json(command, c, t, &tested, vit_clock() - start)
                     : !print_text(command, c, t, &learnt, &tested))
        exit_status = VIT_EXIT_FAILED;
    vit_few_shot_free(t);
    vit_model_free(model);
    return exit_status;
}

/* ---- vit-evaluate --knn, --linear-probe ---- */

static void add_tested(vit_json_out *json, const char *key, const vit_tested *t) {
    vit_json_open(json, key, '{');
    vit_json_count(json, "images", t->images);
    vit_json_count(json, "correct", t->correct);
    vit_json_number(json, "top1", t->top1);
    vit_json_number(json, "top5", t->top5);
    vit_json_numbers(json, "interval", (double[]){t->low, t->high}, 2);
    vit_json_close(json, '}');
}

static void add_line(vit_string *text, const char *what, const vit_tested *t) {
    char a[32], b[32], c[32];
    vit_string_add(text, "%s: %s %% of %zu test pictures right (%s to %s %%)\n", what,
                   percent(a, t->top1), t->images, percent(b, t->low), percent(c, t->high));
}

static bool print_probe(const vit_command *command, const vit_probe_call *c, const vit_few_shot *t,
                        const vit_tested *knn, const vit_tested *probe,
                        const vit_few_shot_result *learnt) {
    vit_json_out json = {0};
    vit_string text = {0};
    if (c->json) {
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "model", c->name);
        vit_json_text(&json, "data", c->data);
        vit_json_count(&json, "train_images", vit_few_shot_count(t));
        if (c->neighbours > 0) {
            add_tested(&json, "knn", knn);
            vit_json_count(&json, "neighbours", c->neighbours);
        }
        if (c->probe) {
            add_tested(&json, "linear_probe", probe);
            vit_json_number(&json, "strength", learnt->strength);
        }
        vit_json_close(&json, '}');
        return vit_print_json(command, &json);
    }
    vit_string_add(&text, "features of %zu training pictures of ", vit_few_shot_count(t));
    vit_string_add_visible(&text, c->data, 0);
    vit_string_add(&text, "\n");
    if (c->neighbours > 0) add_line(&text, "nearest neighbours", knn);
    if (c->probe) add_line(&text, "linear probe", probe);
    return vit_print(command, &text);
}

static int probe_model(const vit_command *command, const vit_model *model,
                       const vit_probe_call *c) {
    const vit_few_shot_options options = {.head = "logistic",
                                          .class_column = c->class_column,
                                          .exclude = c->exclude,
                                          .relabel = c->relabel,
                                          .tag_branch = c->tag_branch,
                                          .hold_out = true,
                                          .no_curve = true,
                                          .threads = c->threads,
                                          .cpu = vit_chosen_cpu(),
                                          .precision = c->precision,
                                          .bf16 = c->bf16};
    vit_few_shot *t = NULL;
    vit_tested knn = {0}, probe = {0};
    vit_few_shot_result learnt = {0};
    vit_error error;
    vit_status status = vit_few_shot_new(&t, model, &options, &error);
    if (status == VIT_OK)
        status = vit_few_shot_add_data(t, c->data, NULL, vit_say_note, (void *)command, &error);
    if (status == VIT_OK && c->neighbours > 0)
        status = vit_few_shot_test(t, c->neighbours, &knn, &error);
    if (status == VIT_OK && c->probe) status = vit_few_shot_learn(t, &learnt, &error);
    if (status == VIT_OK && c->probe) status = vit_few_shot_test(t, 0, &probe, &error);
    int exit_status = status == VIT_OK ? VIT_EXIT_OK : vit_say_error(command, &error);
    if (status == VIT_OK && !print_probe(command, c, t, &knn, &probe, &learnt))
        exit_status = VIT_EXIT_FAILED;
    vit_few_shot_free(t);
    return exit_status;
}

const vit_probe_guest vit_probe_features = {probe_model};

/* ---- neighbours ---- */

static vit_status open_among(vit_few_shot **out, const vit_command *command, vit_model *model,
                             const char *data, const vit_session_options *how, vit_error *error) {
    const vit_few_shot_options options = {
        .threads = how->threads, .cpu = how->cpu, .precision = how->precision, .bf16 = how->bf16};
    vit_status status = vit_few_shot_new(out, model, &options, error);
    if (status == VIT_OK)
        status = vit_few_shot_add_data(*out, data, NULL, vit_say_note, (void *)command, error);
    return status;
}

static vit_status find(vit_few_shot *among, const float *features,
                       vit_few_shot_neighbour *neighbours, size_t *count, vit_error *error) {
    *count = vit_min(*count, vit_few_shot_count(among));
    return vit_few_shot_nearest(among, features, neighbours, *count, error);
}

const vit_neighbour_guest vit_neighbours_by_features = {.open = open_among,
                                                        .find = find,
                                                        .at = vit_few_shot_at,
                                                        .name = vit_few_shot_class,
                                                        .free = vit_few_shot_free};
