/* How many pictures each class has: weights that balance the classes, and notes for classes that
 * are rare, unbalanced or not tested. */
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/train/measure/calibration.h"
#include "vit/train/run.h"

/* Fewer pictures a class than this are too few to learn from; weights to start from need fewer. */
#define FEW_PICTURES 50
#define FEW_PICTURES_INIT 5

/* Classes are unbalanced if the largest has at least this many times the smallest's pictures. */
#define UNBALANCED 3

/* How many names of classes are shown. */
#define NAMES_SHOWN 10

/* Test pictures are uneven if the largest class has this many times an equal share. */
#define UNEVEN 1.2

static const char *name_of(const vit_dataset *d, size_t class, char number[32]) {
    if (d->labels) return d->labels[class];
    return vit_format_double(number, (double)class);
}

/* The largest and the smallest of the classes that have pictures, and the number of these. */
typedef struct extremes {
    size_t largest, smallest, present;
} extremes;

static extremes find_extremes(const size_t *counts, size_t classes) {
    extremes e = {0};
    for (size_t i = 0; i < classes; i++) {
        if (counts[i] == 0) continue;
        if (e.present == 0) e.largest = e.smallest = i;
        if (counts[i] > counts[e.largest]) e.largest = i;
        if (counts[i] < counts[e.smallest]) e.smallest = i;
        e.present++;
    }
    return e;
}

/* A picture of class c weighs n / (classes n_c), n training pictures, n_c of them of class c. */
static vit_status weigh(vit_run *run, const size_t *counts, const extremes *e, vit_error *error) {
    const size_t classes = run->data.classes;
    double *weights = vit_alloc(classes, sizeof *weights);
    if (!weights) return vit_fail_memory(error, "class weights", classes * sizeof *weights);
    for (size_t i = 0; i < classes; i++)
        if (counts[i] > 0)
            weights[i] = (double)run->loader.train_count / ((double)e->present * (double)counts[i]);
    const vit_status status = vit_trainer_weigh(run->trainer, weights, error);
    vit_free(weights);
    return status;
}

/* Names what the data called the classes: what was read as a class may be meant as something else.
 */
static void note_names(const vit_run *run) {
    const vit_dataset *d = &run->data;
    vit_string text = {0};
    if (!d->label_memory) return;
    for (size_t i = 0; i < d->classes && i < NAMES_SHOWN; i++)
        vit_string_add(&text, "%s%s", i > 0 ? ", " : "", d->labels[i]);
    if (d->classes > NAMES_SHOWN) vit_string_add(&text, ", ...");
    if (!text.failed) vit_run_note(run, "%zu classes: %s", d->classes, text.text);
    vit_string_free(&text);
}

/* counts: [classes], of the training pictures. */
static void note_sizes(const vit_run *run, const size_t *counts, const extremes *e) {
    const vit_dataset *d = &run->data;
    const size_t count = run->loader.train_count;
    const bool init = run->options->init != NULL;
    char large[32], small[32];
    if (count < e->present * (init ? FEW_PICTURES_INIT : FEW_PICTURES))
        vit_run_note(run, "%zu training pictures of %zu classes are too few to learn from%s", count,
                     e->present,
                     init ? ""
                          : ": from random weights it takes some hundreds a class; --init starts "
                            "from a trained model and needs fewer");
    if (e->present == 0 || counts[e->largest] < UNBALANCED * counts[e->smallest]) return;
    vit_run_note(run, "the classes are unbalanced: %zu training pictures of %s, %zu of %s; %s",
                 counts[e->largest], name_of(d, e->largest, large), counts[e->smallest],
                 name_of(d, e->smallest, small),
                 run->preset.recipe.balance ? "each class weighs the same"
                                            : "--balance lets each class weigh the same");
}

