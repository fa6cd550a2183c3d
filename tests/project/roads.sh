#!/bin/sh
# The same answers on every road through the programs: sources of a model (a file, a checkpoint,
# the directories of each library, .npz, .pth, another size) times instruction sets, threads, and
# ways to ask (one picture, several, a list of names, features). In float32 to the bit; in
# bfloat16, where there is a processor for it, whatever the threads to the bit, and near float32.
. "$(dirname "$0")/../shell"

# Three pictures that differ.
python3 - <<'END'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for n, (width, height) in enumerate(((40, 40), (61, 37), (25, 90))):
    rows = b"".join(b"\0" + bytes((x * 5 + y * 3 + c * 40 + n * 80) % 256
                                  for x in range(width) for c in range(3)) for y in range(height))
    with open(f"{n}.png", "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" +
                chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END
pictures="0.png 1.png 2.png"
printf '%s\n' $pictures >names

# classify CPU THREADS OPTION...: logits, or with --embed features, as JSON; what programs say of
# pictures is left out
classify() {
    cpu=$1 threads=$2
    shift 2
    VIT_CPU=$cpu vit-classify --threads "$threads" "$@" 2>told || { cat told >&2; return 1; }
}

# What one thread and plain C answer to one picture after the other.
reference() {
    for picture in $pictures; do classify scalar 1 "$@" "$picture" || return 1; done
}

# in_precision FILE OPTION...: the reference into FILE, and all other roads the same
in_precision() {
    file=$1
    shift
    reference "$@" >"$file" || return 1
    # shellcheck disable=SC2086 # a list of words
    { classify scalar 2 "$@" $pictures >other && cmp other "$file"; } &&
        { classify scalar 3 "$@" --files-from names >other && cmp other "$file"; }
}

same_on_all_roads() {
    for what in "--json --logits" "--embed"; do
        # shellcheck disable=SC2086 # a list of words
        in_precision expected "$@" $what || return 1
        for cpu in avx2 avx512 ""; do
            # shellcheck disable=SC2086
            classify "$cpu" 1 "$@" $what $pictures >other && cmp other expected || return 1
            # shellcheck disable=SC2086
            classify "$cpu" 2 "$@" $what --files-from names >other && cmp other expected || return 1
        done
        [ "$what" = --embed ] || cp expected logits
    done
}

# near_in_bf16 OPTION...: after same_on_all_roads, whose logits it compares with
near_in_bf16() {
    in_precision expected "$@" --precision bf16 --json --logits || return 1
    python3 - <<'END'
import json
rows = [[json.loads(line)["logits"] for line in open(name)] for name in ("logits", "expected")]
for a, b in zip(*rows):
    most = max(abs(x) for x in a)
    assert max(abs(x - y) for x, y in zip(a, b)) <= 0.05 * most, (a, b)
    assert a != b, "float32 was answered"
END
}

# same_in_int8 OPTION...: after same_on_all_roads, whose logits it keeps, and differs from
same_in_int8() {
    mv logits kept && same_on_all_roads "$@" --precision int8 && ! cmp -s logits kept &&
        mv kept logits
}

# road NAME OPTION...
road() {
    road=$1
    shift
    check "$road: the same on all roads" same_on_all_roads "$@"
    if [ $bf16 = yes ]; then check "$road: near that in bfloat16" near_in_bf16 "$@"; fi
    check "$road: the same in int8" same_in_int8 "$@"
}

# ---- the sources ----

mkdir -p classes/a classes/b
for i in 0 1 2 3 4 5 6 7; do cp 0.png classes/a/$i.png && cp 2.png classes/b/$i.png; done
check "a training" vit-train --data classes --size 32 --set dim=32 --set depth=2 --set heads=2 \
    --set mlp=48 --set stem=linear --set pool=class --set class_token=true --set qkv_bias=true \
    --steps 4 --batch 8 --checkpoint state --out trained.safetensors
bf16=no
VIT_CPU=scalar vit-classify --model trained.safetensors --precision bf16 0.png >/dev/null 2>&1 &&
    bf16=yes
road "just trained" --model trained.safetensors
cp logits trained.logits
road "another size" --model trained.safetensors --size 64

# The temperature is fitted at the end of a training: logits are the same.
only_logits() {
    sed 's/.*"logits"/"logits"/' "$1"
}
same_logits() {
    only_logits "$1" >a && only_logits "$2" >b && cmp a b
}
road "its checkpoint" --model state
check "which is the same network" same_logits logits trained.logits
for layout in timm hf npz pytorch; do
    check "converted for $layout" vit-convert trained.safetensors "as-$layout" --layout $layout
    [ -d "as-$layout" ] || continue
    road "converted for $layout" --model "as-$layout"
    check "which is the same network" same_logits logits trained.logits
done
# A directory for each library and container: .safetensors, .pth, .npz.
for name in timm_deit3 timm_distilled timm_map hf_5 hf_dinov2_swiglu_5 torchvision \
    lucidrains_latest google_timm; do
    road "$name" --model "$published/$name"
done
[ $bf16 = yes ] || skips "bfloat16" "not on this processor"
