#!/bin/sh
# Which measured trainings vit-train knows (scripts/embed-measured): of presets as they are, by
# options that change nothing but the length.
. "$(dirname "$0")/../shell"

mkdir presets
echo '{"train": {"epochs": 3}}' >presets/a.json
now=$(sha256sum presets/a.json | cut -c 1-64)

# embeds OPTIONS SHA256: a training with these, of a preset of that SHA-256
embeds() {
    printf '{"options": "%s", "machine": "one, 2 processors", "seconds": 9.0, ' "$1" >measured.jsonl
    printf '"data_sha256": "ab12", "preset": "a", "preset_sha256": "%s", ' "$2" >>measured.jsonl
    printf '"processor_seconds": 8.5, "steps": 30, "test_top1": 0.91, "ece": 0.1}\n' \
        >>measured.jsonl
    "$tree/scripts/embed-measured" measured.jsonl presets/a.json >found || return 1
    grep -qF '{"ab12", "a", 30, 8.5, 0.91},' found
}

check "a preset as it is" embeds '--data mnist --preset a --steps 30' "$now"
check "the data's own" embeds '--data mnist' "$now"
check "in bfloat16" embeds '--data mnist --precision bf16 --steps 30' "$now"
check "not with another learning rate" fails embeds '--data mnist --lr 0.1' "$now"
check "not with another value" fails embeds '--data mnist --set dim=8 --steps 30' "$now"
check "not of a preset that was changed" fails embeds '--data mnist' "0$now"
rm measured.jsonl
check "nor without a file" "$tree/scripts/embed-measured" measured.jsonl presets/a.json

# picks PRESET MINUTES: what is taken for CIFAR-10 in MINUTES
picks() {
    vit-train --data cifar10 --minutes "$2" --out model.safetensors >out 2>&1 &
    tries=600
    until grep -q "^vit-train: $1 in place of cifar10" out || [ $((tries -= 1)) -eq 0 ]; do
        sleep .1
    done
    kill $!
    wait $!
    [ "$tries" -gt 0 ]
}

VIT_DATA=$(cd "$tree" && cd "${VIT_DATA:-../shared/data}" 2>/dev/null && pwd)
export VIT_DATA
if [ -d "$VIT_DATA/cifar10" ]; then
    check "the best preset for a week" picks cifar10-best 10000
else
    skips "the best preset for a week" "CIFAR-10 is absent: scripts/fetch-data cifar10"
fi
