/* Processor features and the floating-point mode. */
#ifdef __linux__
#define _GNU_SOURCE /* sched_setaffinity */
#endif

#include <fenv.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/cpu.h"
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include "vit/kernels/kernels.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

static void test_names(void **state) {
    const char *const names[] = {"scalar", "sse41",  "neon",       "simd128",
                                 "avx2",   "avx512", "avx512bf16", "amx"};
    for (int i = 0; i < VIT_CPU_COUNT; i++) {
        vit_cpu cpu = VIT_CPU_SCALAR;
        assert_string_equal(vit_cpu_name((vit_cpu)i), names[i]);
        assert_true(vit_cpu_parse(names[i], &cpu));
        assert_int_equal(cpu, i);
    }
    vit_cpu cpu = VIT_CPU_AVX2;
    assert_false(vit_cpu_parse("avx", &cpu));
    assert_false(vit_cpu_parse("AVX2", &cpu));
    assert_false(vit_cpu_parse("", &cpu));
    assert_int_equal(cpu, VIT_CPU_AVX2);
}

/* The compiler's own detection, which also asks the operating system. */
static void test_detection_agrees_with_the_compiler(void **state) {
#if defined(__x86_64__)
    vit_cpu expected = VIT_CPU_SCALAR;
    if (__builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1"))
        expected = VIT_CPU_SSE41;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        expected = VIT_CPU_AVX2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
            expected = __builtin_cpu_supports("avx512bf16") ? VIT_CPU_AVX512BF16 : VIT_CPU_AVX512;
        }
    }
    const vit_cpu found = vit_cpu_detect(); /* the compiler does not know of AMX */
    assert_int_equal(found == VIT_CPU_AMX ? VIT_CPU_AVX512BF16 : found, expected);
#elif defined(__aarch64__)
    assert_int_equal(vit_cpu_detect(), VIT_CPU_NEON);
#elif defined(__wasm__)
    assert_int_equal(vit_cpu_detect(), VIT_CPU_SIMD128);
#else
    assert_int_equal(vit_cpu_detect(), VIT_CPU_SCALAR);
#endif
}

/* Whether tiles can be used is known without a signal in this process: where there are none, it is
 * a child that they end. */
static void test_tiles_are_tried(void **state) {
    const char *missing = vit_cpu_tiles_missing();
    assert_ptr_equal(vit_cpu_tiles_missing(), missing);
    assert_int_equal(vit_cpu_try_tiles(), missing == NULL);
    assert_true(missing || vit_cpu_detect() >= VIT_CPU_AMX);
    assert_true(vit_kernels_choose(VIT_CPU_AMX)->cpu <
                (missing ? VIT_CPU_AMX : (int)VIT_CPU_COUNT));
}

static void test_brand_fits_any_buffer(void **state) {
    char whole[64], part[64];
    vit_cpu_brand(whole, sizeof whole);
    size_t length = strlen(whole);
    assert_true(length > 0 && whole[0] != ' ' && whole[length - 1] != ' ');
    assert_null(strstr(whole, "  "));
    for (int size = 0; size < (int)sizeof part; size++) {
        memset(part, 'x', sizeof part);
        vit_cpu_brand(part, size);
        size_t expected = size == 0 ? 0 : (size_t)size - 1 < length ? (size_t)size - 1 : length;
        assert_memory_equal(part, whole, expected);
        assert_true(size == 0 || part[expected] == '\0');
        assert_int_equal(part[size == 0 ? 0 : expected + 1], 'x');
    }
}

static void test_count(void **state) {
    const int count = vit_cpu_count();
    assert_in_range(count, 1, 1 << 20);
#ifdef __linux__
    cpu_set_t before, one;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    const int quota = vit_cpu_quota("");
    assert_int_equal(count, quota > 0 && quota < CPU_COUNT(&before) ? quota : CPU_COUNT(&before));
    size_t first = 0;
    while (!CPU_ISSET(first, &before)) first++;
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const int alone = vit_cpu_count();
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(alone, 1);
#endif
}

/* Volatile, results too, so that the processor computes these here and in the mode of the moment.
 */
static double denormal_sum(void) {
    volatile double tiny = 0x1p-1074;
    volatile double sum = tiny + tiny;
    return sum;
}

static double small_product(void) {
    volatile double a = 0x1p-1000, b = 0x1p-50;
    volatile double product = a * b;
    return product;
}

static double third(void) {
    volatile double one = 1, three = 3;
    volatile double quotient = one / three;
    return quotient;
}