/* Pictures that are held back, or are not, and are too few to calibrate by. */
static void note_uncalibrated(const vit_run *run) {
    const size_t held = run->loader.val_count, count = run->loader.train_count;
    if (held >= VIT_TEMPERATURE_PICTURES) return;
    if (held == 0 && !run->options->val.given)
        vit_run_note(
            run,
            "there is no validation set: a tenth of %zu pictures is too few to calibrate, which "
            "takes %d; the probabilities are not calibrated (--val N holds back N)",
            count, VIT_TEMPERATURE_PICTURES);
    else if (held > 0)
        vit_run_note(
            run,
            "%zu are too few to calibrate, which takes a validation set of %d pictures: the "
            "probabilities are not calibrated",
            held, VIT_TEMPERATURE_PICTURES);
}

/* What was asked for and cannot be done. */
static void note_unchosen(const vit_run *run) {
    const vit_train_options *o = run->options;
    if (run->loader.val_count > 0 || (!o->keep_best && o->patience == 0)) return;
    vit_run_note(
        run, "there is no validation set, by which the best epoch would be chosen: the model is "
             "that of the last step; hold some back (--val), or add val/ to a folder");
}

/* Classes that have training pictures, but no test pictures. */
static vit_status note_untested(const vit_run *run, const size_t *counts, vit_error *error) {
    const vit_dataset *d = &run->data;
    size_t untested = 0, first = 0;
    char number[32];
    if (d->test.count == 0) return VIT_OK;
    bool *tested = vit_alloc(d->classes, sizeof *tested);
    if (!tested) return vit_fail_memory(error, "classes", d->classes);
    for (size_t i = 0; i < d->test.count; i++) tested[d->test.labels[i]] = true;
    for (size_t i = d->classes; i-- > 0;) {
        if (tested[i] || counts[i] == 0) continue;
        first = i;
        untested++;
    }
    vit_free(tested);
    if (untested == 1)
        vit_run_note(run, "class %s has no test pictures: its accuracy stays unknown",
                     name_of(d, first, number));
    if (untested > 1)
        vit_run_note(run,
                     "%zu classes, %s among them, have no test pictures: their accuracy stays "
                     "unknown",
                     untested, name_of(d, first, number));
    return VIT_OK;
}

size_t vit_run_largest_class(double *share, const vit_records *records, const uint32_t *numbers,
                             size_t count, size_t classes) {
    size_t most = 0, *counts = NULL;
    *share = 0;
    if (records->labels && count > 0) counts = vit_alloc(classes, sizeof *counts);
    if (!counts) return 0;
    for (size_t i = 0; i < count; i++) counts[records->labels[numbers ? numbers[i] : i]]++;
    for (size_t i = 0; i < classes; i++) most = counts[i] > counts[most] ? i : most;
    *share = (double)counts[most] / (double)count;
    vit_free(counts);
    return most;
}

void vit_run_note_majority(const vit_run *run, double top1) {
    const vit_dataset *d = &run->data;
    char share[32], number[32];
    double majority;
    if (d->classes < 2 || run->preset.recipe.multi_label) return;
    const size_t most = vit_run_largest_class(&majority, &d->test, NULL, d->test.count, d->classes);
    if (majority * (double)d->classes >= UNEVEN && top1 <= majority)
        vit_run_note(run,
                     "%s %% of the test pictures are %s, so that answering it every time would be "
                     "as good%s",
                     vit_format_fixed(share, 100 * majority, 2), name_of(d, most, number),
                     run->preset.recipe.balance ? ""
                                                : "; --balance lets each class weigh the same");
}

vit_status vit_run_check_classes(vit_run *run, vit_error *error) {
    const size_t classes = run->data.classes;
    note_unchosen(run);
    if (classes == 0) return VIT_OK; /* the answers are texts */
    note_names(run);
    note_uncalibrated(run);
    size_t *counts = vit_alloc(classes, sizeof *counts);
    if (!counts) return vit_fail_memory(error, "classes", classes * sizeof *counts);
    const vit_loader *l = &run->loader;
    for (size_t i = 0; i < l->train_count; i++) counts[run->data.train.labels[l->train[i]]]++;
    const extremes e = find_extremes(counts, classes);
    vit_status status = VIT_OK;
    if (run->preset.recipe.balance) status = weigh(run, counts, &e, error);
    if (status == VIT_OK) {
        note_sizes(run, counts, &e);
        status = note_untested(run, counts, error);
    }
    vit_free(counts);
    return status;
}
