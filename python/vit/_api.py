"""Made from vit/vit.h and the other public headers by generate.py: do not edit."""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p,
                    c_double, c_float, c_int, c_int64, c_size_t, c_uint8, c_uint32,
                    c_uint64, c_void_p)

VERSION = "0.2.0"

VIT_PRECISION_F32 = 0
VIT_PRECISION_BF16 = 1
VIT_PRECISION_INT8 = 2
VIT_PRECISION_COUNT = 3
VIT_BF16_ANY = 0
VIT_BF16_PAIRS = 1
VIT_BF16_TILES = 2
VIT_BF16_COUNT = 3
VIT_OK = 0
VIT_ERROR_ARGUMENT = 1
VIT_ERROR_MEMORY = 2
VIT_ERROR_IO = 3
VIT_ERROR_FORMAT = 4
VIT_ERROR_UNSUPPORTED = 5
VIT_ERROR_MISMATCH = 6
VIT_ERROR_CANCELLED = 7
VIT_SCORING_SOFTMAX = 0
VIT_SCORING_SIGMOID = 1
VIT_SCORING_NONE = 2
VIT_SCORING_COUNT = 3
VIT_ORIENTATION_MODEL = 0
VIT_ORIENTATION_EXIF = 1
VIT_ORIENTATION_NEVER = 2
VIT_ORIENTATION_COUNT = 3
VIT_SPLIT_TEST = 0
VIT_SPLIT_TRAIN = 1
VIT_SPLIT_VAL = 2
VIT_EVENT_START = 0
VIT_EVENT_STEP = 1
VIT_EVENT_EPOCH = 2
VIT_EVENT_CHECKPOINT = 3
VIT_EVENT_NOTE = 4
VIT_EVENT_DONE = 5
VIT_EVENT_POINT = 6
VIT_METHOD_ATTENTION = 0
VIT_METHOD_ROLLOUT = 1
VIT_METHOD_RELEVANCE = 2
VIT_METHOD_GRADCAM = 3
VIT_METHOD_GRADIENT = 4
VIT_METHOD_INTEGRATED = 5
VIT_METHOD_OCCLUSION = 6
VIT_METHOD_RANDOM = 7
VIT_METHOD_LENS = 8
VIT_METHOD_SIMILARITY = 9
VIT_METHOD_POSITIONS = 10
VIT_METHOD_COUNT = 11
VIT_QUERY_DEFAULT = 0
VIT_QUERY_TOKEN = 1
VIT_QUERY_MEAN = 2
VIT_QUERY_POOL = 3
VIT_QUERY_ALL = 4
VIT_QUERY_COUNT = 5
VIT_FUSE_MEAN = 0
VIT_FUSE_MAX = 1
VIT_FUSE_MIN = 2
VIT_FUSE_COUNT = 3
VIT_EARLY_STOPPING_FALSE = 0
VIT_EARLY_STOPPING_TRUE = 1
VIT_EARLY_STOPPING_NEVER = 2
VIT_EARLY_STOPPING_COUNT = 3
VIT_CONFORMAL_LAC = 0
VIT_CONFORMAL_APS = 1
VIT_CONFORMAL_RAPS = 2
VIT_CONFORMAL_COUNT = 3
VIT_OOD_SOFTMAX = 0
VIT_OOD_ENERGY = 1
VIT_OOD_KNN = 2
VIT_OOD_MAHALANOBIS = 3
VIT_OOD_COUNT = 4

vit_note = CFUNCTYPE(None, c_char_p, c_void_p)

vit_map_callback = CFUNCTYPE(c_bool, c_void_p)

vit_few_shot_callback = CFUNCTYPE(c_bool, c_void_p)


class vit_error(Structure):
    _fields_ = [
        ("status", c_int),
        ("message", c_char * 1024),
    ]


class vit_optional(Structure):
    _fields_ = [
        ("given", c_bool),
        ("value", c_double),
    ]


class vit_model_info(Structure):
    _fields_ = [
        ("height", c_size_t),
        ("width", c_size_t),
        ("channels", c_size_t),
        ("patch", c_size_t),
        ("dim", c_size_t),
        ("depth", c_size_t),
        ("heads", c_size_t),
        ("mlp", c_size_t),
        ("prefix", c_size_t),
        ("registers", c_size_t),
        ("tokens", c_size_t),
        ("rows", c_size_t),
        ("columns", c_size_t),
        ("features", c_size_t),
        ("classes", c_size_t),
        ("has_head", c_bool),
        ("parameters", c_size_t),
        ("multiply_adds", c_size_t),
        ("config", c_char_p),
        ("preprocessing", c_char_p),
        ("recipe", c_char_p),
        ("temperature", c_double),
        ("threshold", c_double),
        ("scoring", c_int),
        ("precision", c_int),
    ]


class vit_model_options(Structure):
    _fields_ = [
        ("config", c_char_p),
        ("emulate", c_char_p),
        ("labels", c_char_p),
        ("height", c_size_t),
        ("width", c_size_t),
        ("exif_orientation", c_int),
        ("cpu", c_char_p),
        ("precision", c_int),
        ("bf16", c_int),
        ("threads", c_int),
        ("in_place", c_bool),
    ]


