#include "vit/base/build.h"

const char *vit_picture_formats(void) {
    return vit_more_format_names ? vit_more_format_names->all : VIT_CORE_FORMATS;
}
