#include "vit/cli/train/train_report.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "vit/base/sys.h"
#include "vit/formats/json_out.h"

/* The name of an event in JSON; NULL for events that are not written as JSON. */
static const char *event_name(vit_event_kind kind) {
    switch (kind) {
    case VIT_EVENT_START:
        return "start";
    case VIT_EVENT_EPOCH:
        return "epoch";
    case VIT_EVENT_CHECKPOINT:
        return "checkpoint";
    case VIT_EVENT_DONE:
        return "done";
    case VIT_EVENT_POINT:
        return "step";
    case VIT_EVENT_STEP:
    case VIT_EVENT_NOTE:
        break;
    }
    return NULL;
}

static vit_json_out event_json(const vit_train_report *report, const vit_event *event) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "event", event_name(event->kind));
    if (event->kind == VIT_EVENT_START) {
        vit_json_text(&json, "preset", event->preset);
        vit_json_text(&json, "data", event->data);
        if (event->classes_from) vit_json_text(&json, "classes_from", event->classes_from);
        vit_json_text(&json, "model", report->out);
        vit_json_count(&json, "parameters", event->parameters);
        vit_json_count(&json, "train_images", event->train_images);
        vit_json_count(&json, "val_images", event->val_images);
        vit_json_count(&json, "batch", event->batch);
        if (event->recipe) vit_json_raw(&json, "recipe", event->recipe);
        if (event->network) vit_json_raw(&json, "network", event->network);
        if (report->arguments)
            vit_json_texts(&json, "arguments", report->arguments, report->argument_count);
    }
    vit_json_number(&json, "epoch", event->epoch);
    vit_json_number(&json, "epochs", event->epochs);
    vit_json_count(&json, "step", event->step);
    vit_json_count(&json, "steps", event->steps);
    if (event->kind == VIT_EVENT_POINT) vit_json_count(&json, "mean_over", event->mean_over);
    vit_json_number(&json, "loss", isnan(event->loss) ? report->loss : event->loss);
    vit_json_number(&json, "grad_norm", event->grad_norm);
    vit_json_number(&json, "lr", event->lr);
    vit_json_number(&json, "val_top1", event->val_top1);
    vit_json_number(&json, "val_loss", event->val_loss);
    vit_json_number(&json, "images_per_second", event->images_per_second);
    vit_json_number(&json, "seconds", event->seconds);
    if (!isnan(event->step_sent)) {
        vit_json_number(&json, "step_sent", event->step_sent);
        vit_json_number(&json, "step_received", event->step_received);
        vit_json_number(&json, "communication", event->communication);
        vit_json_number(&json, "overlap", event->overlap);
    }
    if (event->kind == VIT_EVENT_CHECKPOINT) vit_json_text(&json, "path", event->path);
    if (event->kind == VIT_EVENT_DONE) {
        vit_json_text(&json, "model", event->path ? event->path : report->out);
        vit_json_number(&json, "test_top1", event->test_top1);
    }
    vit_json_close(&json, '}');
    return json;
}

/* A log that cannot be written does not stop a training: it is reported once, and the exit status
 * is that of a failure. */
static void report_log_failure(vit_train_report *report, int reason) {
    vit_error error;
    vit_fail_errno(&error, reason, "%s: the log could not be written, the training goes on",
                   report->log_path);
    vit_say(report->command, "%s", error.message);
    report->log_failed = true;
}

static void write_start(const vit_train_report *report, const vit_event *event) {
    char parameters[32], images[32], held_back[32], steps[32], epochs[32];
    const char *examples = event->from_pictures ? "pictures" : "texts";
    vit_string text = {0};
    vit_string_add(&text, "training %s on ", event->preset ? event->preset : "a network");
    vit_string_add_visible(&text, event->data ? event->data : "the data", 0);
    vit_string_add(&text, ": %s parameters, %s %s", vit_format_count(parameters, event->parameters),
                   vit_format_count(images, event->train_images), examples);
    if (event->val_images > 0)
        vit_string_add(&text, ", a validation set of %s",
                       vit_format_count(held_back, event->val_images));
    vit_string_add(&text, "\n");
    vit_string_add(&text, "%s step%s of %zu %s, %s epochs, into ",
                   vit_format_count(steps, event->steps), event->steps == 1 ? "" : "s",
                   event->batch, examples,
                   vit_format_fixed(epochs, event->epochs, event->epochs < 10 ? 2 : 1));
    vit_string_add_visible(&text, report->out, 0);
    fprintf(stderr, "%s\n", text.failed ? "training" : text.text);
    vit_string_free(&text);
}

