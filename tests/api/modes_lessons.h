/* For test_modes.c alone: lessons that are kept, of vit/teach.h. */
#ifndef VIT_TESTS_API_MODES_LESSONS_H
#define VIT_TESTS_API_MODES_LESSONS_H

#include "tests/api/modes.h"

static const vit_teach_options keeping = {.keep_lessons = true, .no_curve = true};

static vit_teaching *keep(void) {
    vit_teaching *t;
    works(vit_teaching_new(&t, model, &keeping, &error));
    works(vit_teaching_add(t, "one", &(vit_picture){.name = nine}, 1, NULL, &error));
    works(vit_teaching_add(t, "other", &(vit_picture){.name = nine}, 1, NULL, &error));
    return t;
}

static void try_vit_teaching_save_lessons(void) {
    vit_teaching *t = keep();
    vit_status status;
    TRY(status = vit_teaching_save_lessons(t, "written", &error));
    works(status);
    add_file("written");
    unlink("written");
    vit_teaching_free(t);
}

static void try_vit_teaching_load_lessons(void) {
    vit_teaching *t = keep(), *read;
    vit_status status;
    works(vit_teaching_save_lessons(t, "kept", &error));
    works(vit_teaching_new(&read, model, &keeping, &error));
    TRY(status = vit_teaching_load_lessons(read, "kept", &error));
    works(status);
    works(vit_teaching_learn(read, NULL, &error));
    works(vit_teaching_save(read, "written", &error));
    add_file("written");
    unlink("written");
    unlink("kept");
    vit_teaching_free(read);
    vit_teaching_free(t);
}

static void try_vit_teaching_find(void) {
    vit_teaching *t = keep();
    const char *name = strrchr(nine, '/');
    char called[1024];
    size_t index;
    vit_status status;
    snprintf(called, sizeof called, "other/%s", name ? name + 1 : nine);
    TRY(status = vit_teaching_find(&index, t, called, &error));
    works(status);
    add_number((double)index);
    vit_teaching_free(t);
}

#endif
