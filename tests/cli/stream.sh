#!/bin/sh
# Frames of a stream: the answers of the same frames as files, times, damage, ends, events.
. "$(dirname "$0")/../shell"

python=$(command -v python3) || { skips "streams" "there is no Python"; exit 0; }
model="--model $tree/models/mnist.safetensors --threads 1"

# 12 frames of 28 x 28: digits drawn as PPM and raw pixels, YUV by BT.601 of grey; JPEG from
# fixtures.
"$python" - "$fixtures" <<'END'
import os, random, sys
random.seed(1)
os.makedirs("ppm")
frames = []
for i in range(12):
    k = i // 3  # three frames of the same picture each, with a little noise
    r = random.Random(k)
    frames.append(bytes(min(255, max(0, r.randrange(256) + (i % 3))) for _ in range(28 * 28 * 3)))
with open("s.ppm", "wb") as s, open("s.rgb", "wb") as raw:
    for i, f in enumerate(frames):
        one = b"P6\n# comment\n28 28\n255\n" + f
        open(f"ppm/{i:02}.ppm", "wb").write(one)
        s.write(one)
        raw.write(f)
os.makedirs("jpg")
jpeg = [open(f"{sys.argv[1]}/{n}", "rb").read() for n in
        ("image_progressive.jpg", "image_exif_6.jpg", "image_420_restart.jpg")]
with open("s.mjpeg", "wb") as s:
    for i, one in enumerate(jpeg):
        open(f"jpg/{i}.jpg", "wb").write(one)
        s.write(b"--boundary\r\nContent-Type: image/jpeg\r\n\r\n" + one)
open("s.y4m", "wb").write(
    b"YUV4MPEG2 W28 H28 F10:1 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL\n"
    + b"".join(b"FRAME\n" + f[::3] + bytes([128]) * 392 for f in frames))
os.makedirs("grey")
for i, f in enumerate(frames):
    grey = bytes(v for y in f[::3] for v in (y, y, y))
    open(f"grey/{i:02}.ppm", "wb").write(b"P6\n28 28\n255\n" + grey)
END

