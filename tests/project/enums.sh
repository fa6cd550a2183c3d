#!/bin/sh
# Plants a value in each of our enums, one at a time: every file with a switch over the enum, and
# every file with a table of it, must then stop the build. And an enum's values are told apart by
# switches and tables alone: a comparison, == or !=, which a new value passes unseen, is a failure
# unless it stands in the list below with its reason.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 # a compiler cache may miss that a header now hides another
flags="-std=c17 -D_POSIX_C_SOURCE=200809L $(pkg-config --cflags stb jansson zlib) -fopenmp"
jobs=$(nproc 2>/dev/null || echo 1)

# Enums whose values nothing tells apart one by one: numbers of random streams, strokes of a pen;
# what is at a path, and tokens as XML has them, of which each reader asks for those that it knows.
free='vit_purpose vit_pen vit_place_kind vit_xml_kind'
# The last value of an enum that counts the others.
counts='[A-Z_]*(_COUNT|PARTS|KINDS|WORDS|FORMS|FORMATS|KEYS|FIELDS|OPERATORS)'

# Comparisons that are allowed: an enum or a value, the files, and why no other value matters.
allowed() {
    cat <<'LIST'
vit_status * whether a call failed, not how
vit_path_kind * whether there is a file, or a directory
vit_pickle_kind * what a file holds is checked: any other kind is refused
compression vit/image/codec/bmp.c BMP's own, given by its specification
vit_png_color * PNG's own five, given by its specification
serve_state vit/cli/serve/net/connections.c the life of a connection, all of it in this file
SERVE_ADMITTED vit/cli/serve/net/connections.c whether it was, not why not
VIT_REQUEST_RUN vit/cli/parts/options.c whether the program goes on
VIT_ALIKE_NOT * whether two pictures are copies, not how
VIT_ALIKE_EXACT * copies by digest, which need no comparison of pixels
found vit/search/index.c what begins at a place of the file, all of it in this file
VIT_INDEX_ABOUT vit/search/index.c the first block of an index is of this kind
vit_option_kind vit/cli/parts/options.c a flag takes no value, a list may be given again
vit_event_kind * what only such an event has, or brings with it
vit_field_kind * what only such a field has, as a range; fields are read and written by switches
vit_operation_kind * looks for the operations of that kind
vit_query * where the map begins; which methods take which is in the table of maps.c
vit_method vit/explain/maps.c options that only that method takes
VIT_FUSE_MEAN * a sum over the heads is divided at its end
VIT_IDX_TRAIN datasets/records/idx.c a set has two parts
VIT_IDX_LABELS * a part has two files, of which that of labels has several forms
IMAGES datasets/records/numpy.c a part has two arrays
SERVE_OUTPUT_FEATURES vit/cli/serve/answer/kserve_infer.c the one output that has no classes
SERVE_INPUT_PIXELS vit/cli/serve/answer/tensors.c the one input of bytes
VIT_FILTER_NEAREST * copies pixels, has no weights
VIT_ARITHMETIC_PILLOW * the default, which is not written, and the one that begins with columns
VIT_ARITHMETIC_FLOAT * the one without rounding: a resampler of its own, and in transformers a class
VIT_FIT_STRETCH * the default, which is not written
VIT_FIT_COVER vit/image/prepare/preprocess_size.c what timm makes of a square
VIT_ROUNDING_EVEN * the default, which is not written, and the one of timm and torchvision
VIT_F32 * the type that weights have in memory: nothing is converted
VIT_STEM_LINEAR vit/model/config.c the one stem that norms its patches
VIT_ROPE_CENTERED vit/weights/configs/answer_as.c the one by which DINOv3 is known
VIT_PATCH_PIXEL vit/model/config.c the one order whose patches are normed
VIT_SCALE_HEAD_DIM vit/weights/export/describe.c the one that other libraries have
VIT_SILU vit/weights/export/describe.c the one function that timm gates by
VIT_OF_DECODERS vit/model/switches.c whether an encoder can have the key
VIT_PARAMETER_EMBEDDING vit/model/parameters.c the one table that can also be the head
VIT_TARGET_ONNX vit/api/model_convert.c the one layout that is a single file
VIT_PIECES_WORDPIECE vit/text/tokenizer/tokenizer_files.c the one kind that transformers cleans up
VIT_ENCODER_UNIGRAM vit/text/tokenizer/sentencepiece.c the one kind with scores to prepare
VIT_ENCODER_UNIGRAM vit/text/tokenizer/encoder_class.c the one kind that both are read with
VIT_ENCODER_UNIGRAM vit/text/tokenizer/tokenizer_json.c the one kind whose vocabulary is a list
VIT_ENCODER_BPE vit/text/tokenizer/encoder_class.c the one kind that CLIP's vocabulary is
VIT_ENCODER_BPE vit/text/tokenizer/tokenizer_json.c the one kind whose merges are read
VIT_ENCODER_SENTENCE_BPE vit/text/tokenizer/bpe.c of two that merge, the one that ranks by scores
OP_SPLIT vit/text/unicode/regex.c the one instruction with a second way
OP_ATOMIC vit/text/unicode/regex.c of the two that repeat, the one that does not go back
OP_LOOK vit/text/unicode/regex.c of the two that look ahead, the one that wants a match
VIT_SET_RANGE vit/text/unicode/character_sets.c the one kind whose case may be set aside
ANSWER_NO vit/text/unicode/regex.c whether to try further on
VIT_EARLY_STOPPING_TRUE vit/model/run/search.c whether to stop at once
vit_match_by * what is said of classes that met in one of the three ways
VIT_POLICY_NONE * whether there is one
VIT_PAIR_NONE vit/weights/configs/pairs.c whether there is one
VIT_SCORING_SOFTMAX * whether a picture has one class
VIT_SCORING_SIGMOID * whether a picture has any number of classes
VIT_SCORING_NONE vit/cli/classify/answers.c whether there are numbers instead of classes
VIT_TARGET_HF vit/weights/export/describe.c the one library whose config says what scores are
VIT_TARGET_HF vit/api/model_convert.c the one library that publishes readers
vit_lecture_id vit/lecture/matrices.c the matrices whose memory is a part of another's
VIT_LECTURE_STEP vit/lecture/lecture.c the one pass whose matrices cannot be changed
VIT_LECTURE_GIVEN vit/lecture/lecture.c the one pass whose matrices are not computed
VIT_CPU_NEON vit/base/cpu_detect.c the one of AArch64
AFTER vit/lecture/matrices.c the one section that hands nothing on
ONE vit/lecture/matrices.c whether it is a vector
VIT_HEAD_LINEAR vit/api/few_shot_model.c the one head that is taught
VIT_TREE_TRAIN datasets/folders/tree_check.c whether pictures of the part train
VIT_TREE_TRAIN datasets/tables/part_lists.c whether pictures of the list train
VIT_TREE_TEST datasets/tables/columns.c whether a column names a test beside what may be one
VIT_TREE_VAL datasets/tables/listed_table.c parts that are small, in which all classes may differ
VIT_PRECISION_F32 vit/cli/vit-explain.c whether the weights are floats
VIT_PRECISION_F32 vit/cli/vit-info.c the same
VIT_PRECISION_F32 vit/train/open.c the value that an option has when it is not given
VIT_PRECISION_F32 vit/api/model.c the same
VIT_PRECISION_F32 vit/weights/file/store.c the same
VIT_PRECISION_F32 vit/cli/parts/program.c the same
VIT_SPLIT_TRAIN * pictures that the model has learnt from
vit_conformal_score vit/reliance/conformal.c one score has no sum, one a penalty of ranks
VIT_I8 * the one type of weights that have scales beside them
VIT_PLACE_LINK vit/cli/photos/group.c the one that is no file of its own
VIT_PLACE_LINK vit/cli/photos/sort.c the same
VIT_PLACE_COPY vit/cli/photos/group.c the one that leaves both files
VIT_PLACE_MOVE vit/cli/photos/sort.c the one that takes the picture away
vit_entry_state * how an entry ended, all of it in these files
VIT_XMP_SUBJECT vit/photos/tags.c the one list whose words are no paths
stream_kind vit/cli/stream/frames.c what only such a stream has
VIT_SCORING_NONE vit/cli/photos/sort.c whether there are numbers instead of classes
VIT_SCORING_NONE vit/cli/photos/write_tags.c the same
VIT_REPORT_DONE vit/train/watch.c whether it is over
VIT_PREPARE_UNKNOWN * whether it is known
VIT_PREPARE_SHORTER vit/weights/configs/hf_processor.c the one that needs a crop
VIT_PAIR_SIGLIP vit/weights/configs/hugging_face.c whose text encoder is not causal
VIT_PREPARE_STRETCH vit/weights/configs/pictures.c the one whose resize can be the end
LIST
}