class vit_convert_options(Structure):
    _fields_ = [
        ("in", c_char_p),
        ("config", c_char_p),
        ("emulate", c_char_p),
        ("labels", c_char_p),
        ("out", c_char_p),
        ("layout", c_char_p),
        ("type", c_char_p),
        ("force", c_bool),
        ("calibrate", c_char_p),
        ("calibrate_pictures", c_size_t),
        ("cpu", c_char_p),
        ("note", c_void_p),
        ("user", c_void_p),
    ]


class vit_session_options(Structure):
    _fields_ = [
        ("threads", c_int),
        ("cpu", c_char_p),
        ("precision", c_int),
        ("bf16", c_int),
    ]


class vit_picture(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("bytes", c_void_p),
        ("size", c_size_t),
        ("pixels", POINTER(c_uint8)),
        ("width", c_size_t),
        ("height", c_size_t),
        ("channels", c_size_t),
        ("stride", c_size_t),
        ("is_regular_file", c_bool),
    ]


class vit_answer(Structure):
    _fields_ = [
        ("error", vit_error),
        ("warning", c_char_p),
    ]


class vit_array_part(Structure):
    _fields_ = [
        ("images", POINTER(c_uint8)),
        ("labels", POINTER(c_int64)),
        ("count", c_size_t),
    ]


class vit_arrays(Structure):
    _fields_ = [
        ("height", c_size_t),
        ("width", c_size_t),
        ("channels", c_size_t),
        ("classes", c_size_t),
        ("names", POINTER(c_char_p)),
        ("train", vit_array_part),
        ("val", vit_array_part),
        ("test", vit_array_part),
    ]


class vit_evaluated(Structure):
    _fields_ = [
        ("file", c_char_p),
        ("index", c_size_t),
        ("label", c_size_t),
        ("answer", c_size_t),
        ("logits", POINTER(c_float)),
        ("probabilities", POINTER(c_float)),
    ]


class vit_evaluate_options(Structure):
    _fields_ = [
        ("data", c_char_p),
        ("class_column", c_char_p),
        ("exclude", c_char_p),
        ("relabel", c_char_p),
        ("near_duplicates", c_char_p),
        ("tag_branch", c_char_p),
        ("arrays", POINTER(vit_arrays)),
        ("split", c_int),
        ("batch", c_size_t),
        ("threads", c_int),
        ("cpu", c_char_p),
        ("precision", c_int),
        ("bf16", c_int),
        ("note", vit_note),
        ("picture", c_void_p),
        ("list_unreadable", c_bool),
        ("user", c_void_p),
        ("cluster", c_void_p),
    ]


class vit_reliability(Structure):
    _fields_ = [
        ("images", c_size_t),
        ("confidence", c_double),
        ("accuracy", c_double),
    ]


class vit_unknown_class(Structure):
    _fields_ = [
        ("label", c_char_p),
        ("images", c_size_t),
    ]


class vit_evaluation(Structure):
    _fields_ = [
        ("images", c_size_t),
        ("correct", c_size_t),
        ("top1", c_double),
        ("top5", c_double),
        ("loss", c_double),
        ("seconds", c_double),
        ("data", c_char * 256),
        ("which", c_char_p),
        ("seen", c_bool),
        ("classes", c_size_t),
        ("confusion", POINTER(c_size_t)),
        ("temperature", c_double),
        ("ece", c_double),
        ("below_threshold", c_size_t),
        ("below_threshold_wrong", c_size_t),
        ("brier", c_double),
        ("bins", vit_reliability * 15),
        ("sequences_right", c_double),
        ("tokens_right", c_double),
        ("edit_distance", c_double),
        ("entropy", c_double),
        ("matched_by", c_char_p),
        ("unknown_images", c_size_t),
        ("unknown_classes", c_size_t),
        ("unknown", POINTER(vit_unknown_class)),
    ]


class vit_event(Structure):
    _fields_ = [
        ("kind", c_int),
        ("preset", c_char_p),
        ("data", c_char_p),
        ("recipe", c_char_p),
        ("network", c_char_p),
        ("parameters", c_size_t),
        ("train_images", c_size_t),
        ("val_images", c_size_t),
        ("batch", c_size_t),
        ("step", c_uint64),
        ("steps", c_uint64),
        ("epoch", c_double),
        ("epochs", c_double),
        ("loss", c_double),
        ("grad_norm", c_double),
        ("lr", c_double),
        ("mean_over", c_uint64),
        ("val_top1", c_double),
        ("val_loss", c_double),
        ("test_top1", c_double),
        ("images_per_second", c_double),
        ("seconds", c_double),
        ("seconds_left", c_double),
        ("step_sent", c_double),
        ("step_received", c_double),
        ("communication", c_double),
        ("overlap", c_double),
        ("path", c_char_p),
        ("text", c_char_p),
        ("classes_from", c_char_p),
        ("from_pictures", c_bool),
        ("to_texts", c_bool),
        ("is_detail", c_bool),
    ]


vit_callback = CFUNCTYPE(c_bool, POINTER(vit_event), c_void_p)


