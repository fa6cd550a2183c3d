/* For test_modes.c alone: lessons that are kept, of vit/few_shot.h. */
#ifndef VIT_TESTS_API_MODES_LESSONS_H
#define VIT_TESTS_API_MODES_LESSONS_H

#include "tests/api/modes.h"

static const vit_few_shot_options keeping = {.keep_lessons = true, .no_curve = true};

static vit_few_shot *keep(void) {
    vit_few_shot *t;
    works(vit_few_shot_new(&t, model, &keeping, &error));
    works(vit_few_shot_add(t, "one", &(vit_picture){.name = nine}, 1, NULL, &error));
    works(vit_few_shot_add(t, "other", &(vit_picture){.name = nine}, 1, NULL, &error));
    return t;
}

static void try_vit_few_shot_save_lessons(void) {
    vit_few_shot *t = keep();
    vit_status status;
    TRY(status = vit_few_shot_save_lessons(t, "written", &error));
    works(status);
    add_file("written");
    unlink("written");
    vit_few_shot_free(t);
}

static void try_vit_few_shot_load_lessons(void) {
    vit_few_shot *t = keep(), *read;
    vit_status status;
    works(vit_few_shot_save_lessons(t, "kept", &error));
    works(vit_few_shot_new(&read, model, &keeping, &error));
    TRY(status = vit_few_shot_load_lessons(read, "kept", &error));
    works(status);
    works(vit_few_shot_learn(read, NULL, &error));
    works(vit_few_shot_save(read, "written", &error));
    add_file("written");
    unlink("written");
    unlink("kept");
    vit_few_shot_free(read);
    vit_few_shot_free(t);
}

static void try_vit_few_shot_find(void) {
    vit_few_shot *t = keep();
    const char *name = strrchr(nine, '/');
    char called[1024];
    size_t index;
    vit_status status;
    snprintf(called, sizeof called, "other/%s", name ? name + 1 : nine);
    TRY(status = vit_few_shot_find(&index, t, called, &error));
    works(status);
    add_number((double)index);
    vit_few_shot_free(t);
}

#endif
