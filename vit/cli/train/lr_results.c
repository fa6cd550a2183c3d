#include "vit/cli/train/lr_results.h"
#include "vit/base/text.h"
#include "vit/formats/json_out.h"
#include <math.h>
#include <stdio.h>

/* The test is not more precise than two digits. */
static const char *two_digits(char text[32], double value) {
    snprintf(text, 32, "%.2g", value);
    return text;
}

bool vit_lr_results(const vit_command *command, const vit_lr_search *found, bool in_json) {
    enum { SHOWN_RATES = 16 };
    char number[32], lr[32];
    double suggested = 0;
    if (isnan(found->suggested) ||
        !vit_parse_double(two_digits(number, found->suggested), &suggested)) {
        suggested = NAN;
    }
    if (in_json) {
        vit_json_out json = {0};
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "event", "find-lr");
        vit_json_number(&json, "suggested", suggested);
        vit_json_number(&json, "preset", found->preset);
        vit_json_numbers(&json, "lr", found->lr, found->count);
        vit_json_numbers(&json, "loss", found->loss, found->count);
        vit_json_close(&json, '}');
        return vit_print_json(command, &json);
    }
    vit_string text = {0};
    vit_string_add(&text, "learning rate   loss\n");
    for (size_t i = 0; i < SHOWN_RATES; i++) {
        const size_t at = i * (found->count - 1) / (SHOWN_RATES - 1);
        vit_string_add(&text, "%13s   %s\n", two_digits(lr, found->lr[at]),
                       vit_format_fixed(number, found->loss[at], 3));
    }
    if (isnan(suggested)) {
        vit_string_add(&text, "the loss never fell: look at the labels, or try another --seed\n");
    } else {
        vit_string_add(&text, "suggested: --lr %s (without it: %s)\n",
                       vit_format_double(number, suggested), vit_format_double(lr, found->preset));
    }
    return vit_print(command, &text);
}
