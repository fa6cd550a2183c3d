#!/bin/sh
# The shells' completions: that the shells can read them, and what bash offers.
. "$(dirname "$0")/../shell"

# reads SHELL ENDING: the shell finds no error in its files
reads() {
    for file in "$BUILD"/completions/*."$2"; do
        "$1" -n "$file" || { echo "$file"; return 1; }
    done
}
check "bash reads its files" reads bash bash
for shell in zsh fish; do
    if command -v $shell >/dev/null; then check "$shell reads its files" reads $shell $shell; else
        skips "$shell reads its files" "no $shell here"
    fi
done

# one_a_program: there are three files for each
one_a_program() {
    for program in "$BUILD"/bin/vit-*; do
        for shell in bash zsh fish; do
            test -s "$BUILD/completions/$(basename "$program").$shell" || return 1
        done
    done
}
check "every program has its three" one_a_program

# every_option: each option of each --help is in each file
every_option() {
    for program in "$BUILD"/bin/vit-*; do
        name=$(basename "$program")
        for option in $("$program" --help | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p'); do
            grep -q -e "--$option[ \"|)]" "$BUILD/completions/$name.bash" &&
                grep -q -e "'[*]*--$option[=[]" "$BUILD/completions/$name.zsh" &&
                grep -q -e "-l $option " "$BUILD/completions/$name.fish" ||
                { echo "$name --$option"; return 1; }
        done
    done
}
check "every option of every --help is in them" every_option

# offers PROGRAM WORD...: what bash offers for the last word, one a line
cat >"offers" <<'END'
. "$1/completions/$2.bash"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
"_${2//-/_}"
printf '%s\n' "${COMPREPLY[@]}"
END
offers() {
    bash "offers" "$BUILD" "$@"
}
is() {
    expected=$1
    shift
    test "$(offers "$@" | tr '\n' ' ')" = "$expected"
}
check "--ep: --epochs" is "--epochs " vit-train --ep
check "--no: nothing" is " " vit-train --no
check "--keep: its words" is "last best " vit-train --keep ""
check "--keep b: best" is "best " vit-train --keep b
check "--keep=b: best, too" is "best " vit-train --keep = b
check "--layout: the layouts" is "timm hf torchvision npz onnx pytorch " vit-convert a b --layout ""
check "--precision b" is "bf16 " vit-classify --precision b
check "--data m: mnist" sh -c "bash offers '$BUILD' vit-train --data mni | grep -qx mnist"
check "--format j" is "json " vit-classify --format j
check "--split v" is "val " vit-evaluate --split v
