/* What several processes that train together tell each other before the first step. */
#include "vit/base/cpu.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/train/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool vit_run_writes(const vit_run *run) {
    return vit_cluster_rank(run->options->cluster) == 0;
}

/* ---- whether all do the same training ---- */

enum { VERSION, NETWORK, RECIPE, DATA, INIT, TEACHER, SEED, LENGTH, KEEPING, PROCESSOR, FACTS };
static const char *const names[] = {"version of vit",
                                    "network",
                                    "recipe",
                                    "data (checksum)",
                                    "--init model (checksum)",
                                    "--teacher (checksum)",
                                    "seed",
                                    "length",
                                    "options",
                                    "instruction set, which bfloat16 depends on,"};
VIT_CHECK_ROWS(names, FACTS);

/* texts[FACTS], each followed by a zero byte. */
static vit_status write_facts(vit_string *t, const vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    const vit_recipe *r = &run->preset.recipe;
    char *network = vit_config_write(&run->preset.config), *recipe = vit_recipe_write(r);
    char length[128], keeping[128];
    const bool fine = network && recipe;
    snprintf(length, sizeof length, "%g epochs, %llu/%llu steps, %g minutes", o->epochs,
             (unsigned long long)o->steps, (unsigned long long)o->schedule_steps, o->minutes);
    snprintf(keeping, sizeof keeping,
             "resume %d, overwrite %d, checkpoint %d, keep best %d, patience %zu, report %d, shard "
             "%d, out %d",
             o->resume, o->overwrite, o->checkpoint != NULL, o->keep_best, o->patience,
             o->report || o->tensorboard, o->shard_optimizer, o->out != NULL);
    const char *const facts[FACTS] = {
        [VERSION] = VIT_VERSION,
        [NETWORK] = network,
        [RECIPE] = recipe,
        [DATA] = VIT_DATASET_IDENTITY(&run->data),
        [INIT] = run->start.sha256,
        [TEACHER] = run->teacher.sha256,
        [LENGTH] = length,
        [KEEPING] = keeping,
        [PROCESSOR] = vit_precisions[r->precision].converts ? vit_cpu_name(run->kernels->cpu) : "",
    };
    for (size_t i = 0; i < FACTS && fine; i++) {
        if (i == SEED)
            vit_string_add(t, "%llu", (unsigned long long)o->seed);
        else
            vit_string_add(t, "%s", facts[i]);
        vit_string_add_bytes(t, "", 1);
    }
    vit_free(network);
    vit_free(recipe);
    return fine && !t->failed ? VIT_OK : vit_fail_memory(error, "the options of the ranks", 0);
}

/* Names the first fact that is not rank 0's. */
static vit_status compare(const char *own, const char *first, vit_error *error) {
    for (size_t i = 0; i < FACTS; i++) {
        if (strcmp(own, first) != 0)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "its %s differs from rank 0's: %.300s here, %.300s there", names[i],
                            own, first);
        own += strlen(own) + 1;
        first += strlen(first) + 1;
    }
    return VIT_OK;
}

vit_status vit_run_compare_ranks(const vit_run *run, vit_error *error) {
    vit_cluster *cluster = run->options->cluster;
    vit_string own = {0};
    if (!cluster) return VIT_OK;
    vit_status status = vit_cluster_agree(cluster, write_facts(&own, run, error), error);
    uint64_t size = own.length;
    if (status == VIT_OK) status = vit_cluster_broadcast(cluster, &size, sizeof size, error);
    char *first = status == VIT_OK ? vit_alloc(1, (size_t)size + 1) : NULL;
    if (first && vit_run_writes(run)) memcpy(first, own.text, own.length);
    if (status == VIT_OK && !first) status = vit_fail_memory(error, "options", (size_t)size);
    if (status == VIT_OK) status = vit_cluster_broadcast(cluster, first, (size_t)size, error);
    if (status == VIT_OK)
        status = vit_cluster_agree(cluster, compare(own.text, first, error), error);
    vit_free(first);
    vit_string_free(&own);
    return status;
}

/* ---- processors ---- */

vit_status vit_run_note_binding(const vit_run *run, vit_error *error) {
    const char *text = getenv("OMP_NUM_THREADS");
    const int most = vit_threads_most(), asked = run->options->threads;
    uint64_t wanted = (uint64_t)asked;
    if (!run->options->cluster || (asked == 0 && !(text && vit_parse_u64(text, &wanted))))
        wanted = 0;
    double bound = wanted > (uint64_t)most ? 1 : 0;
    const vit_status status = vit_cluster_sum(run->options->cluster, &bound, 1, error);
    if (status != VIT_OK || !(bound > 0) || !run->options->cluster) return status;
    vit_run_note(run,
                 "%.0f of %d ranks may use fewer processors than the threads that were asked for "
                 "(%s: %d for %llu), and take as many threads as they have processors: if the "
                 "launcher bound them, start with --bind-to none or --map-by slot:PE=N (Open MPI), "
                 "-bind-to none (MPICH), --cpus-per-task=N (srun)",
                 bound, vit_cluster_size(run->options->cluster),
                 vit_cluster_name(run->options->cluster, 0), most, (unsigned long long)wanted);
    return status;
}

/* ---- a checkpoint that rank 0 has loaded ---- */

vit_status vit_run_spread(vit_run *run, uint64_t step, vit_error *error) {
    vit_cluster *cluster = run->options->cluster;
    const size_t bytes = vit_trainer_get(run->trainer).table->size * sizeof(float);
    bool has_best = run->saving.best != NULL;
    if (!cluster) return VIT_OK;
    vit_status status = vit_trainer_spread(run->trainer, step, error);
    if (status == VIT_OK)
        status = vit_cluster_broadcast(cluster, &run->history, sizeof run->history, error);
    if (status == VIT_OK)
        status = vit_cluster_broadcast(cluster, &has_best, sizeof has_best, error);
    if (status != VIT_OK || !has_best) return status;
    if (!run->saving.best) run->saving.best = vit_alloc_unset(1, bytes);
    if (!run->saving.best) return vit_fail_memory(error, "the best weights", bytes);
    return vit_cluster_broadcast(cluster, run->saving.best, bytes, error);
}
