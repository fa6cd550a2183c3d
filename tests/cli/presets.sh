#!/bin/sh
# Presets as a user changes them: --set, files that leave sizes open or are a recipe alone, and
# keys that there are not.
. "$(dirname "$0")/../shell"

presets=$tree/models/presets

# train OUT OPTION...: three steps on a small data set
train() {
    out=$1
    shift
    vit-train --data grey --steps 3 --batch 8 --out "$out" "$@"
}

# refused TEXT OPTION...
refused() {
    text=$1
    shift
    train refused.safetensors "$@" >found 2>&1 && return 1
    cat found
    grep -qF -e "$text" found
}

# has FILE TEXT: the model's config or recipe says so
has() {
    writes "$2" vit-info --json "$1"
}

given_grey
train plain.safetensors >plain.log 2>&1
check "--set changes the network and the recipe" \
    train set.safetensors --set dim=32 --set depth=2 --set=weight_decay=0.2 --set activation=relu
check "the width" has set.safetensors '"dim": 32'
check "a word" has set.safetensors '"activation": "relu"'
check "the recipe" has set.safetensors '"weight_decay": 0.2'
check "--set wants KEY=VALUE" refused '"dim": expected KEY=VALUE' --set dim
for pair in learning_rate:lr patch_size:patch weight_deca:weight_decay num_heads:heads \
    learningrate:lr warmup_epochs:warmup optim:optimizer cutmix_alpha:cutmix; do
    check "${pair%:*} may mean ${pair#*:}" \
        refused "did you mean \"${pair#*:}\"?" --set "${pair%:*}=1"
done
check "a value of another type is refused" refused '"dim" must be a whole number' --set dim=wide
check "and one out of range" refused '"lr" is 1000, expected 0 to 100' --set lr=1000

printf '\357\273\277{"train": {"weight_decay": 0.3}}\n' >recipe.json
check "a recipe alone, after a byte order mark" train recipe.safetensors --preset ./recipe.json
check "changes what it says" has recipe.safetensors '"weight_decay": 0.3'
train word.safetensors --set weight_decay=0.3 >word.log 2>&1
vit-info word.safetensors | grep -v 'word\|preset' >word.txt
vit-info recipe.safetensors | grep -v 'recipe\|preset' >recipe.txt
check "and nothing else of what the data decide" test -s word.txt -a -s recipe.txt
check "(network and rest of the recipe)" cmp word.txt recipe.txt

echo '{"lr": 0.3}' >flat.json
check "a key of the recipe outside of it" \
    refused '"lr" belongs into "train": {"train": {"lr": ...}}' --preset ./flat.json
echo '{"dim": 32}' >flat.json
check "and one of the network" \
    refused '"dim" belongs into "model": {"model": {"dim": ...}}' --preset ./flat.json

cp "$presets/folder.json" mine.json
train folder.safetensors --preset folder >folder.log 2>&1
check "folder copied to a file" train mine.safetensors --preset ./mine.json
vit-info --json folder.safetensors | sed 's/folder//g;s/"sha256": "[0-9a-f]*"//' >a
vit-info --json mine.safetensors | sed 's/mine//g;s/"sha256": "[0-9a-f]*"//' >b
check "is the same network" cmp a b
echo '{"model": {"depth": 2, "pool": "mean"}, "train": {"batch": 8}}' >open.json
check "a file that leaves sizes open" train open.safetensors --preset ./open.json
check "has its own" has open.safetensors '"depth": 2'
check "and the rest from the data" has open.safetensors '"dim": 96'
check "a network's key does not go with --init" \
    refused 'holds another network' --init plain.safetensors --set depth=1

check "--list-presets" vit-train --list-presets
for name in mnist folder handwriting; do
    check "names $name" sh -c "vit-train --list-presets | grep -qx $name"
done
check "without a training --data is missing" \
    sh -c 'vit-train 2>&1 | grep -q "^vit-train: --data DATA is missing"'
