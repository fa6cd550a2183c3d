#!/bin/sh
# Every example of every --help, in a directory that has what they name; manual pages have the same.
# What is said of time is replaced by two steps, and the server's port by a free one.
. "$(dirname "$0")/../shell"

server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
unset VIT_DATA

# examples PROGRAM: the lines of its --help, before the options, that begin in the third column
examples() {
    "$1" --help | sed '/^[A-Z].*:$/,$d' | sed -n 's/^  \([^ ]\)/\1/p'
}

# What the examples name.
mkdir -p scans photos pets/cat pets/dog runs data/mnist
cp "$published/picture.png" seven.png
for name in cat.png nine.png cat.jpg row.png line.png beach.jpg photo.jpg; do
    cp seven.png $name
done
for directory in scans photos pets/cat pets/dog; do
    for i in 1 2 3 4 5 6 7 8; do cp seven.png $directory/$i.png; done
done
cp -r "$published/timm_deit3" vit_small
cp -r "$published/../words/clip" clip
printf "cat\ndog\na red bus\n" >words.txt
cp -r "$published/timm_deit3" vit_base_patch16_224
cp -r "$published/timm_deit3" vit
echo "a-key-of-sixteen-characters-or-more" >keys
echo seven.png >list
cp "$fixtures/image_exif_1.jpg" camera.mjpeg
# Pictures in the files of MNIST, which are not its own.
python3 - <<'END'
import struct
for part, count in (("train", 200), ("t10k", 50)):
    with open(f"data/mnist/{part}-labels-idx1-ubyte", "wb") as f:
        f.write(struct.pack(">II", 0x801, count) + bytes(i % 10 for i in range(count)))
    with open(f"data/mnist/{part}-images-idx3-ubyte", "wb") as f:
        f.write(struct.pack(">IIII", 0x803, count, 28, 28))
        for i in range(count):
            f.write(bytes((i % 10 * 20 + j) % 256 for j in range(784)))
END

mkdir good today && cp seven.png screw.png && cp seven.png today
for i in $(seq 100); do cp seven.png good/$i.png; done

# Models that write texts, hardly trained.
small="--steps 1 --batch 2 --set dim=16 --set depth=1 --set heads=2 --set mlp=16"
mkdir rows && cp seven.png rows/1.png && cp seven.png rows/2.png
printf '1.png\t12\n2.png\t34\n' >rows/labels.tsv
given vit-train --data rows $small --out strips.safetensors
given vit-train --data numbers:en-de $small --out numbers.safetensors
given vit-train --data numbers:en --preset language --steps 1 --batch 2
cp -r "$fixtures/readers/trocr_base" trocr-base-printed
for log in old-1 new-1; do
    given vit-train --data digits $small --out $log.safetensors --log $log.jsonl
done

# run_example EXAMPLE: unchanged, except for the time that it takes
run_example() {
    steps=
    case ${1#mpirun -np ? } in
    *--minutes*|*--epochs*) ;;
    vit-train*) steps=" --steps 2" ;;
    vit-read*) steps=" --length 4" ;;
    esac
    # Those of several processes, which cluster.sh tries, with one.
    sh -c "$(echo "${1#mpirun -np ? }" | sed -E 's/--(minutes|epochs) [0-9.]+/--steps 2/')$steps"
}

# Those of vit-train first: their models are named by others.
all="vit-train vit-classify vit-evaluate vit-info vit-convert vit-report vit-explain vit-read"
all="$all vit-search vit-pack vit-anomaly"
for program in $all; do
    examples $program >examples
    check "$program has examples" test -s examples
    while IFS= read -r example; do
        check "$example" run_example "$example"
    done <examples
done

# ---- the server ----

# serves COMMAND: says within a minute where it listens, and where that is
serves() {
    rm -f address # of the server before, which the new one empties only when it starts
    sh -c "exec $1 --port 0" >address 2>said &
    server=$!
    for _ in $(seq 120); do
        grep -q '^listening on' address 2>/dev/null && break
        sleep 0.5
    done
    cat address said
    grep -q '^listening on' address
}

stop() {
    [ -z "$server" ] || kill "$server"
    wait "$server" 2>/dev/null
    server=
}

if [ -x "$BUILD/bin/vit-serve" ]; then
    cp digits.safetensors runs/best.safetensors
    examples vit-serve >examples
    while IFS= read -r example; do
        case $example in
        vit-serve*)
            stop
            check "$example" serves "$example"
            ;;
        curl*)
            command -v curl >/dev/null || continue
            port=$(sed -n 's/.*:\([0-9]*\)$/\1/p' address)
            check "$example" sh -c "$(echo "$example" | sed "s/:8080/:$port/; s/curl/curl -sSf/")"
            ;;
        esac
    done <examples
    stop
fi

# ---- manual pages ----

# same_examples PROGRAM: the page has its examples, and no others
same_examples() {
    sed -n '/^\.nf/,/^\.fi/p' "$BUILD/man/$1.1" | sed 's/\\e/\\/g; s/\\-/-/g; s/\\&//' |
        sed -n 's/^  \([^ ]\)/\1/p' >page
    examples "$1" | diff - page
}
for program in $all vit-serve; do
    [ -x "$BUILD/bin/$program" ] || continue
    check "the manual page of $program has them" same_examples $program
done

