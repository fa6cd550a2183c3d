/* The confusion matrix of an evaluation, as files. */
#ifndef VIT_CLI_EVALUATE_CONFUSION_H
#define VIT_CLI_EVALUATE_CONFUSION_H

#include "vit/vit.h"

/* What the files begin with. */
extern const char vit_confusion_csv_head[], vit_confusion_svg_head[];

/* A table: rows are true classes, columns are answers. */
vit_status vit_confusion_csv(const char *file, const vit_model *model, const vit_evaluation *result,
                             vit_error *error);

/* The same as a picture with the names of the classes: the darker a cell, the larger its share of
 * its row; right answers are green, wrong ones red. UNSUPPORTED for more than 200 classes. */
vit_status vit_confusion_svg(const char *file, const vit_model *model, const vit_evaluation *result,
                             vit_error *error);

#endif
