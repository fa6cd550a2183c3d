#include "vit/cli/parts/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/parts/program.h"

char *vit_format_duration(char text[32], double seconds) {
    const double most = 3.6e9; /* a million hours */
    if (!(seconds > 0)) seconds = 0;
    unsigned long long s = (unsigned long long)((seconds < most ? seconds : most) + 0.5);
    unsigned long long hours = s / 3600, minutes = s / 60 % 60;
    if (hours > 0)
        snprintf(text, 32, "%llu:%02llu:%02llu", hours, minutes, s % 60);
    else
        snprintf(text, 32, "%llu:%02llu", minutes, s % 60);
    return text;
}

/* "3" for a whole number of epochs, else "2.71". */
static char *format_epoch(char text[32], double epoch) {
    return vit_format_fixed(text, epoch, epoch == floor(epoch) ? 0 : 2);
}

/* Adds a part if it still fits; after one that does not, no other is added. */
static void add_part(vit_string *line, size_t *width, const char *before, const char *value,
                     const char *after) {
    size_t gap = line->length > 0 ? 3 : 0;
    size_t length = gap + strlen(before) + strlen(value) + strlen(after);
    if (length > *width) {
        *width = 0;
        return;
    }
    *width -= length;
    vit_string_add(line, "%*s%s%s%s", (int)gap, "", before, value, after);
}

void vit_progress_line(vit_string *out, const vit_event *event, double val_top1, size_t width) {
    char value[32], total[32];
    vit_string epoch = {0};
    vit_string_add(&epoch, "%s of %s", format_epoch(value, event->epoch),
                   format_epoch(total, event->epochs));
    add_part(out, &width, "epoch ", epoch.failed ? "?" : epoch.text, "");
    vit_string_free(&epoch);
    if (event->kind == VIT_EVENT_STEP && event->steps > 0)
        add_part(out, &width, "",
                 vit_format_fixed(value, 100 * (double)event->step / (double)event->steps, 0),
                 " %");
    if (isfinite(event->loss))
        add_part(out, &width, "loss ", vit_format_fixed(value, event->loss, 4), "");
    if (isfinite(val_top1))
        add_part(out, &width, "validation ", vit_format_fixed(value, 100 * val_top1, 2), " %");
    if (event->seconds_left > 0)
        add_part(out, &width, "", vit_format_duration(value, event->seconds_left), " left");
    const double rate = event->images_per_second;
    if (rate > 0)
        add_part(out, &width, "", vit_format_count(value, rate < 1e15 ? (uint64_t)(rate + 0.5) : 0),
                 event->from_pictures ? " images/s" : " texts/s");
}

static size_t terminal_width(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char *columns = getenv("COLUMNS");
    uint64_t width;
    if (columns && vit_parse_u64(columns, &width) && width > 0 && width < 10000)
        return (size_t)width;
    return 80;
}

vit_progress vit_progress_start(bool epochs) {
    const char *term = getenv("TERM");
    bool dumb = !term || *term == '\0' || strcmp(term, "dumb") == 0;
    return (vit_progress){.redraw = isatty(STDERR_FILENO) && !dumb,
                          .epochs = epochs,
                          .val_top1 = NAN,
                          .every = 60,
                          .written = vit_clock()};
}

void vit_progress_clear(vit_progress *progress) {
    if (progress->drawn > 0) {
        fprintf(stderr, "\r%*s\r", (int)progress->drawn, "");
        fflush(stderr);
        progress->drawn = 0;
    }
}

/* Columns that may be drawn in: the last one stays free, since some terminals begin a new line
 * after it. */
static size_t free_width(void) {
    return terminal_width() - 1;
}

/* Spaces cover the rest of a longer line. */
static void draw(vit_progress *progress, const vit_string *line) {
    const size_t covered = vit_min(progress->drawn, free_width());
    if (line->failed || line->length == 0) return;
    fprintf(stderr, "\r%-*s", (int)covered, line->text);
    fflush(stderr);
    progress->drawn = line->length;
}

void vit_progress_text(vit_progress *progress, const char *format, ...) {
    char text[256];
    va_list arguments;
    vit_string line = {0};
    if (!progress->redraw || vit_clock() - progress->written < .2) return;
    progress->written = vit_clock();
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vit_string_add(&line, "%.*s", (int)free_width(), text);
    draw(progress, &line);
    vit_string_free(&line);
}

void vit_progress_show(vit_progress *progress, const vit_event *event) {
    const bool is_epoch = event->kind == VIT_EVENT_EPOCH;
    const bool is_due =
        is_epoch || (!progress->redraw && vit_clock() - progress->written >= progress->every);
    vit_string line = {0};
    if (is_epoch) progress->val_top1 = event->val_top1;
    if (is_due && progress->epochs) {
        vit_progress_clear(progress);
        progress->written = vit_clock();
        vit_progress_line(&line, event, progress->val_top1, SIZE_MAX);
        if (!line.failed) fprintf(stderr, "%s\n", line.text);
        vit_string_free(&line);
    } else if (progress->redraw) {
        vit_progress_line(&line, event, progress->val_top1, free_width());
        draw(progress, &line);
        vit_string_free(&line);
    }
}
