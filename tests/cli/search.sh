#!/bin/sh
# vit-search: an index of pictures, killed while it is made and changed while it is read.
. "$(dirname "$0")/../shell"

given_model
mkdir -p photos/more
python3 - <<'END' || exit 1
import struct, zlib, random
def png(path, seed):
    r = random.Random(seed)
    x, y, w, h = r.randrange(16), r.randrange(16), r.randrange(3, 12), r.randrange(3, 12)
    rows = b"".join(b"\0" + bytes(255 if x <= i < x + w and y <= j < y + h else r.randrange(40)
                                  for i in range(28)) for j in range(28))
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    with open(path, "wb") as f:
        head = struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
for i in range(1000):
    png(f"photos/{'more/' if i % 3 else ''}p{i:04}.png", i)
END
cp photos/p0000.png photos/copy.png

run 2 "" "-o INDEX is missing" vit-search build photos --model digits.safetensors
run 1 "" "absent is no folder" vit-search build absent -o i --model digits.safetensors
rm -f i

# ---- killed until it is done; whenever it is killed, what there is can be searched ----

killed=0 pictures=0 lost=0
for round in 1 2 3 4 5; do
    size=$({ wc -c <i; } 2>/dev/null || echo 0)
    vit-search build photos -o i --model digits.safetensors >/dev/null 2>&1 &
    builder=$!
    # until the file grows, or the builder has ended
    while kill -0 $builder 2>/dev/null; do
        [ "$({ wc -c <i; } 2>/dev/null || echo 0)" -le "$size" ] || break
        sleep 0.01
    done
    kill -9 $builder 2>/dev/null && killed=$((killed + 1))
    wait $builder 2>/dev/null
    vit-search i photos/p0000.png --top 2000 --json >found 2>/dev/null || : >found
    now=$(wc -l <found)
    [ "$now" -ge "$pictures" ] || lost=1
    pictures=$now
done
check "it was killed" test $killed -gt 2
check "nothing was lost" test $lost -eq 0
check "some pictures were written before" test $pictures -gt 0
run 0 '"added"' "" vit-search build photos -o i --model digits.safetensors --json
mv out answer
json "the rest was added" answer "r[0]['kept'] == $pictures and r[0]['added'] == 1001 - $pictures
    and r[0]['failed'] == r[0]['changed'] == r[0]['vanished'] == 0"
run 0 "1,001 added" "" vit-search build photos -o whole --model digits.safetensors
run 1 "" "p0001.png" vit-search i photos/p0001.png
vit-search i photos/p0003.png --top 2000 --json | sort >found
vit-search whole photos/p0003.png --top 2000 --json | sort >expected
check "it finds what an index made at once finds" cmp found expected
check "all pictures" test "$(wc -l <found)" -eq 1001

# ---- answers ----

run 0 "photos/p0003.png" "" vit-search i photos/p0003.png --top 1 --html sheet.html
check "the sheet has the picture in it" grep -q 'src="data:image/png;base64,' sheet.html
check "and needs nothing else" sh -c "! grep -Eq '(src|href)=\"[^d]' sheet.html"
mkdir strange
cp photos/p0003.png "strange/$(printf 'caf\351 <&>').png"
run 0 "1 added" "" vit-search build strange -o strange.index --model digits.safetensors
run 0 "*" "" vit-search strange.index photos/p0003.png --html strange.html
check "a name that is no UTF-8 stands in a page that is" sh -c '
    iconv -f UTF-8 -t UTF-8 strange.html >same && cmp same strange.html &&
    grep -q "caf$(printf "\357\277\275") &lt;&amp;&gt;" strange.html'
run 0 copy.png "" vit-search i --look-alikes 0.99999 --json
mv out answer
json "a copy looks alike" answer 'sorted(["photos/copy.png", "photos/p0000.png"]) in
    [sorted(x["files"]) for x in r]'
mkdir doubles
for i in 30 33 36 39 42 45 48 51 54 57; do
    cp photos/p00$i.png doubles/a$i.png && cp photos/p00$i.png doubles/b$i.png
done
run 0 "20 added" "" vit-search build doubles -o doubles.index --model digits.safetensors
run 0 "*" "" vit-search doubles.index --look-alikes 1 --csv
check "the same picture twice has the cosine 1" test "$(grep -c ',1$' out)" -eq 10
check "and no cosine is above it" fails grep -q ',1[.]0*[1-9]' out
run 2 "" "the query is empty" vit-search i ""
run 2 "" "the query is empty" vit-search i "  "
VIT_CPU=scalar vit-search i photos/p0003.png --top 50 --threads 1 >scalar
vit-search i photos/p0003.png --top 50 --threads 3 >threads
check "threads and instruction sets change no digit" cmp scalar threads

# ---- changes ----

rm photos/copy.png photos/p0003.png
cp photos/p0006.png photos/p0009.png
echo "no picture" >photos/p0012.png
run 1 '"vanished"' "p0012.png" vit-search build photos -o i --json
mv out answer
json "changes are seen" answer "r[0]['vanished'] == 3 and r[0]['changed'] == 1 and
    r[0]['added'] == 0 and r[0]['failed'] == 1"
run 0 p0009.png "" vit-search i photos/p0006.png --top 2000 --json
mv out answer
json "what is gone is not found" answer "len(r) == 998 and not [x for x in r
    if x['file'] in ('photos/copy.png', 'photos/p0003.png', 'photos/p0012.png')]"
json "the first are the same" answer "sorted(x['file'] for x in r[:2]) ==
    ['photos/p0006.png', 'photos/p0009.png'] and r[0]['score'] == r[1]['score']"
mkdir other
cp photos/p0006.png other/extra.png
run 0 ": 1 added, 0 changed, 0 vanished" "" vit-search build other -o i

