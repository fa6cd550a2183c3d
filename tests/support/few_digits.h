/* A small data set of drawn digits, for tests that train a few steps: drawing all of "digits", and
 * testing on 2,000 pictures, takes longer than these steps. */
#ifndef VIT_TESTS_SUPPORT_FEW_DIGITS_H
#define VIT_TESTS_SUPPORT_FEW_DIGITS_H

#include "vit/vit.h"

/* 500 training and 50 test pictures, in static memory. Not thread-safe. */
const vit_arrays *few_digits(void);

#endif
