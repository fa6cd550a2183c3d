#!/bin/sh
# Nothing lost, as users meet it: trainings that are killed, interrupted, that share a directory,
# whose disk is full or read-only, whose checkpoints are damaged, whose loss explodes; and what is
# never overwritten. Files and system calls one by one: tests/train/test_checkpoint.c.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
cd "$here/../.." || exit 1
case ${BUILD:=build} in
/*) ;;
*) BUILD=$PWD/$BUILD ;;
esac
export BUILD
PATH=$BUILD/bin:$PATH
fixtures=$PWD/tests/fixtures
unset VIT_CPU VIT_MODELS TMPDIR
LC_ALL=C OMP_NUM_THREADS=1
export LC_ALL OMP_NUM_THREADS
count=0
process=

# result NAME STATUS: one TAP line; on failure also what the program wrote.
result() {
    count=$((count + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        sed 's/^/#  out: /' out
        grep -v '^epoch' err | tail -20 | sed 's/^/#  err: /'
    fi
}

# holds NAME COMMAND...: the command succeeds.
holds() {
    name=$1
    shift
    "$@" >check 2>&1
    result "$name" $?
}

# run NAME STATUS TEXT COMMAND...: the exit status, and a text on standard error.
run() {
    name=$1 want=$2 text=$3
    shift 3
    "$@" >out 2>err </dev/null
    got=$?
    { [ $got -eq "$want" ] && grep -qF -e "$text" err; }
    result "$name" $?
}

# await TEXT FILE: until the file has the text, or the training has ended.
await() {
    while kill -0 $process 2>/dev/null && ! grep -q "$1" "$2" 2>/dev/null; do sleep 0.01; done
}

newest() { ls "$1"/checkpoint-*.safetensors | tail -n 1; }

# early: less than half of the training's steps are done; what it does is said by its log.
early() {
    last=$(tail -n 1 log)
    case $last in
    *'"step": '*'"steps": '*) ;;
    *) return 1 ;;
    esac
    step=${last#*\"step\": } steps=${last#*\"steps\": }
    [ $((2 * ${step%%,*})) -lt "${steps%%,*}" ]
}

# saved DIRECTORY: no checkpoint is being written or removed there: the last one was logged.
saved() {
    ! ls -A "$1" | grep -qv '^checkpoint-[0-9]*.safetensors$\|^lock$' &&
        grep '"event": "checkpoint"' log | tail -n 1 | grep -qF "$(newest "$1")"
}

# A shell starts a job in the background with SIGINT ignored, and under nohup SIGHUP is: these start
# as in a terminal.
terminal="env --default-signal=HUP,INT,TERM"

# begin DIRECTORY ARGUMENT...: a training in the background that saves there; stopped when it has
# written a checkpoint and is not about to write another. One that got too far meanwhile, on a busy
# machine, is begun again.
begin() {
    directory=$1
    shift
    for _ in $(seq 100); do
        rm -rf log err m "$directory"
        $terminal $train --log log --checkpoint "$directory" "$@" >out 2>err &
        process=$!
        await '"event": "checkpoint"' log
        while kill -STOP $process 2>/dev/null && early; do
            ! saved "$directory" || return 0
            kill -CONT $process
            sleep 0.01
        done
        kill -KILL $process 2>/dev/null
        wait $process 2>/dev/null
    done
}

# finish: lets it go on to its end; $got is its exit status.
finish() {
    kill -CONT $process
    wait $process
    got=$?
}

# idx FILE MAGIC COUNT MORE: the header of an IDX file of COUNT < 256 things.
idx() {
    printf "\000\000\010\00$2\000\000\000\\$(printf %03o "$3")$4" >"grey/$1"
}

# Grey pictures, the shade of each says its class.
make_data() {
    mkdir grey
    for shade in 000 031 062 113 144 175 226 257 310 341; do
        head -c 784 /dev/zero | tr '\000' "\\$shade" >>ten
    done
    for set in train:200 t10k:50; do
        name=${set%:*} pictures=${set#*:}
        idx "$name-labels-idx1-ubyte" 1 "$pictures" ""
        idx "$name-images-idx3-ubyte" 3 "$pictures" '\000\000\000\034\000\000\000\034'
        for _ in $(seq $((pictures / 10))); do
            printf '\000\001\002\003\004\005\006\007\010\011' >>"grey/$name-labels-idx1-ubyte"
            cat ten >>"grey/$name-images-idx3-ubyte"
        done
    done
    echo '{"model": {"patch": 14, "dim": 16, "depth": 2, "heads": 2, "mlp": 16},
           "train": {"batch": 16, "lr": 0.001, "shift": 2, "cutmix": 1, "ema": 0.9}}' >small.json
}
train="vit-train --data grey --preset ./small.json"

# ---- on a small disk of its own: this script again, in a name space of its own ----

# fill: all that is left of the disk.
fill() { head -c 2000000 /dev/zero >>disk/filler 2>/dev/null; }

small_disk() { umount disk 2>/dev/null; mount -t tmpfs -o size="$1" none disk; }
# whole: there are checkpoints, and none is skipped as damaged.
whole() {
    ls disk/c/checkpoint-* >/dev/null && ! ls -A disk/c | grep -q tmp &&
        ! $train --steps 1/1200 --checkpoint disk/c --resume --out n 2>&1 | grep -q skipped
}

on_small_disks() {
    mkdir disk
    $train --steps 1200 --out straight >out 2>err
    small_disk 100k
    run "no room for the checkpoints: said at the start" 1 "checkpoint.new: it needs" \
        $train --steps 1200 --checkpoint disk/c --out m
    run "no room for the model: said at the start" 1 "cannot write disk/m: it needs" \
        $train --steps 1200 --out disk/m --set dim=128
    holds "nothing is left behind then" sh -c '! ls -A disk | grep -qv "^c$"'

    small_disk 1500k
    begin disk/c --steps 1200 --out m --save-every 0.001
    fill
    finish
    [ $got -eq 1 ] && grep -q "No space left on device; the training goes on" err &&
        cmp m straight && rm disk/filler && whole
    result "a disk that gets full: the training goes on, the checkpoint stays, exit status 1" $?
    rm m
    run "and can be resumed when there is room" 0 "resuming after step" \
        $train --steps 1200 --checkpoint disk/c --out m --resume
    holds "to the same bytes" cmp m straight

    small_disk 1500k
    for _ in $(seq 100); do
        begin disk/c --steps 1200 --out m --save-every 0.001
        fill
        kill -CONT $process
        await "goes on" err
        kill -STOP $process
        rm disk/filler
        ! early || break
        finish
    done
    finish
    [ $got -eq 0 ] && cmp m straight && whole
    result "room again in time: it is saved, exit status 0" $?

    small_disk 1500k
    begin c3 --steps 1200 --out disk/m
    fill
    finish
    [ $got -eq 1 ] && grep -q "the model is in c3/m instead" err && cmp c3/m straight
    result "no room for the model: it is written beside its checkpoints" $?

    small_disk 1500k
    begin disk/c --steps 1200 --out disk/m --save-every 0.001
    fill
    finish
    [ $got -eq 1 ] && grep -q "the model is in ./m instead" err && cmp m straight &&
        rm disk/filler && whole
    result "or into the current directory" $?

    small_disk 1500k
    begin disk/c --steps 100000 --out stopped --save-every 0.001
    fill
    kill -TERM $process
    finish
    [ $got -eq 143 ] && grep -q -- "--checkpoint stopped.checkpoint --resume goes on" err
    result "interrupted with a full disk: the state is saved beside the model" $?

    small_disk 1500k
    begin disk/c --steps 1200 --out m --save-every 0.001
    mount --bind disk disk && mount -o remount,bind,ro disk
    finish
    [ $got -eq 1 ] && grep -q "Read-only file system; the training goes on" err &&
        cmp m straight
    result "a directory that becomes read-only" $?
    run "cannot be resumed from until it can be written" 1 "Read-only" \
        $train --steps 1200 --checkpoint disk/c --out m --resume
    umount disk
    whole
    result "until then its checkpoints are as they were" $?
    umount disk
    rm -f m straight
}

if [ "${1:-}" = on_small_disks ]; then
    cd "$2" || exit 1
    count=100
    on_small_disks
    exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; [ -z "$process" ] || kill -9 $process 2>/dev/null' EXIT
cd "$work" || exit 1
make_data
if unshare -rm true 2>/dev/null; then
    unshare -rm sh "$here/checkpoint.sh" on_small_disks "$work"
else
    echo "ok 1 - small disks # SKIP no name spaces for mounting them"
fi

# ---- killed at any moment ----

$train --steps 1500 --out straight >out 2>err
for kills in $(seq 12); do
    rm -f log
    $train --steps 1500 --out killed --checkpoint c --resume --threads $((kills % 3 + 1)) \
        --save-every 0.0001 --log log >out 2>err &
    process=$!
    await '"event": "checkpoint"' log
    sleep 0.0$((kills * 7 % 10))
    kill -KILL $process 2>/dev/null
    wait $process 2>/dev/null
done
run "killed 12 times" 0 "resuming after step" \
    $train --steps 1500 --out killed --checkpoint c --resume
holds "the same bytes as without, with other threads each time" cmp killed straight
holds "and no temporary file is left" sh -c '[ -z "$(ls -A c . | grep "tmp\|checkpoint.new")" ]'

# ---- signals ----

for signal in HUP:129 INT:130 TERM:143; do
    begin c --steps 100000 --out m
    kill -"${signal%:*}" $process
    finish
    [ $got -eq "${signal#*:}" ] && grep -q "the same command with --resume goes on" err
    result "SIG${signal%:*}: exit status ${signal#*:}, and how to go on" $?
done
begin c --steps 100000 --out m
kill -TERM $process
finish
step=$(sed -n 's/.*interrupted after step \([0-9]*\) of.*/\1/p' err)
holds "what was interrupted goes on from that very step" sh -c "
    $train --steps $((step + 30))/100000 --out m --checkpoint c --resume 2>err &&
    grep -q 'resuming after step $step of' err &&
    $train --steps $((step + 30))/100000 --out s 2>err && cmp m s"
