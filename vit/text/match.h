/* Two lists of classes meet by name: those of data and of a model, of a teacher, of two joined
 * sets, of a checkpoint. Their order in the lists means nothing. */
#ifndef VIT_TEXT_MATCH_H
#define VIT_TEXT_MATCH_H

#include "vit/base/error.h"
#include "vit/base/text.h"

/* Names that look alike are written alike; of the list `guests`. Without a guest for it, names are
 * alike if their bytes are equal. */
typedef struct vit_text_form {
    void (*add)(vit_string *out, const char *text); /* vit_string_add_decomposed */
} vit_text_form;

extern const vit_text_form *const vit_text_forms;

/* Appends a name of a class in the form in which it is compared. */
void vit_string_add_name(vit_string *out, const char *name);

typedef struct vit_classes {
    const char *const *names; /* [count]; NULL: the classes are the numbers from 0 on */
    size_t count;
} vit_classes;

/* How the lists were matched. */
typedef enum vit_match_by {
    VIT_BY_NAME,   /* the usual case; numbers that stand on both sides are names, too */
    VIT_BY_NUMBER, /* one side has numbers alone, which are indices of the other side's names */
    VIT_BY_ORDER,  /* one side has no names, and there are as many classes on both sides */
    VIT_BY_COUNT,
} vit_match_by;

#define VIT_NO_CLASS SIZE_MAX

typedef struct vit_match {
    size_t *to; /* [count of `from`] the class of `to` with the same name, or VIT_NO_CLASS; owned */
    size_t count;
    vit_match_by by;
    size_t lost;       /* classes without a partner */
    size_t first_lost; /* the first of them */
    bool moved;        /* some partner has another place, or there are more classes on one side */
} vit_match;

/* For each class of `from` its partner in `to`. Names are equal if their Unicode decompositions
 * are. Of names that a list has several times the first meets the first, if the other list has as
 * many; else none of them has a partner. Numbers alone ("0", "1", ...) in `from`, of which `to` has
 * none among its names, are indices; the same number written in two ways ("7", "07") is one name
 * where all of both are numbers. Names of `from` meet a `to` without names in their order, if there
 * are as many. *out is freed by vit_match_free. Errors: MEMORY. */
vit_status vit_match_classes(vit_match *out, const vit_classes *from, const vit_classes *to,
                             vit_error *error);
void vit_match_free(vit_match *match);

/* Sets lost, first_lost and moved from match->to, whose classes are `others`. */
void vit_match_count(vit_match *match, size_t others);

/* The name of class `index`, or its number, written to `number`. */
const char *vit_class_name(const vit_classes *classes, size_t index, char number[32]);

/* What a person should know where the names alone did not decide, "%s" and "%s" being `from` and
 * `to` in words ("the data", "the model"): a sentence in `text`; NULL: there is nothing to say. */
const char *vit_match_said(char text[256], const vit_match *match, const char *from,
                           const char *to);

/* names = the first few names of a list, for messages: "cat, dog, eel and 7 more". */
void vit_classes_shown(char names[256], const vit_classes *classes);

#endif