# same DIRECTORY STREAM...: the stream's answers are those of the files
same() {
    directory=$1
    shift
    vit-classify $model --logits --json "$directory"/* 2>said | sed 's/"file": "[^"]*", //' >files
    vit-classify $model --logits --stream "$@" 2>said >stream || return 1
    grep -v '"event"' stream | sed 's/"frame": [0-9]*, //; s/"time": [0-9.]*, //' | cmp - files
}
check "PPM is as files" same ppm s.ppm
check "raw pixels are as files" same ppm --frames 28x28 s.rgb
check "motion JPEG is as files, with what is between" same jpg s.mjpeg
check "YUV4MPEG2 of grey is as grey" same grey s.y4m
check "time by the stream" grep -q '"frame": 11, "time": 1.1,' stream
check "its end" grep -q '"event": "done", .*"frames": 12, "answered": 12, .*"damaged": 0' stream

check "twice the same lines" sh -c "for i in 1 2; do vit-classify $model --stream s.ppm |
    grep -v done >\$i; done; cmp 1 2"
check "a FIFO" sh -c "mkfifo f; cat s.ppm >f & vit-classify $model --stream f | tail -n 1 |
    grep -q '\"answered\": 12'"
check "every fifth" sh -c "vit-classify $model --stream --every 5 <s.ppm >s; grep -c predictions s |
    grep -q 3; grep -q '\"passed_over\": 9' s"
check "those that differ" sh -c "vit-classify $model --stream --change .1 <s.ppm >s
    grep -c predictions s | grep -qx 4; grep -q '\"unchanged\": 8' s"
check "--fps gives times" sh -c "vit-classify $model --stream --fps 4 s.ppm |
    grep -q '\"frame\": 2, \"time\": 0.5,'"
check "in real time every frame is answered or counted" sh -c "vit-classify $model --stream \
    --realtime s.ppm >s; $python -c \"
import json
d = [json.loads(l) for l in open('s')]
assert d[-1]['frames'] == 12 and d[-1]['answered'] + d[-1]['dropped'] == 12, d[-1]
assert len(d) == d[-1]['answered'] + 1\""

# The EMA by its definition, and events with their hysteresis.
check "smoothed logits and events" sh -c "vit-classify $model --stream --logits s.ppm >plain
vit-classify $model --stream --logits --ema .75 --begin .3 --end .2 s.ppm >s; $python - <<'PY'
import json
plain = [r['logits'] for r in map(json.loads, open('plain')) if 'logits' in r]
rows = [json.loads(l) for l in open('s')]
smooth, on, top = None, {}, 0
for r in rows:
    if 'logits' in r:
        x = plain[r['frame']]
        smooth = x if smooth is None else [.75 * a + .25 * b for a, b in zip(smooth, x)]
        assert max(abs(a - b) for a, b in zip(smooth, r['logits'])) < 1e-4
        p = {a['label']: a['probability'] for a in r['predictions']}
    elif r['event'] == 'begin':
        assert r['label'] not in on and r['probability'] >= .3
        on[r['label']] = r['frame']
    elif r['event'] == 'end':
        assert on.pop(r['label']) == r['begin_frame']
        assert r.get('stream_ended') or r['probability'] < .2
assert not on and rows[-1]['event'] == 'done'
PY"

cp "$tree/models/mnist.safetensors" m.safetensors
check "a calibration" vit-evaluate --model m.safetensors --calibrate digits
model="--model m.safetensors --unknown .05 --threads 1"
check "p-values are as those of files" same ppm s.ppm
check "there are some" grep -q '"p_value": [0-9.e-]*, "unknown": true' stream
model="--model $tree/models/mnist.safetensors --threads 1"

# Damage, and ends in the midst.
"$python" - <<'END'
for name, at in (("ppm", 0), ("y4m", 0)):
    data = bytearray(open("s." + name, "rb").read())
    head = data.index(b"\n") + 1 if name == "y4m" else 0
    size = (len(data) - head) // 12
    data[head + 5 * size] = 0
    open("bad." + name, "wb").write(data)
data = open("s.mjpeg", "rb").read()
second = data.index(b"--boundary", 9)
open("bad.mjpeg", "wb").write(data[:second - 300] + data[second:])
END
for name in ppm y4m; do
    vit-classify $model --stream bad.$name >out 2>err
    check "a damaged frame of $name fails at the end" [ $? = 1 ]
    check "it is named, the others are answered" sh -c \
        "grep -q '\"frame\": 5, .*\"error\": \".*frame 5' out; grep -q '\"answered\": 11' out"
done
vit-classify $model --stream bad.mjpeg >out 2>err
check "so is one of motion JPEG" grep -q '"frame": 0, "error": ".*frame 0' out
check "and two are answered" grep -q '"answered": 2, .*"damaged": 1' out
for name in s.ppm s.y4m s.mjpeg; do
    check "$name cut" sh -c "head -c 2000 $name | vit-classify $model --stream >out 2>err
        [ \$? = 1 ] && grep -q 'standard input ends in the midst of frame' err &&
        tail -n 1 out | grep -q '\"event\": \"done\"'"
done
run 1 "" "is empty" vit-classify $model --stream /dev/null
run 1 "" "no stream of frames" vit-classify $model --stream "$tree/README.md"
printf 'YUV4MPEG2 W28 H28 F25:1 C420p10\n' >deep.y4m
run 1 "" "C420p10, expected" vit-classify $model --stream deep.y4m
run 2 "" "are for --stream" vit-classify --every 2 s.ppm
run 2 "" "go together" vit-classify --stream --begin .5 s.ppm
for option in --recursive --embed --list "--shard 1/2" "--neighbours 3"; do
    run 2 "" "${option%% *} has no meaning with --stream" vit-classify --stream $option s.ppm
done
run 1 "" "640x480" vit-classify --stream --frames 28 s.rgb

# An interruption ends within a second, with the closing line.
interrupted() {
    mkfifo held
    "$python" -c '
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
p = subprocess.Popen(["vit-classify"] + sys.argv[1:] + ["--stream", "held"], stdout=subprocess.PIPE)
w = open("held", "wb")
w.write(open("s.ppm", "rb").read()); w.flush()
for _ in range(12): p.stdout.readline()
start = time.time()
p.send_signal(signal.SIGINT)
last = p.stdout.read()
assert p.wait() == 130 and time.time() - start < 5, p.returncode
assert b"\"interrupted\": true" in last, last' $model
}
check "an interruption" interrupted

# So it does while a frame is computed that takes longer.
interrupted_slow() {
    "$python" -c '
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
p = subprocess.Popen("vit-classify --model cifar10 --size 512 --threads 1 --stream".split(),
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
p.stdin.write(b"P5 512 512 255\n" + bytes(512 * 512)); p.stdin.flush()
time.sleep(.5)
p.send_signal(signal.SIGINT)
last = p.stdout.read()
assert p.wait() == 130 and b"\"dropped\": 1" in last and b"\"interrupted\": true" in last, last'
}
check "an interruption of a slow frame" interrupted_slow