rm -f err log
nohup $train --steps 2000 --out hung --checkpoint c9 --log log >out 2>err </dev/null &
process=$!
await '"event": "checkpoint"' log
kill -HUP $process
wait $process
holds "a SIGHUP that is ignored from the start stays ignored" test -e hung

# ---- two at once ----

begin c --steps 100000 --out m
run "a second training in the same directory is refused" 1 "c/lock is locked by another process" \
    $train --steps 100000 --out m --checkpoint c --resume
kill -KILL $process
finish 2>/dev/null
run "one that was killed is in nobody's way" 0 "resuming after step" \
    $train --steps "$(newest c | tr -dc 0-9 | sed 's/^0*//')/100000" --out m --checkpoint c --resume

# ---- damage ----

rm -rf c m
$train --steps 600/1500 --out m --checkpoint c >out 2>err
file=$(newest c)
printf x | dd of="$file" bs=1 seek=$(($(wc -c <"$file") / 2)) conv=notrunc 2>/dev/null
run "a damaged checkpoint is named, and an older one gone on from" 0 "skipped: $file is damaged" \
    $train --steps 1500 --out m --checkpoint c --resume
holds "to the same bytes" cmp m straight
rm -rf c
mkdir c
echo damaged >c/checkpoint-000000000600.safetensors
run "where none is whole nothing is begun" 1 "none of its 1 checkpoints can be used" \
    $train --steps 1500 --out m --checkpoint c --resume