static void write_done(const vit_train_report *report, const vit_event *event) {
    const char *answers = event->to_texts ? "texts" : "pictures";
    char percent[32];
    vit_string text = {0};
    if (isfinite(event->test_top1)) {
        vit_string_add(&text, "%s %% of the test %s right",
                       vit_format_fixed(percent, 100 * event->test_top1, 2), answers);
    } else {
        vit_string_add(&text, "the data has no test %s", answers);
    }
    vit_string_add(&text, "; the model is ");
    vit_string_add_visible(&text, event->path ? event->path : report->out, 0);
    vit_string_add(&text, "\n");
    vit_print(report->command, &text);
}

/* Whether an open file is empty or begins as a log does, perhaps cut short. */
static bool is_log(FILE *file) {
    static const char begins[] = "{\"event\": \"";
    char text[sizeof begins];
    rewind(file);
    const size_t size = fread(text, 1, sizeof begins - 1, file);
    return memcmp(text, begins, size) == 0;
}

/* Cuts off an incomplete last line, as a process that was killed leaves it. */
static bool cut_to_whole_lines(FILE *file) {
    long end = 0;
    int c;
    rewind(file);
    for (long at = 1; (c = fgetc(file)) != EOF; at++) end = c == '\n' ? at : end;
    return !ferror(file) && ftruncate(fileno(file), end) == 0;
}

static vit_status open_log(vit_train_report *report, vit_error *error) {
    const char *path = report->log_path;
    bool exists;
    if (vit_path_exists(&exists, path, error) != VIT_OK) return error->status;
    report->log = fopen(path, exists && vit_path_look(path) != VIT_PATH_FILE ? "a" : "a+");
    if (!report->log && errno == ENOENT) {
        const int length = (int)(vit_path_last(path) - path);
        return vit_fail(error, VIT_ERROR_IO,
                        "--log: cannot write %s: there is no such directory; make it first: mkdir "
                        "-p %.*s",
                        path, length, path);
    }
    if (!report->log) return vit_fail_errno(error, errno, "--log: cannot write %s", path);
    if (vit_path_look(path) != VIT_PATH_FILE) return VIT_OK;
    vit_status status = VIT_OK;
    if (!is_log(report->log)) {
        status =
            vit_fail(error, VIT_ERROR_IO,
                     "--log: %s exists and is no log of a training: it is not written to", path);
    } else if (vit_path_same(path, report->out)) {
        status = vit_fail(error, VIT_ERROR_ARGUMENT, "--log and --out name the same file");
    } else if (report->append && !cut_to_whole_lines(report->log)) {
        status = vit_fail_errno(error, errno, "--log: cannot write %s", path);
    }
    return status;
}

vit_status vit_train_report_start(vit_train_report *report, vit_error *error) {
    report->progress = vit_progress_start(!report->json && !report->silent);
    report->loss = NAN;
    report->summary = (vit_log_summary){.best_top1 = NAN, .last_top1 = NAN, .test_top1 = NAN};
    vit_status status = report->log_path && !report->silent ? open_log(report, error) : VIT_OK;
    if (status != VIT_OK && report->log) {
        fclose(report->log);
        report->log = NULL;
    }
    return status;
}

static void log_event(vit_train_report *report, const vit_event *event) {
    if (!report->log || report->log_failed) return;
    vit_json_out json = event_json(report, event);
    errno = 0;
    if (!vit_json_end_line(&json, report->log)) report_log_failure(report, errno);
}

/* Writes START to the log. Only now is the log of an earlier training emptied; so notes from before
 * were kept in report->early, and follow. */