class vit_train_options(Structure):
    _fields_ = [
        ("data", c_char_p),
        ("arrays", POINTER(vit_arrays)),
        ("class_column", c_char_p),
        ("exclude", c_char_p),
        ("relabel", c_char_p),
        ("tag_branch", c_char_p),
        ("near_duplicates", c_char_p),
        ("preset", c_char_p),
        ("set", POINTER(c_char_p)),
        ("set_count", c_size_t),
        ("height", c_size_t),
        ("width", c_size_t),
        ("init", c_char_p),
        ("config", c_char_p),
        ("out", c_char_p),
        ("checkpoint", c_char_p),
        ("save_minutes", c_double),
        ("report", c_char_p),
        ("tensorboard", c_char_p),
        ("resume", c_bool),
        ("rescue", c_char_p),
        ("overwrite", c_bool),
        ("keep_best", c_bool),
        ("patience", c_size_t),
        ("epochs", c_double),
        ("steps", c_uint64),
        ("schedule_steps", c_uint64),
        ("minutes", c_double),
        ("batch", c_size_t),
        ("gradient_accumulation", c_size_t),
        ("lr", c_double),
        ("freeze", c_size_t),
        ("layer_decay", c_double),
        ("teacher", c_char_p),
        ("val", vit_optional),
        ("empty_classes", c_bool),
        ("splits_are_classes", c_bool),
        ("seed", c_uint64),
        ("threads", c_int),
        ("activation_checkpointing", c_bool),
        ("cpu", c_char_p),
        ("precision", c_int),
        ("callback", vit_callback),
        ("user", c_void_p),
        ("cluster", c_void_p),
        ("shard_optimizer", c_bool),
    ]


class vit_lr_search(Structure):
    _fields_ = [
        ("suggested", c_double),
        ("preset", c_double),
        ("count", c_size_t),
        ("lr", c_double * 160),
        ("loss", c_double * 160),
    ]


class vit_tensor_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_char_p),
        ("dims", c_size_t),
        ("shape", c_size_t * 8),
        ("count", c_size_t),
    ]


class vit_tensor_statistics(Structure):
    _fields_ = [
        ("min", c_double),
        ("max", c_double),
        ("mean", c_double),
        ("std", c_double),
        ("finite", c_size_t),
    ]


class vit_map_options(Structure):
    _fields_ = [
        ("method", c_int),
        ("class_index", vit_optional),
        ("layer", vit_optional),
        ("head", vit_optional),
        ("fused", c_bool),
        ("fuse", c_int),
        ("query", c_int),
        ("token", c_size_t),
        ("steps", c_size_t),
        ("discard", c_double),
        ("seed", c_uint64),
        ("values", POINTER(c_float)),
        ("goes_on", vit_map_callback),
        ("user", c_void_p),
    ]


class vit_map(Structure):
    _fields_ = [
        ("dims", c_size_t),
        ("shape", c_size_t * 3),
        ("rows", c_size_t),
        ("columns", c_size_t),
        ("values", POINTER(c_float)),
        ("class_index", c_size_t),
        ("probability", c_double),
        ("outliers", POINTER(c_bool)),
        ("name", c_char * 64),
        ("input", POINTER(c_float)),
    ]


class vit_buffer(Structure):
    _fields_ = [
        ("data", POINTER(c_uint8)),
        ("size", c_size_t),
    ]


class vit_curves(Structure):
    _fields_ = [
        ("step", c_size_t),
        ("points", c_size_t),
        ("deletion", POINTER(c_float)),
        ("insertion", POINTER(c_float)),
        ("deletion_area", c_double),
        ("insertion_area", c_double),
    ]


class vit_page_options(Structure):
    _fields_ = [
        ("title", c_char_p),
        ("layers", POINTER(c_size_t)),
        ("heads", POINTER(c_size_t)),
        ("layer_count", c_size_t),
        ("head_count", c_size_t),
        ("first", POINTER(vit_map_options)),
        ("values", POINTER(c_float)),
    ]


class vit_layer(Structure):
    _fields_ = [
        ("layer", c_size_t),
        ("heads", c_size_t),
        ("tokens", c_size_t),
        ("attention", POINTER(c_float)),
        ("states", POINTER(c_float)),
        ("logits", POINTER(c_float)),
    ]


vit_layer_callback = CFUNCTYPE(c_bool, POINTER(vit_layer), c_void_p)


class vit_answer_matrix(Structure):
    _fields_ = [
        ("name", c_char * 48),
        ("rows", c_size_t),
        ("columns", c_size_t),
        ("token_rows", c_bool),
        ("token_columns", c_bool),
        ("values", POINTER(c_float)),
    ]


class vit_answer_matrices(Structure):
    _fields_ = [
        ("count", c_size_t),
        ("capacity", c_size_t),
        ("items", POINTER(vit_answer_matrix)),
        ("prefix", c_size_t),
        ("grid_rows", c_size_t),
        ("grid_columns", c_size_t),
        ("class_token", c_bool),
    ]


class vit_text_info(Structure):
    _fields_ = [
        ("writes", c_bool),
        ("reads_pictures", c_bool),
        ("reads_texts", c_bool),
        ("beams", c_size_t),
        ("length", c_size_t),
        ("no_repeat", c_size_t),
        ("length_penalty", c_double),
        ("early_stopping", c_int),
        ("tokens", c_size_t),
    ]


class vit_text_options(Structure):
    _fields_ = [
        ("threads", c_int),
        ("cpu", c_char_p),
        ("precision", c_int),
        ("bf16", c_int),
        ("beams", c_size_t),
        ("length", c_size_t),
        ("length_penalty", vit_optional),
        ("early_stopping", vit_optional),
        ("no_repeat", vit_optional),
        ("sample", c_bool),
        ("temperature", c_double),
        ("top_k", c_size_t),
        ("seed", c_uint64),
    ]


