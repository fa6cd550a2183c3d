/* A program that reads files of strangers gives up what it does not need, before it opens one: then
 * a fault in a decoder can read nothing else, write nothing, start no program and reach no other
 * machine. Landlock (Linux 5.13) limits the files, seccomp the calls of the system; neither needs a
 * library or a privilege.
 *
 *     vit_sandbox box;
 *     vit_sandbox_open(&box, &choice);
 *     vit_sandbox_read(&box, "model.safetensors", false);
 *     vit_sandbox_enter(&box, &command, &error);         no thread was started yet
 *     vit_sandbox_seal(&box, &command, &error);          no socket is opened any more
 */
#ifndef VIT_CLI_PARTS_SANDBOX_H
#define VIT_CLI_PARTS_SANDBOX_H

#include "vit/cli/parts/program.h"

enum { VIT_SANDBOX_ON, VIT_SANDBOX_OFF };
extern const char *const vit_sandbox_words[]; /* "on", "off", NULL */

/* The row of --sandbox; where: what of the program's paths can be read then. */
#define VIT_SANDBOX_OPTION(settings, member, where)                       \
    {                                                                     \
        VIT_OPTION(CHOICE, "sandbox", member, "HOW"),                     \
            .optional = true,                                             \
            .help = "on or off: on Linux the program cannot open other\n" \
                    "files than " where ", start\n"                       \
                    "programs or open connections (default: on where\n"   \
                    "the system can)",                                    \
            .choices = vit_sandbox_words, .also = VIT_EVERYWHERE          \
    }

typedef struct vit_sandbox {
    int rules; /* a descriptor; -1: there are none */
    bool must; /* it was asked for: without it the program does not go on */
    bool off;
    bool untaken;     /* the system knows no rules, though it made a set of them */
    const char *lack; /* why there is none, a sentence; NULL: there is one */
} vit_sandbox;

void vit_sandbox_open(vit_sandbox *box, const vit_optional *choice);

/* Lets a path be read: a file, or a directory with all that is in it and what links in it lead to.
 * beside: all that lies in the file's directory, too, since it may be replaced, or others belong to
 * it. What is not there, or NULL, changes nothing. */
void vit_sandbox_read(vit_sandbox *box, const char *path, bool beside);

/* A model by name or path, with what lies beside it, and where backbones of heads are looked for.
 */
void vit_sandbox_read_model(vit_sandbox *box, const char *name);

/* What the options of a program say of its model: config, labels and templates that are files. */
void vit_sandbox_read_choice(vit_sandbox *box, const vit_model_choice *from);

/* The directory DATA, or where data sets are looked for by name. */
void vit_sandbox_read_data(vit_sandbox *box, const char *data);

/* Lets empty directories in a directory be removed. */
void vit_sandbox_clear(vit_sandbox *box, const char *directory);

/* Lets files be made, written and removed in a directory, or in that of a file. */
void vit_sandbox_write(vit_sandbox *box, const char *path);

/* From now on this thread, and those that it starts, open only such files. says: the program that
 * says so if it has no sandbox, or NULL; it goes on unless it was asked for. */
vit_status vit_sandbox_enter(vit_sandbox *box, const vit_command *says, vit_error *error);

/* From now on all threads start no program and no process, and open no socket. */
vit_status vit_sandbox_seal(vit_sandbox *box, const vit_command *says, vit_error *error);

#endif