# file, line and name of every enum of several values; those without a name have a count
enums() {
    grep -rnE --include='*.[ch]' "^(typedef enum [a-z_]+ \{|enum \{.*[ ,]$counts \};)" \
        vit datasets | sort | sed -E 's/^([^:]*):([0-9]*):(typedef enum ([a-z_]+)|enum).*/\1 \2 \4/'
}

# The file with one value more: before the count, or as the last.
plant() {
    awk -v at="$2" -v counts="$counts" '
    NR == at { inside = 1 }
    inside && $0 ~ "(^|[ ,])" counts ",?( }|$)" {
        n = match($0, counts ",?( }|$)")
        $0 = substr($0, 1, n - 1) "PLANTED_VALUE, " substr($0, n); done = 1
    }
    inside && /} ?[a-z_]*;$/ {
        if (!done) sub(/ ?}/, (/^}/ ? "" : ",") " PLANTED_VALUE }")
        inside = 0
    }
    { print }' "$1"
}

# The values of the enum at a line, as an expression.
values() {
    awk -v at="$2" 'NR >= at { print } NR >= at && /} ?[a-z_]*;$/ { exit }' "$1" | tr '\n' ' ' |
        sed 's|/\*[^*]*\*/||g; s/^[^{]*{//; s/}.*//' | grep -oE '\b[A-Z][A-Z0-9_]+\b' |
        paste -sd'|' -
}