class vit_text_answer(Structure):
    _fields_ = [
        ("error", vit_error),
        ("warning", c_char_p),
        ("text", c_char_p),
        ("ids", POINTER(c_uint32)),
        ("count", c_size_t),
        ("score", c_double),
        ("ended", c_bool),
    ]


class vit_embedded_picture(Structure):
    _fields_ = [
        ("file", c_char_p),
        ("index", c_size_t),
        ("label", c_size_t),
        ("class_number", c_size_t),
        ("logits", POINTER(c_float)),
        ("features", POINTER(c_float)),
    ]


vit_embedded_callback = CFUNCTYPE(None, POINTER(vit_embedded_picture), c_void_p)


class vit_embedded_data(Structure):
    _fields_ = [
        ("data", c_char * 256),
        ("which", c_char_p),
        ("images", c_size_t),
        ("classes", c_size_t),
        ("seen", c_bool),
    ]


class vit_few_shot_options(Structure):
    _fields_ = [
        ("head", c_char_p),
        ("class_column", c_char_p),
        ("exclude", c_char_p),
        ("relabel", c_char_p),
        ("tag_branch", c_char_p),
        ("empty_classes", c_bool),
        ("splits_are_classes", c_bool),
        ("balance", c_bool),
        ("folds", c_size_t),
        ("views", c_size_t),
        ("keep_direction", c_bool),
        ("hold_out", c_bool),
        ("keep_lessons", c_bool),
        ("no_curve", c_bool),
        ("most_pixels", c_size_t),
        ("threads", c_int),
        ("cpu", c_char_p),
        ("precision", c_int),
        ("bf16", c_int),
        ("goes_on", vit_few_shot_callback),
        ("user", c_void_p),
    ]


class vit_few_shot_picture(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("label", c_size_t),
        ("sha256", c_char * 65),
    ]


class vit_learning_point(Structure):
    _fields_ = [
        ("pictures", c_size_t),
        ("accuracy", c_double),
        ("lowest", c_double),
        ("highest", c_double),
    ]


class vit_suspect(Structure):
    _fields_ = [
        ("index", c_size_t),
        ("answer", c_size_t),
        ("probability", c_double),
        ("said", c_double),
    ]


class vit_few_shot_result(Structure):
    _fields_ = [
        ("pictures", c_size_t),
        ("classes", c_size_t),
        ("right", c_size_t),
        ("accuracy", c_double),
        ("low", c_double),
        ("high", c_double),
        ("left_out", c_char_p),
        ("strength", c_double),
        ("temperature", c_double),
        ("threshold", c_double),
        ("points", c_size_t),
        ("curve", vit_learning_point * 6),
        ("doubled", c_double),
        ("suspects", c_size_t),
        ("suspect", vit_suspect * 20),
        ("confused", c_size_t * 2),
        ("confusions", c_size_t),
        ("copies", c_size_t),
        ("contradictions", c_size_t),
    ]


class vit_near_duplicate(Structure):
    _fields_ = [
        ("first", c_size_t),
        ("second", c_size_t),
        ("alike", c_char_p),
    ]


class vit_tested(Structure):
    _fields_ = [
        ("images", c_size_t),
        ("correct", c_size_t),
        ("top1", c_double),
        ("top5", c_double),
        ("low", c_double),
        ("high", c_double),
    ]


class vit_few_shot_neighbour(Structure):
    _fields_ = [
        ("index", c_size_t),
        ("cosine", c_double),
    ]


class vit_label_score(Structure):
    _fields_ = [
        ("images", c_size_t),
        ("answered", c_size_t),
        ("right", c_size_t),
        ("average_precision", c_double),
    ]


class vit_label_evaluation(Structure):
    _fields_ = [
        ("data", c_char * 256),
        ("which", c_char_p),
        ("images", c_size_t),
        ("classes", c_size_t),
        ("exact", c_size_t),
        ("loss", c_double),
        ("threshold", c_double),
        ("mean_average_precision", c_double),
        ("micro_f1", c_double),
        ("macro_f1", c_double),
        ("unknown_images", c_size_t),
        ("seconds", c_double),
        ("scores", POINTER(vit_label_score)),
    ]


class vit_embedder_options(Structure):
    _fields_ = [
        ("config", c_char_p),
        ("threads", c_int),
        ("cpu", c_char_p),
        ("precision", c_int),
        ("bf16", c_int),
        ("emulate", c_char_p),
    ]


class vit_embedder_info(Structure):
    _fields_ = [
        ("features", c_size_t),
        ("length", c_size_t),
        ("vocabulary", c_size_t),
        ("parameters", c_size_t),
        ("scale", c_double),
        ("bias", c_double),
        ("scoring", c_int),
    ]


class vit_embed_texts_options(Structure):
    _fields_ = [
        ("cut", c_bool),
        ("unit", c_bool),
    ]


class vit_left_out(Structure):
    _fields_ = [
        ("images", c_size_t),
        ("left_out", c_char_p),
        ("accuracy", c_double),
        ("low", c_double),
        ("high", c_double),
    ]


class vit_calibration_info(Structure):
    _fields_ = [
        ("data", c_char_p),
        ("which", c_char_p),
        ("images", c_size_t),
        ("classes", c_size_t),
        ("fewest", c_size_t),
        ("left_out", c_bool),
    ]