static void log_start(vit_train_report *report, const vit_event *event) {
    const vit_string *early = &report->early;
    errno = 0;
    if (report->log && !report->append && vit_path_look(report->log_path) == VIT_PATH_FILE &&
        ftruncate(fileno(report->log), 0) != 0)
        report_log_failure(report, errno);
    log_event(report, event);
    errno = 0;
    if (report->log && !report->log_failed && early->length > 0 &&
        (fwrite(early->text, 1, early->length, report->log) != early->length ||
         fflush(report->log) != 0))
        report_log_failure(report, errno);
    vit_string_free(&report->early);
    report->early = (vit_string){0};
    report->started = true;
}

static void log_note(vit_train_report *report, const vit_event *event) {
    vit_json_out json = {0};
    if (!report->log || report->log_failed) return;
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "event", "note");
    vit_json_text(&json, "text", event->text);
    vit_json_count(&json, "step", event->step);
    vit_json_number(&json, "seconds", event->seconds);
    vit_json_close(&json, '}');
    errno = 0;
    if (!report->started) {
        vit_string_add(&report->early, "%s\n", json.text.failed ? "" : json.text.text);
        vit_string_free(&json.text);
    } else if (!vit_json_end_line(&json, report->log)) {
        report_log_failure(report, errno);
    }
}

/* report->saved_in = the directory of `path`. */
static void keep_directory(vit_train_report *report, const char *path) {
    const char *slash = strrchr(path, '/');
    vit_string text = {0};
    vit_string_add_bytes(&text, path, slash ? (size_t)(slash - path) : 0);
    vit_free(report->saved_in);
    report->saved_in = text.text;
}

static void sum_up(vit_log_summary *s, const vit_event *event) {
    if (event->kind == VIT_EVENT_NOTE || event->kind == VIT_EVENT_POINT) return;
    s->step = event->step;
    s->steps = event->steps;
    if (event->kind == VIT_EVENT_START) {
        snprintf(s->preset, sizeof s->preset, "%s", event->preset ? event->preset : "?");
        snprintf(s->data, sizeof s->data, "%s", event->data ? event->data : "?");
    } else if (event->kind == VIT_EVENT_EPOCH) {
        s->last_top1 = event->val_top1;
        s->best_top1 = fmax(s->best_top1, s->last_top1);
    } else if (event->kind == VIT_EVENT_DONE) {
        s->test_top1 = event->test_top1;
    }
}

void vit_train_report_event(vit_train_report *report, const vit_event *event) {
    sum_up(&report->summary, event);
    if (report->silent) return;
    if (event->kind == VIT_EVENT_CHECKPOINT) keep_directory(report, event->path);
    if (event->kind == VIT_EVENT_EPOCH) report->loss = event->loss;
    if (event->kind == VIT_EVENT_STEP || event->kind == VIT_EVENT_EPOCH)
        vit_progress_show(&report->progress, event);
    else if (event->kind != VIT_EVENT_POINT)
        vit_progress_clear(&report->progress);
    if (event->kind == VIT_EVENT_NOTE && event->text) {
        if (!event->is_detail || report->list_details) vit_say(report->command, "%s", event->text);
        log_note(report, event);
    }
    const bool named = event_name(event->kind);
    if (event->kind == VIT_EVENT_START)
        log_start(report, event);
    else if (named)
        log_event(report, event);
    if (!report->json && event->kind == VIT_EVENT_START) {
        write_start(report, event);
    } else if (!report->json && event->kind == VIT_EVENT_DONE) {
        write_done(report, event);
    } else if (report->json && named && event->kind != VIT_EVENT_POINT) {
        vit_json_out json = event_json(report, event);
        vit_progress_clear(&report->progress);
        vit_print_json(report->command, &json);
    }
}

bool vit_train_report_end(vit_train_report *report) {
    vit_progress_clear(&report->progress);
    if (report->log && fclose(report->log) != 0 && !report->log_failed)
        report_log_failure(report, errno);
    report->log = NULL;
    vit_string_free(&report->early);
    return !report->log_failed;
}