holds "and nothing is lost" test "$(cat c/checkpoint-000000000600.safetensors)" = damaged

# ---- another training's ----

rm -rf c m
$train --steps 30 --out m --checkpoint c >out 2>err
run "another learning rate: only that is named" 1 \
    'another training: in its recipe "lr" is 0.001, this command'"'"'s is 0.002' \
    $train --steps 30 --out m --checkpoint c --resume --lr 0.002
run "another network" 1 'in its network "depth" is 2, this command'"'"'s is 3' \
    $train --steps 30 --out m --checkpoint c --set depth=3
run "a shorter schedule" 1 "number of steps is 30, this command's is 29" \
    $train --steps 29 --out m --checkpoint c --resume
run "fewer steps than there are" 0 "that is beyond the 9 steps that were asked for" \
    $train --steps 9/30 --out m --checkpoint c --resume
run "afresh where this training has been" 0 "keeps it until it has reached that step" \
    $train --steps 9/30 --out m --checkpoint c
holds "which it does" test -e c/checkpoint-000000000030.safetensors
run "another seed, asked to replace" 0 "" \
    $train --steps 5/30 --seed 1 --out m --checkpoint c --overwrite
holds "which it does, too" test "$(ls c)" = "checkpoint-000000000005.safetensors
lock"