class vit_set_options(Structure):
    _fields_ = [
        ("coverage", c_double),
        ("score", c_int),
        ("by_class", c_bool),
    ]


class vit_abstain_figures(Structure):
    _fields_ = [
        ("images", c_size_t),
        ("answered", c_size_t),
        ("right", c_size_t),
        ("low", c_double),
        ("high", c_double),
    ]


class vit_ood_figures(Structure):
    _fields_ = [
        ("auroc", c_double),
        ("fpr95", c_double),
    ]


class vit_ood_info(Structure):
    _fields_ = [
        ("prepared", c_bool),
        ("chosen", c_int),
        ("images", c_size_t),
        ("training", c_char_p),
        ("outliers", c_char_p),
        ("training_images", c_size_t),
        ("k", c_size_t),
        ("outlier_images", c_size_t),
        ("figures", vit_ood_figures * 4),
    ]


class vit_unknown_options(Structure):
    _fields_ = [
        ("rate", c_double),
        ("score", vit_optional),
    ]


class vit_unknown(Structure):
    _fields_ = [
        ("scores", c_double * 4),
        ("score", c_double),
        ("p_value", c_double),
        ("unknown", c_bool),
    ]


class vit_bank_options(Structure):
    _fields_ = [
        ("coreset", c_double),
        ("threads", c_int),
        ("cpu", c_char_p),
        ("name", c_char_p),
        ("read", c_void_p),
        ("user", c_void_p),
    ]


class vit_bank_info(Structure):
    _fields_ = [
        ("model", c_char_p),
        ("scores", POINTER(c_double)),
        ("pictures", c_size_t),
        ("patches", c_size_t),
        ("dim", c_size_t),
        ("height", c_size_t),
        ("width", c_size_t),
        ("rows", c_size_t),
        ("columns", c_size_t),
        ("coreset", c_double),
    ]


class vit_anomaly(Structure):
    _fields_ = [
        ("score", c_double),
        ("p_value", c_double),
    ]


class vit_label_issue(Structure):
    _fields_ = [
        ("picture", c_size_t),
        ("label", c_size_t),
        ("likely", c_size_t),
        ("self_confidence", c_double),
        ("normalized_margin", c_double),
    ]


class vit_report_options(Structure):
    _fields_ = [
        ("log", c_char_p),
        ("out", c_char_p),
        ("model", c_char_p),
        ("config", c_char_p),
        ("data", c_char_p),
        ("class_column", c_char_p),
        ("split", c_int),
        ("threads", c_int),
        ("cpu", c_char_p),
        ("note", vit_note),
        ("user", c_void_p),
    ]


class vit_log_summary(Structure):
    _fields_ = [
        ("preset", c_char * 64),
        ("data", c_char * 256),
        ("recipe", c_char_p),
        ("seed", c_uint64),
        ("step", c_uint64),
        ("steps", c_uint64),
        ("best_top1", c_double),
        ("last_top1", c_double),
        ("test_top1", c_double),
    ]


class vit_run_groups(Structure):
    _fields_ = [
        ("runs", c_size_t),
        ("count", c_size_t),
        ("group", POINTER(c_size_t)),
        ("titles", POINTER(c_char_p)),
    ]


class vit_comparison_options(Structure):
    _fields_ = [
        ("logs", POINTER(c_char_p)),
        ("count", c_size_t),
        ("out", c_char_p),
    ]


class vit_listed_picture(Structure):
    _fields_ = [
        ("picture", c_size_t),
        ("likely", c_size_t),
    ]


class vit_page_lists(Structure):
    _fields_ = [
        ("issues", POINTER(vit_listed_picture)),
        ("issue_count", c_size_t),
        ("notes", POINTER(c_char_p)),
        ("files", POINTER(c_char_p)),
        ("note_count", c_size_t),
        ("file_count", c_size_t),
    ]


class vit_evaluation_page(Structure):
    _fields_ = [
        ("out", c_char_p),
        ("model", c_char_p),
        ("lists", c_void_p),
        ("user", c_void_p),
    ]


