#!/bin/sh
# vit-pack: shards of pictures, what it leaves when it fails, and trainings on shards: the same
# bytes by the index and without it, with threads, on ranks, and resumed in the middle of an epoch.
. "$(dirname "$0")/../shell"

# A folder, and shards as Python's tarfile writes them, with names and records of every kind.
python3 - <<'END' || exit 1
import io, os, random, struct, tarfile, zlib
def png(seed, shade):
    r = random.Random(seed)
    rows = b"".join(b"\0" + bytes(shade[i % 3] + r.randrange(40) for i in range(96))
                    for _ in range(32))
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
shades = {"b.lue": (20, 20, 200), "green": (20, 200, 20), "réd": (200, 20, 20)}
for i in range(180):
    name = sorted(shades)[i % 3]
    os.makedirs(f"photos/{name}/more", exist_ok=True)
    with open(f"photos/{name}/more/pic.{i}.png", "wb") as f:
        f.write(png(i, shades[name]))
os.makedirs("foreign")
formats = {"train-000": tarfile.USTAR_FORMAT, "train-001": tarfile.GNU_FORMAT,
           "test-000": tarfile.PAX_FORMAT}
for n, (shard, form) in enumerate(formats.items()):
    with tarfile.open(f"foreign/{shard}.tar", "w", format=form) as t:
        for i in range(30):
            long = "y" * 90 + ("/" if form == tarfile.USTAR_FORMAT else "é" * 40)
            key = f"a/{long}{i}" if i % 2 else f"{n}.d/{i}"
            name = sorted(shades)[i % 3]
            for ending, data in (("png", png(i + 100 * n, shades[name])), ("txt", b"a caption"),
                                 ("cls", b"%d\n" % (i % 3))):
                info = tarfile.TarInfo(f"{key}.{ending}")
                info.size, info.mtime = len(data), 1.5
                t.addfile(info, io.BytesIO(data))
END
echo "no picture" >photos/green/bad.jpg
small="--set dim=16 --set depth=1 --set heads=2 --set mlp=32 --batch 32"

# ---- packing ----

run 0 "shards: 150 pictures for training, 0 for validation, 30 for the test, of 3 classes" \
    "left out: photos/green/bad.jpg: the file is text" vit-pack photos -o shards --megabytes 1
run 0 "*" "*" vit-pack photos -o again --megabytes 1 --threads 1
check "the same bytes" diff -r shards again
run 0 '"train": 150, "val": 0, "test": 30, "classes": 3' "*" vit-pack photos -o other --seed 1 \
    --json
check "another seed, another order" fails cmp shards/test-000000.tar other/test-000000.tar
run 1 "" "shards: is there already, and not empty" vit-pack photos -o shards
run 1 "" "holds no pictures that can be read" vit-pack foreign -o no
run 2 "" "--out DIR is missing" vit-pack photos
check "Python reads them" python3 -c '
import glob, tarfile
names = open("shards/classes.txt").read().split("\n")
for path in glob.glob("shards/*.tar"):
    with tarfile.open(path) as t:
        picture = None
        for m in t:
            assert (m.mtime, m.uid, m.mode) == (0, 0, 0o644)
            data = t.extractfile(m).read()
            if m.name.endswith(".cls"):
                folder, last = m.name.rsplit("/", 1)
                assert names[int(data)] == folder.split("/")[0], m.name
                file = last.split("_", 1)[1][:-4].replace("_", ".") + ".png"
                assert open(f"{folder}/{file}".join(["photos/", ""]), "rb").read() == picture
            else:
                picture = data
'

# A disk that is full: here, a limit for files.
check "a full disk is an error" refuses 1 "cannot write" \
    sh -c "trap '' XFSZ; ulimit -f 8; vit-pack photos -o full"
check "and nothing is left of it" sh -c "! ls -d full*"
mkdir killed.unfinished && cp shards/train-* killed.unfinished
run 1 "" "killed.unfinished: is there already" vit-pack photos -o killed
run 1 "" "did not end" vit-train --data killed.unfinished --steps 1

# ---- training ----

given vit-train --data shards $small --steps 8 --threads 1 --out one.safetensors
mkdir without && cp -r shards without && rm without/shards/shards.tsv
run 0 "*" "*" vit-train --data without/shards $small --steps 8 --threads 2 --out some.safetensors
check "without the index, with two threads" cmp one.safetensors some.safetensors
run 0 "*" "*" vit-train --data shards $small --steps 3/8 --out part.safetensors --checkpoint state
run 0 "*" "resuming after step 3 of 8" vit-train --data shards $small --steps 8 \
    --out part.safetensors --checkpoint state --resume
check "resumed in the middle of an epoch" cmp one.safetensors part.safetensors
run 0 "*" "" vit-evaluate --model one.safetensors --data shards --json
mv out figures
json "the test is that of the folder" figures 'r[0]["images"] == 30'

run 0 "*" "classes.txt may name them" vit-train --data foreign $small --steps 4 --out f.safetensors
given vit-pack --index foreign
run 0 "*" "*" vit-train --data foreign $small --steps 4 --out g.safetensors
check "foreign shards, with an index of ours" cmp f.safetensors g.safetensors
printf 'blue\ngreen\nred\n' >foreign/classes.txt
run 0 "*" "*" vit-train --data foreign $small --steps 4 --out h.safetensors
run 0 "blue" "" vit-classify --model h.safetensors photos/b.lue/more/pic.0.png --top 3

cp -r shards stale && head -c 512 /dev/zero >>stale/train-000000.tar
run 1 "" "by the index, stale/shards.tsv: one of them was changed" vit-train --data stale --steps 1

# ---- ranks ----

mpi=$tree/build/mpi/bin
if [ "$BUILD" = "$tree/build" ] && [ -x "$mpi/vit-train" ] && command -v mpirun >/dev/null &&
    [ "$mpi/vit-train" -nt "$BUILD/lib/libvit.a" ]; then
    . "$tree/scripts/cluster"
    run 0 "*" "*" launch 2 "$mpi/vit-train" --data shards $small --steps 8 --threads 1 \
        --out ranks.safetensors
    check "two ranks" cmp one.safetensors ranks.safetensors
else
    skips "shards on two ranks" "there is no build/mpi of now (make MPI=1)"
fi