# ---- what is never overwritten ----

echo "dear diary" >diary
run "--out: what is no model" 1 "diary exists and is no model" $train --steps 1 --out diary
run "not even with --overwrite" 1 "diary exists and is no model" \
    $train --steps 1 --out diary --overwrite
run "--log: what is no log" 1 "diary exists and is no log" $train --steps 1 --log diary --out m1
echo '{"model": 1}' >thing.json
run "--log: other JSON" 1 "thing.json exists and is no log" \
    $train --steps 1 --log thing.json --out m1
holds "they are as they were" test "$(cat diary thing.json)" = 'dear diary
{"model": 1}'
cp m theirs
run "--out: another training's model" 1 "was not made by this same training" \
    $train --steps 1 --out theirs
cp "$fixtures/sizes.safetensors" sizes
run "--out: a model of somewhere else" 1 "was not made by this same training" \
    $train --steps 1 --out sizes
run "--log and --out, by two names" 2 "name the same file" $train --steps 1 --log ./new --out new
$train --steps 2 --log kept --out m2 >out 2>err
run "a training that is refused" 1 "was not made by" $train --steps 2 --log kept --out theirs
holds "keeps the log of the one before" grep -q '"event": "done"' kept
printf '{"event": "ep' >>kept
$train --steps 2 --log kept --out m2 --checkpoint c7 --resume >out 2>err
holds "half a line at the end of a log is taken off" \
    sh -c '! grep -qv "^{.*}$" kept && [ $(grep -c "^{.event.: .start" kept) -eq 2 ]'

# ---- a loss that explodes ----

rm -rf c
run "a learning rate of 100" 1 "lower the learning rate (now 100 at most)" \
    $train --steps 1200 --lr 100 --out boom --checkpoint c
holds "writes no model" test ! -e boom
run "one that learns nothing" 1 "it has learnt nothing: the loss" \
    $train --steps 500 --lr 0.0000001 --out idle
run "or nothing yet, which is no failure" 0 "it has learnt nothing yet" \
    $train --steps 300 --lr 0.0000001 --out idle --overwrite
holds "writes one" test -e idle
# A step of this multiplies the weights by -9,999.
echo '{"model": {"patch": 14, "dim": 16, "depth": 2, "heads": 2, "mlp": 16},
       "train": {"batch": 180, "warmup": 0, "clip": 0, "lr": 100, "weight_decay": 100}}' >wild.json
mkdir noise
cp grey/*labels* noise
for set in train:200 t10k:50; do
    name=${set%:*}-images-idx3-ubyte
    { head -c 16 "grey/$name"; seq 1000000 | head -c $((784 * ${set#*:})); } >"noise/$name"
done
wild="vit-train --data noise --preset ./wild.json --out wild"
run "a validation loss that is NaN" 1 "the validation loss became NaN after step" \
    $wild --steps 40 --val 20 --checkpoint c4
holds "keep the last good state" grep -q "c4 keeps the state of step 1, of which --resume" err
run "from which a model can be made" 0 "resuming after step 1" \
    $wild --steps 1/40 --val 20 --checkpoint c4 --resume
rm wild
run "losses that are NaN" 1 "10 steps in a row, up to" $wild --steps 40 --val 0
run "logits that are not finite" 1 "are not finite; it is not written" \
    $wild --steps 9 --val 0
holds "none of them leaves a model" test ! -e wild
run "a few steps are enough to say so" 1 "the model is written, but its loss explodes" \
    $wild --steps 2 --val 0

exit 0