# name: (result, parameters)
FUNCTIONS = {
    "vit_version": (c_char_p, []),
    "vit_status_name": (c_char_p, [c_int]),
    "vit_scoring_name": (c_char_p, [c_int]),
    "vit_model_load": (c_int, [POINTER(c_void_p), c_char_p, POINTER(vit_error)]),
    "vit_model_load_with": (c_int, [POINTER(c_void_p), c_char_p, POINTER(vit_model_options),
        POINTER(vit_error)]),
    "vit_model_load_memory": (c_int, [POINTER(c_void_p), c_void_p, c_size_t, c_char_p,
        POINTER(vit_model_options), POINTER(vit_error)]),
    "vit_model_free": (None, [c_void_p]),
    "vit_model_describe": (vit_model_info, [c_void_p]),
    "vit_model_label": (c_char_p, [c_void_p, c_size_t]),
    "vit_convert": (c_int, [POINTER(vit_convert_options), POINTER(vit_error)]),
    "vit_precision_available": (c_bool, [c_int, c_char_p]),
    "vit_precision_is_slower": (c_bool, [c_int, c_int, c_char_p]),
    "vit_session_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(vit_session_options),
        POINTER(vit_error)]),
    "vit_session_free": (None, [c_void_p]),
    "vit_classify_file": (c_int, [c_void_p, c_char_p, POINTER(c_float), POINTER(vit_error)]),
    "vit_classify_memory": (c_int, [c_void_p, c_void_p, c_size_t, c_char_p, POINTER(c_float),
        POINTER(vit_error)]),
    "vit_classify_pixels": (c_int, [c_void_p, POINTER(c_uint8), c_size_t, c_size_t, c_size_t,
        c_size_t, POINTER(c_float), POINTER(vit_error)]),
    "vit_classify_prepared": (c_int, [c_void_p, POINTER(c_uint8), c_size_t, POINTER(c_float),
        POINTER(vit_error)]),
    "vit_embed_prepared": (c_int, [c_void_p, POINTER(c_uint8), c_size_t, POINTER(c_float),
        POINTER(c_float), POINTER(vit_error)]),
    "vit_embed_normalized": (c_int, [c_void_p, POINTER(c_float), c_size_t, POINTER(c_float),
        POINTER(c_float), POINTER(vit_error)]),
    "vit_prepare_memory": (c_int, [c_void_p, c_void_p, c_size_t, c_char_p, c_size_t,
        POINTER(c_uint8), POINTER(c_char_p), POINTER(vit_error)]),
    "vit_prepare_values": (c_int, [c_void_p, POINTER(vit_picture), c_size_t, POINTER(c_uint8),
        POINTER(c_float), POINTER(c_char_p), POINTER(vit_error)]),
    "vit_classify_many": (c_int, [c_void_p, POINTER(vit_picture), c_size_t, POINTER(c_float),
        POINTER(c_float), POINTER(vit_answer), POINTER(vit_error)]),
    "vit_embed_file": (c_int, [c_void_p, c_char_p, POINTER(c_float), POINTER(vit_error)]),
    "vit_session_warning": (c_char_p, [c_void_p]),
    "vit_session_features": (c_int, [c_void_p, POINTER(c_float), POINTER(vit_error)]),
    "vit_probabilities": (None, [POINTER(c_float), c_size_t, POINTER(c_float)]),
    "vit_model_probabilities": (None, [c_void_p, POINTER(c_float), POINTER(c_float)]),
    "vit_model_scores": (None, [c_void_p, c_int, POINTER(c_float), POINTER(c_float)]),
    "vit_top_k": (None, [POINTER(c_float), c_size_t, c_size_t, POINTER(c_size_t)]),
    "vit_evaluate": (c_int, [c_void_p, POINTER(vit_evaluate_options), POINTER(vit_evaluation),
        POINTER(vit_error)]),
    "vit_evaluation_clear": (None, [POINTER(vit_evaluation)]),
    "vit_draw_digit": (c_uint8, [POINTER(c_uint8), c_uint64, c_uint32]),
    "vit_preset_key": (c_char_p, [c_char_p, c_bool]),
    "vit_preset_json": (c_char_p, [c_size_t, POINTER(c_char_p)]),
    "vit_train": (c_int, [POINTER(c_void_p), POINTER(vit_train_options), POINTER(vit_error)]),
    "vit_find_lr": (c_int, [POINTER(vit_lr_search), POINTER(vit_train_options),
        POINTER(vit_error)]),
    "vit_cluster_kind": (c_char_p, []),
    "vit_cluster_open": (c_int, [POINTER(c_void_p), POINTER(vit_error)]),
    "vit_cluster_rank": (c_int, [c_void_p]),
    "vit_cluster_size": (c_int, [c_void_p]),
    "vit_cluster_reports": (c_bool, [c_void_p]),
    "vit_cluster_close": (None, [c_void_p, c_int]),
    "vit_tensor_list_load": (c_int, [POINTER(c_void_p), c_char_p, POINTER(vit_error)]),
    "vit_tensor_list_free": (None, [c_void_p]),
    "vit_tensor_list_path": (c_char_p, [c_void_p]),
    "vit_tensor_list_kind": (c_char_p, [c_void_p]),
    "vit_tensor_list_count": (c_size_t, [c_void_p]),
    "vit_tensor_list_at": (vit_tensor_info, [c_void_p, c_size_t]),
    "vit_tensor_list_measure": (c_int, [c_void_p, c_size_t, POINTER(vit_tensor_statistics),
        POINTER(vit_error)]),
    "vit_method_name": (c_char_p, [c_int]),
    "vit_method_takes_passes": (c_bool, [c_int]),
    "vit_prepare_picture": (c_int, [c_void_p, POINTER(vit_picture), POINTER(c_uint8),
        POINTER(vit_error)]),
    "vit_explain": (c_int, [c_void_p, POINTER(c_uint8), POINTER(vit_map_options),
        POINTER(vit_map), POINTER(vit_error)]),
    "vit_map_clear": (None, [POINTER(vit_map)]),
    "vit_buffer_clear": (None, [POINTER(vit_buffer)]),
    "vit_map_png": (c_int, [c_void_p, POINTER(c_uint8), POINTER(vit_map), c_size_t,
        POINTER(vit_buffer), POINTER(vit_error)]),
    "vit_map_curves": (c_int, [c_void_p, POINTER(c_uint8), POINTER(vit_map),
        POINTER(vit_curves), POINTER(vit_error)]),
    "vit_curves_clear": (None, [POINTER(vit_curves)]),
    "vit_explain_page": (c_int, [c_void_p, POINTER(c_uint8), POINTER(vit_page_options),
        POINTER(vit_buffer), POINTER(vit_error)]),
    "vit_explain_layers": (c_int, [c_void_p, POINTER(c_uint8), POINTER(c_float),
        POINTER(c_float), vit_layer_callback, c_void_p, POINTER(vit_error)]),
    "vit_explain_matrices": (c_int, [c_void_p, POINTER(c_uint8), POINTER(c_float),
        POINTER(vit_answer_matrices), POINTER(vit_error)]),
    "vit_matrices_clear": (None, [POINTER(vit_answer_matrices)]),
    "vit_matrices_save": (c_int, [POINTER(vit_answer_matrices), c_char_p, POINTER(vit_error)]),
    "vit_text_describe": (vit_text_info, [c_void_p]),
    "vit_text_session_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(vit_text_options),
        POINTER(vit_error)]),
    "vit_text_session_free": (None, [c_void_p]),
    "vit_read_pictures": (c_int, [c_void_p, POINTER(vit_picture), c_size_t,
        POINTER(vit_text_answer), POINTER(vit_error)]),
    "vit_read_texts": (c_int, [c_void_p, POINTER(c_char_p), c_size_t, POINTER(vit_text_answer),
        POINTER(vit_error)]),
    "vit_text_answers_clear": (None, [POINTER(vit_text_answer), c_size_t]),
    "vit_explain_text": (c_int, [c_void_p, POINTER(vit_picture), c_char_p,
        POINTER(vit_text_answer), c_char_p, c_bool, POINTER(vit_buffer), POINTER(vit_error)]),
    "vit_embed_tokens": (c_int, [c_void_p, POINTER(vit_picture), c_size_t, POINTER(c_float),
        POINTER(vit_answer), POINTER(vit_error)]),
    "vit_embed_data": (c_int, [c_void_p, POINTER(vit_evaluate_options), vit_embedded_callback,
        c_void_p, POINTER(vit_embedded_data), POINTER(vit_error)]),
    "vit_few_shot_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(vit_few_shot_options),
        POINTER(vit_error)]),
    "vit_few_shot_free": (None, [c_void_p]),
    "vit_few_shot_add": (c_int, [c_void_p, c_char_p, POINTER(vit_picture), c_size_t,
        POINTER(vit_answer), POINTER(vit_error)]),
    "vit_few_shot_add_data": (c_int, [c_void_p, c_char_p, POINTER(vit_arrays), vit_note,
        c_void_p, POINTER(vit_error)]),
    "vit_few_shot_count": (c_size_t, [c_void_p]),
    "vit_few_shot_at": (vit_few_shot_picture, [c_void_p, c_size_t]),
    "vit_few_shot_classes": (c_size_t, [c_void_p]),
    "vit_few_shot_class": (c_char_p, [c_void_p, c_size_t]),
    "vit_few_shot_correct": (c_int, [c_void_p, c_size_t, c_char_p, POINTER(vit_error)]),
    "vit_few_shot_forget": (c_int, [c_void_p, c_size_t, POINTER(vit_error)]),
    "vit_few_shot_learn": (c_int, [c_void_p, POINTER(vit_few_shot_result), POINTER(vit_error)]),
    "vit_few_shot_learnt_classes": (c_size_t, [c_void_p]),
    "vit_few_shot_duplicate": (vit_near_duplicate, [c_void_p, c_size_t]),
    "vit_few_shot_json": (c_char_p, [c_void_p]),
    "vit_few_shot_left_out": (c_int, [c_void_p, c_size_t, POINTER(c_float),
        POINTER(vit_error)]),
    "vit_few_shot_report": (c_int, [c_void_p, c_char_p, POINTER(vit_error)]),
    "vit_few_shot_test": (c_int, [c_void_p, c_size_t, POINTER(vit_tested), POINTER(vit_error)]),
    "vit_few_shot_save_lessons": (c_int, [c_void_p, c_char_p, POINTER(vit_error)]),
    "vit_few_shot_load_lessons": (c_int, [c_void_p, c_char_p, POINTER(vit_error)]),
    "vit_few_shot_find": (c_int, [POINTER(c_size_t), c_void_p, c_char_p, POINTER(vit_error)]),
    "vit_few_shot_answer": (c_int, [c_void_p, POINTER(vit_picture), POINTER(c_float),
        POINTER(vit_few_shot_neighbour), c_size_t, POINTER(c_char_p), POINTER(vit_error)]),
    "vit_few_shot_nearest": (c_int, [c_void_p, POINTER(c_float),
        POINTER(vit_few_shot_neighbour), c_size_t, POINTER(vit_error)]),
    "vit_few_shot_model": (c_int, [POINTER(c_void_p), c_void_p, POINTER(vit_error)]),
    "vit_few_shot_save": (c_int, [c_void_p, c_char_p, POINTER(vit_error)]),
    "vit_few_shot_save_head": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(vit_error)]),
    "vit_few_shot_take_head": (c_int, [c_void_p, c_void_p, POINTER(vit_error)]),
    "vit_evaluate_labels": (c_int, [c_void_p, POINTER(vit_evaluate_options),
        POINTER(vit_label_evaluation), POINTER(vit_error)]),
    "vit_label_evaluation_clear": (None, [POINTER(vit_label_evaluation)]),
    "vit_embedder_load": (c_int, [POINTER(c_void_p), c_char_p, POINTER(vit_embedder_options),
        POINTER(vit_error)]),
    "vit_embedder_free": (None, [c_void_p]),
    "vit_embedder_describe": (vit_embedder_info, [c_void_p]),
    "vit_embed_texts": (c_int, [c_void_p, POINTER(c_char_p), c_size_t,
        POINTER(vit_embed_texts_options), POINTER(c_float), POINTER(vit_error)]),
    "vit_model_load_zero_shot": (c_int, [POINTER(c_void_p), c_char_p,
        POINTER(vit_model_options), POINTER(c_char_p), c_size_t, POINTER(vit_error)]),
    "vit_convert_zero_shot": (c_int, [POINTER(vit_convert_options), POINTER(c_char_p), c_size_t,
        POINTER(vit_error)]),
    "vit_embedder_tokens": (c_size_t, [c_void_p, c_char_p]),
    "vit_conformal_name": (c_char_p, [c_int]),
    "vit_calibration_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(vit_evaluate_options),
        POINTER(vit_error)]),
    "vit_calibration_free": (None, [c_void_p]),
    "vit_evaluate_left_out": (c_int, [c_void_p, POINTER(vit_evaluate_options), c_size_t,
        POINTER(vit_left_out), POINTER(vit_error)]),
    "vit_calibration_save": (c_int, [c_void_p, c_char_p, POINTER(vit_error)]),
    "vit_calibration_load": (c_int, [POINTER(c_void_p), c_char_p, c_void_p, c_void_p,
        POINTER(vit_error)]),
    "vit_calibration_describe": (vit_calibration_info, [c_void_p]),
    "vit_set_rule_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(vit_set_options),
        POINTER(vit_error)]),
    "vit_set_rule_free": (None, [c_void_p]),
    "vit_prediction_set": (c_size_t, [c_void_p, POINTER(c_float), POINTER(c_size_t)]),
    "vit_abstain_thresholds": (c_int, [POINTER(c_double), POINTER(vit_abstain_figures),
        c_void_p, c_double, c_bool, POINTER(vit_error)]),
    "vit_ood_name": (c_char_p, [c_int]),
    "vit_ood_measure": (vit_ood_figures, [POINTER(c_double), c_size_t, POINTER(c_double),
        c_size_t]),
    "vit_calibration_compare": (c_int, [c_void_p, c_void_p, POINTER(vit_evaluate_options),
        POINTER(vit_evaluate_options), POINTER(vit_evaluate_options), POINTER(vit_error)]),
    "vit_calibration_ood": (vit_ood_info, [c_void_p]),
    "vit_unknown_rule_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(vit_unknown_options),
        POINTER(vit_error)]),
    "vit_unknown_rule_free": (None, [c_void_p]),
    "vit_unknown_rule_score": (c_int, [c_void_p]),
    "vit_unknown_test": (c_int, [c_void_p, c_void_p, POINTER(c_float), POINTER(c_float),
        POINTER(vit_unknown), POINTER(vit_error)]),
    "vit_drift_new": (c_int, [POINTER(c_void_p), POINTER(c_double), c_size_t,
        POINTER(vit_error)]),
    "vit_drift_free": (None, [c_void_p]),
    "vit_drift_add": (c_double, [c_void_p, c_double]),
    "vit_drift_value": (c_double, [c_void_p]),
    "vit_calibration_scores": (POINTER(c_double), [c_void_p, POINTER(c_size_t)]),
    "vit_bank_new": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(vit_picture),
        c_size_t, POINTER(vit_bank_options), POINTER(vit_answer), POINTER(vit_error)]),
    "vit_bank_free": (None, [c_void_p]),
    "vit_bank_save": (c_int, [c_void_p, c_char_p, POINTER(vit_error)]),
    "vit_bank_load": (c_int, [POINTER(c_void_p), c_char_p, POINTER(vit_error)]),
    "vit_bank_check": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(vit_error)]),
    "vit_bank_describe": (vit_bank_info, [c_void_p]),
    "vit_bank_threshold": (c_int, [c_void_p, c_double, POINTER(c_double), POINTER(vit_error)]),
    "vit_bank_test": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(vit_picture), c_size_t,
        POINTER(vit_bank_options), POINTER(vit_anomaly), POINTER(c_float), POINTER(vit_answer),
        POINTER(vit_error)]),
    "vit_label_issues_find": (c_int, [POINTER(POINTER(vit_label_issue)), POINTER(c_size_t),
        POINTER(c_float), POINTER(c_size_t), c_size_t, c_size_t, POINTER(vit_error)]),
    "vit_label_issues_free": (None, [POINTER(vit_label_issue)]),
    "vit_write_report": (c_int, [POINTER(vit_report_options), POINTER(vit_error)]),
    "vit_read_log": (c_int, [POINTER(vit_log_summary), c_char_p, POINTER(vit_error)]),
    "vit_log_summary_clear": (None, [POINTER(vit_log_summary)]),
    "vit_group_runs": (c_int, [POINTER(vit_run_groups), POINTER(vit_log_summary), c_size_t,
        POINTER(vit_error)]),
    "vit_run_groups_clear": (None, [POINTER(vit_run_groups)]),
    "vit_write_comparison": (c_int, [POINTER(vit_comparison_options), POINTER(vit_error)]),
    "vit_evaluate_page": (c_int, [c_void_p, POINTER(vit_evaluate_options),
        POINTER(vit_evaluation_page), POINTER(vit_evaluation), POINTER(vit_error)]),
}
