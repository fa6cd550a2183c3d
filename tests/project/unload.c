/* A host that loads the library, answers a picture on two threads, unloads it, and goes on.
 * usage: unload libvit.so MODEL PICTURE */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <vit/vit.h>

/* The function of that name in the library. */
#define FIND(name) *(void **)&name##_ = dlsym(library, #name)

int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW);
    vit_model *model;
    vit_session *session;
    float logits[10];
    const vit_session_options two = {.threads = 2};
    vit_status (*vit_model_load_)(vit_model **, const char *, vit_error *);
    vit_status (*vit_session_new_)(vit_session **, const vit_model *, const vit_session_options *,
                                   vit_error *);
    vit_status (*vit_classify_file_)(vit_session *, const char *, float *, vit_error *);
    if (argc < 4 || !library) return puts(dlerror());
    FIND(vit_model_load);
    FIND(vit_session_new);
    FIND(vit_classify_file);
    if (vit_model_load_(&model, argv[2], NULL) != VIT_OK ||
        vit_session_new_(&session, model, &two, NULL) != VIT_OK ||
        vit_classify_file_(session, argv[3], logits, NULL) != VIT_OK)
        return puts("no answer");
    dlclose(library);
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    return 0;
}
