#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/cli/parts/coverage.h"

const char *const vit_set_scores[] = {"lac", "aps", "raps", NULL};
VIT_CHECK_ROWS(vit_set_scores, VIT_CONFORMAL_COUNT + 1);

bool vit_sets_asked(const vit_coverage_choice *c) {
    return c->coverage > 0 || c->abstain_below.given || c->answered_right > 0;
}

bool vit_coverage_asked(const vit_coverage_choice *c) {
    return vit_sets_asked(c) || c->unknown > 0;
}

char *vit_calibration_beside(const char *model) {
    vit_string path = {0};
    if (vit_path_look(model) == VIT_PATH_DIRECTORY)
        vit_string_add(&path, "%s/model.calibration", model);
    else
        vit_string_add(&path, "%.*s.calibration", (int)vit_stem_length(model, ".safetensors"),
                       model);
    if (path.failed) vit_string_free(&path);
    return path.text;
}

const char *vit_coverage_contradiction(const vit_coverage_choice *c) {
    if (c->calibration && !vit_coverage_asked(c))
        return "--calibration FILE is for --coverage, --answered-right and --unknown";
    if (c->coverage >= 1) return "--coverage is below 1: a set of all classes would hold it always";
    if (c->unknown >= 1) return "--unknown is below 1: a share of false alarms, such as 0.01";
    if (c->abstain_below.given && c->answered_right > 0)
        return "--abstain-below and --answered-right exclude each other";
    if (c->by_class && c->coverage <= 0 && c->answered_right <= 0)
        return "--by-class is for --coverage P and --answered-right P";
    return c->score > 0 && c->coverage <= 0 ? "--set-score is for sets, which --coverage P asks for"
                                            : NULL;
}
