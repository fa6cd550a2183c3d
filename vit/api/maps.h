/* What maps and matrices of a picture begin with. */
#ifndef VIT_API_MAPS_H
#define VIT_API_MAPS_H

#include "vit/explain/explainer.h"
#include "vit/vit.h"

/* The session's explainer, made when it is first needed. UNSUPPORTED for models of texts. */
vit_status vit_session_explainer(vit_explainer **out, vit_session *session, vit_error *error);

/* *image: [height][width][channels], the normalised picture, freed by vit_free: `values`, or if
 * that is NULL what `pixels` become. */
vit_status vit_session_image(float **image, const vit_session *session, const uint8_t *pixels,
                             const float *values, vit_error *error);

#endif