# ---- one folder, whatever it is called ----

mkdir -p album elsewhere
cp photos/p0006.png "album/a b.png"
cp photos/p0009.png album/-dash.png
cp photos/more/p0001.png "album/$(printf 'new\nline.png')"
cp photos/more/p0002.png "album/$(printf 'no-utf8-\377.png')"
ln -s album link
run 0 ": 4 added" "" vit-search build album -o spelt --model digits.safetensors
for name in ./album album/ "$PWD/album" link ../"${PWD##*/}"/album; do
    run 0 ": 0 added, 0 changed, 0 vanished, 4 as before" "" vit-search build "$name" -o spelt
done
(cd elsewhere && vit-search build ../link -o ../spelt) >out 2>err
check "from another directory, too" grep -q ": 0 added.* 4 as before" out
run 0 ": 4 added" "" vit-search build album album/ link -o thrice --model digits.safetensors
run 0 "album/-dash.png" "" vit-search spelt photos/p0009.png --top 1
run 0 'new?line.png' "" vit-search spelt photos/more/p0001.png --top 1
(cd elsewhere && vit-search ../spelt ../photos/p0009.png --top 4 --html ../sheet.html) >out 2>err
check "its pictures are found from elsewhere" grep -q '^1.0000  ../album/-dash.png' out
check "and shown" test "$(grep -c 'src="data:image/png' sheet.html)" -eq 4
check "the page is UTF-8" python3 -c "open('sheet.html', encoding='utf-8').read()"
mkdir moved
mv album spelt moved
run 0 "moved/album/-dash.png" "" vit-search moved/spelt photos/p0009.png --top 1 --html sheet.html
check "a folder moves with its index" grep -q 'src="data:image/png' sheet.html
rm moved/album/-dash.png
mkfifo moved/album/-dash.png
run 0 "moved/album/-dash.png" "" \
    timeout 60 vit-search moved/spelt photos/p0009.png --html sheet.html
check "a pipe in a picture's place is not waited for" grep -q "cannot be read" sheet.html

# ---- copies ----

python3 - <<'END'
import os, struct, zlib, random
def png(path, rows):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(r) for r in rows))) +
                chunk(b"IEND", b""))
def scene(seed):
    r = random.Random(seed)
    blobs = [[r.random() * 72, r.random() * 72, r.randrange(40, 400), r.randrange(-90, 90)]
             for _ in range(14)]
    return [[min(255, max(0, int(125 + x / 2 + sum(
        a * 2.718 ** (-((x - u) ** 2 + (y - v) ** 2) / w) for u, v, w, a in blobs))))
        for x in range(72)] for y in range(72)]
os.makedirs("twins")
for i in range(6):
    rows = scene(i)
    png(f"twins/{i}.png", rows)
    if i == 1: png("twins/mirrored.png", [r[::-1] for r in rows])
    if i == 2: png("twins/saved.png", [[min(255, p // 8 * 8 + 9) for p in r] for r in rows])
    if i == 3: png("twins/crop.png", [r[8:72] for r in rows[4:68]])
END
cp twins/0.png twins/same.png
run 0 "10 added" "" vit-search build twins -o twins.index --model digits.safetensors
run 0 "*" "" vit-search twins.index --near-duplicates --json
mv out answer
json "copies by bytes and by pixels, and nothing else" answer '
    [(x["alike"], x["files"]) for x in r] == [
    ("exact", ["twins/0.png", "twins/same.png"]),
    ("mirrored", ["twins/1.png", "twins/mirrored.png"]),
    ("near", ["twins/2.png", "twins/saved.png"]), ("crop", ["twins/3.png", "twins/crop.png"])]'
run 0 "twins/0.png,twins/same.png,exact" "" vit-search twins.index --near-duplicates --csv
check "a head and four lines" test "$(wc -l <out)" -eq 5
check "the head" grep -q '^first,second,alike$' out
run 0 "exact     twins/0.png  twins/same.png" "" \
    vit-search twins.index --near-duplicates --threads 3
rm twins/5.png
run 1 "near" "1 of 10 pictures could not be read" vit-search twins.index --near-duplicates

# ---- a damaged index ----

cp i sound
python3 - <<'END'
data = bytearray(open("i", "rb").read())
size = 64 + int.from_bytes(data[8:16], "little")
data[size + 9] ^= 4  # in the head of the second block
open("i", "wb").write(data)
END
cp i damaged
run 1 "" "can be saved: vit-search repair i -o NEW" vit-search i photos/p0006.png
run 1 "" "can be saved: vit-search repair i -o NEW" vit-search build photos -o i
check "it stays as it is" cmp i damaged
run 2 "" "repair expects INDEX -o NEW" vit-search repair i
run 1 "" "exists already" vit-search repair i -o sound
run 0 "pictures saved; in i its block at byte" "" vit-search repair i -o repaired
run 1 ", 0 changed, 0 vanished" "p0012.png" vit-search build photos other -o repaired
vit-search repaired photos/p0006.png --top 2000 --json | sort >found
vit-search sound photos/p0006.png --top 2000 --json | sort >expected
check "built again, it has all" cmp found expected
cp sound i

# ---- what is refused ----

echo "IDX2 is how these notes begin" >notes.txt
cp notes.txt kept.txt
run 1 "" "is no index of pictures" vit-search build other -o notes.txt --model digits.safetensors
check "a text is not overwritten" cmp notes.txt kept.txt

run 1 "" "words need the directory of a CLIP" vit-search i "a dog on a beach"
run 1 "" "is no index of pictures" vit-search digits.safetensors photos/p0006.png
run 1 "" "another model" vit-search i photos/p0006.png --model mnist
run 1 "" "another model" vit-search build photos -o i --model mnist
run 2 "" "one PICTURE is expected" vit-search i
