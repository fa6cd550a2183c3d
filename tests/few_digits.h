/* A data set of a few drawn digits. To draw those of "digits" and to test with 2,000 takes longer
 * than a few steps of training do. */
#ifndef VIT_TESTS_FEW_DIGITS_H
#define VIT_TESTS_FEW_DIGITS_H

#include "vit/vit.h"

/* 500 to train on, 50 for the test; as long as the process lives. One thread at a time. */
const vit_arrays *few_digits(void);

#endif