# file, line, value and text of each comparison with one of the values, in the files given.
comparisons() {
    values=$1
    shift
    awk -v values="($values)" '
    FNR == 1 { before = "" }
    {
        line = before $0
        before = line ~ /[=!]=$/ ? line " " : ""
        if (before == "" && (match(line, "[=!]= " values "([^A-Z0-9_]|$)") ||
                             match(line, "(^|[^A-Z0-9_])" values " [=!]="))) {
            found = substr(line, RSTART, RLENGTH)
            match(found, values)
            sub(/^ */, "", line)
            print FILENAME, FNR, substr(found, RSTART, RLENGTH), line
        }
    }' "$@"
}

number=0 bad=0
# ok or not ok, and what it is about
tell() {
    number=$((number + 1))
    [ "$1" = ok ] || bad=$((bad + 1))
    echo "$1 $number - $2"
}

# Says which of the files do not stop with the planted value: a switch over it or a table of it that
# the compiler does not complain about.
unstopped() {
    file=$1 count=$2
    shift 2
    export work flags file count
    printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c '
        [ "{}" = "$file" ] && source=$work/{} || source={}
        # shellcheck disable=SC2086
        said=$(${CC:-cc} $flags -I"$work" -I. -fsyntax-only -Werror=switch "$source" 2>&1)
        if grep -qE "case ($values):" {} && ! echo "$said" | grep -q "PLANTED_VALUE.*not handled"
        then echo "{}: a switch"; fi
        if grep -qE "VIT_CHECK_ROWS\(.*\<$count\>" {} &&
            ! echo "$said" | grep -q "one row for every value"; then echo "{}: a table"; fi'
}

allowed >"$work/allowed"
: >"$work/used"
while read -r file line name; do
    what="${name:-enum} in $file:$line"
    values=$(values "$file" "$line")
    count=$(echo "$values" | tr '|' '\n' | grep -xE "$counts" | tail -1)
    case $file in
    *.c) all=$file ;;
    *) all=$(grep -rlwE --include='*.[ch]' "$values" vit datasets) ;;
    esac

    export values
    # shellcheck disable=SC2086
    users=$(grep -lE "case ($values):|VIT_CHECK_ROWS\(.*\<${count:-no count}\>" $all)
    case " $free " in
    *" ${name:-?} "*) ;;
    *)
        rm -rf "$work/vit" "$work/datasets"
        mkdir -p "$work/${file%/*}"
        plant "$file" "$line" >"$work/$file"
        # shellcheck disable=SC2086
        missed=$([ -z "$users" ] || unstopped "$file" "${count:-no count}" $users | paste -sd' ' -)
        if [ -z "$users" ]; then
            tell "not ok" "a value more of $what goes unnoticed: no switch, no table"
        elif [ -n "$missed" ]; then
            tell "not ok" "a value more of $what goes unnoticed by $missed"
        else
            tell ok "a value more of $what stops each of $(echo "$users" | wc -l)"
        fi
        ;;
    esac

    case " $free " in *" ${name:-?} "*) continue ;; esac
    others=$(echo "$values" | tr '|' '\n' | grep -vxE "$counts" | paste -sd'|' -)
    # shellcheck disable=SC2086
    comparisons "$others" $all >"$work/compared"
    awk -v name="${name:-enum}" -v used="$work/used" '
    NR == FNR { key[NR] = $1; where[NR] = $2; n = NR; next }
    {
        for (i = 1; i <= n; i++)
            if ((key[i] == name || key[i] == $3) && (where[i] == "*" || where[i] == $1)) break
        if (i <= n) print key[i], where[i] >>used
        else print "# " $0
    }' "$work/allowed" "$work/compared" >"$work/refused"
    if [ -s "$work/refused" ]; then
        cat "$work/refused"
        tell "not ok" "values of $what are compared in $(cut -d' ' -f2 "$work/refused" |
            sort -u | paste -sd' ' -): a switch or a row would stop at a new value"
    fi
done <<LIST
$(enums)
LIST

unused=$(cut -d' ' -f1,2 "$work/allowed" | grep -vxFf "$work/used" | paste -sd',' -)
[ -z "$unused" ] && tell ok "each allowance is needed" ||
    tell "not ok" "allowed, but not there any more: $unused"
echo "1..$number"
[ "$bad" -eq 0 ]
