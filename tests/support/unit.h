/* cmocka, and the headers that it wants before itself. */
#ifndef VIT_TESTS_SUPPORT_UNIT_H
#define VIT_TESTS_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