static void test_mode_is_entered_and_left(void **state) {
    fenv_t before;
    fegetenv(&before);
    const double nearest = third();
    fesetround(FE_UPWARD);
#if defined(__SSE__)
    const unsigned flush_and_zero = 0x8040;
    _mm_setcsr(_mm_getcsr() | flush_and_zero);
    const unsigned host = _mm_getcsr();
    assert_true(denormal_sum() == 0);
    assert_true(small_product() == 0);
#endif
    const double upward = third();
    assert_true(upward > nearest);

    vit_fpmode mode = vit_fpmode_enter();
    const double inside[] = {denormal_sum(), small_product(), third()};
    const int rounding = fegetround();
    vit_fpmode_leave(&mode);

    const double after = third();
    const int rounding_after = fegetround();
#if defined(__SSE__)
    const unsigned mask = 0xffc0; /* all but the flags */
    const unsigned host_after = _mm_getcsr();
    assert_true(denormal_sum() == 0);
    assert_int_equal(host_after & mask, host & mask);
#endif
    fesetenv(&before);
    assert_true(inside[0] == 0x1p-1073);
    assert_true(inside[1] == 0x1p-1050);
    assert_true(inside[2] == nearest);
    assert_int_equal(rounding, FE_TONEAREST);
    assert_true(after == upward);
    assert_int_equal(rounding_after, FE_UPWARD);
}

/* A host that traps divisions by zero must not die inside, and traps again afterwards. */
static void test_traps_are_masked_inside(void **state) {
#if defined(__SSE__)
    const unsigned usual = _mm_getcsr();
    const unsigned all_traps = usual & ~0x1f80u & ~0x3fu;
    _mm_setcsr(all_traps);
    vit_fpmode mode = vit_fpmode_enter();
    volatile double one = 1, zero = 0;
    volatile double infinite = one / zero, invalid = zero / zero;
    vit_fpmode_leave(&mode);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(usual);
    assert_true(infinite > 1e308);
    assert_true(invalid != invalid);
    assert_int_equal(after, all_traps);
#else
    skip(); /* no trap control that all systems share */
#endif
}

/* ---- control groups ---- */

static void put(const char *directory, const char *name, const char *text) {
    char path[256];
    for (const char *slash = directory; (slash = strchr(slash + 1, '/')) != NULL;) {
        snprintf(path, sizeof path, "%.*s", (int)(slash - directory), directory);
        assert_int_equal(vit_make_directory(path, NULL), VIT_OK);
    }
    assert_int_equal(vit_make_directory(directory, NULL), VIT_OK);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    put_file(path, text);
}

static void test_quota_of_version_2(void **state) {
    assert_int_equal(vit_cpu_quota("r"), 0);
    put("r/proc/self", "cgroup", "0::/a/b\n");
    assert_int_equal(vit_cpu_quota("r"), 0);
    put("r/sys/fs/cgroup/a/b", "cpu.max", "max 100000\n");
    assert_int_equal(vit_cpu_quota("r"), 0);
    put("r/sys/fs/cgroup/a", "cpu.max", "450000 100000\n"); /* of the group above */
    assert_int_equal(vit_cpu_quota("r"), 5);
    put("r/sys/fs/cgroup/a/b", "cpu.max", "150000 100000\n");
    assert_int_equal(vit_cpu_quota("r"), 2);
    put("r/sys/fs/cgroup/a/b", "cpu.max", "1000 100000\n");
    assert_int_equal(vit_cpu_quota("r"), 1);
    put("r/sys/fs/cgroup/a/b", "cpu.max", "nonsense");
    assert_int_equal(vit_cpu_quota("r"), 5);
    put("r/proc/self", "cgroup", "0::/\n"); /* all that a container sees */
    put("r/sys/fs/cgroup", "cpu.max", "300000 100000\n");
    assert_int_equal(vit_cpu_quota("r"), 3);
}

static void test_quota_of_version_1(void **state) {
    put("r/proc/self", "cgroup", "5:memory:/x\n4:cpu,cpuacct:/docker/1234\n0::/\n");
    put("r/sys/fs/cgroup/cpu", "cpu.cfs_period_us", "100000\n");
    put("r/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "-1\n");
    assert_int_equal(vit_cpu_quota("r"), 0);
    put("r/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "250000\n");
    assert_int_equal(vit_cpu_quota("r"), 3);
    put("r/proc/self", "cgroup", "without colons\n::\n");
    put("r/sys/fs/cgroup", "cpu.max", "");
    assert_int_equal(vit_cpu_quota("r"), 0);
}

/* Tests of kernels compare the sets that this host has; one that it lacks is skipped here. */
static void test_set(void **state) {
    const vit_cpu *set = *state;
    if (vit_kernels_choose(*set)->cpu != *set) skip();
}

int main(void) {
    static vit_cpu sets[VIT_CPU_COUNT];
    struct CMUnitTest legs[VIT_CPU_COUNT];
    for (size_t i = 0; i < VIT_CPU_COUNT; i++) {
        sets[i] = (vit_cpu)i;
        legs[i] = (struct CMUnitTest){vit_cpu_name(sets[i]), test_set, NULL, NULL, &sets[i]};
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_detection_agrees_with_the_compiler),
        cmocka_unit_test(test_tiles_are_tried),
        cmocka_unit_test(test_brand_fits_any_buffer),
        cmocka_unit_test(test_count),
        IN_DIRECTORY(test_quota_of_version_2),
        IN_DIRECTORY(test_quota_of_version_1),
        cmocka_unit_test(test_mode_is_entered_and_left),
        cmocka_unit_test(test_traps_are_masked_inside),
    };
    const int failed = cmocka_run_group_tests_name("sets", legs, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
