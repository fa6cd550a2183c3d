#!/bin/sh
# Programs that are interrupted, or whose streams are closed or full.
. "$(dirname "$0")/../shell"

given_model
given_pictures
given_grey
train="vit-train --data grey --batch 16 --seed 3"

# ---- interruption ----

# A shell starts a job in the background with SIGINT ignored, and a training leaves it so: those
# that are to be interrupted start with it as it is in a terminal.
terminal="env --default-signal=HUP,INT,TERM"

# await TEXT FILE: until the file has the text, or the training has ended
await() {
    while kill -0 $process 2>/dev/null && ! grep -q "$1" "$2" 2>/dev/null; do sleep 0.05; done
}

# interrupt SIGNAL STATUS: a training gets the signal after its first epoch.
interrupt() {
    rm -rf c3 log
    $terminal $train --steps 100000 --out never --checkpoint c3 --log log >out 2>err &
    process=$!
    await '"event": "checkpoint"' log
    kill "-$1" $process
    wait $process
    [ $? -eq "$2" ] && says err "the same command with --resume goes on" && [ ! -e never ]
    result "SIG$1: exit status $2, and how to go on" $?
}
interrupt TERM 143
interrupt INT 130

# The last of them is gone on with.
step=$(sed -n 's/.*interrupted after step \([0-9]*\) of.*/\1/p' err)
end=$((step + 10))
check "an interrupted training resumes where it was, to the same bytes" sh -c "
    $train --steps $end/100000 --out resumed --checkpoint c3 --resume --log log 2>err &&
    grep -q 'resuming after step $step of 100000' err &&
    $train --steps $end/100000 --out straight && cmp resumed straight"
check "--resume goes on with the log" test "$(grep -c '"event": "start"' log)" -eq 2

rm -f log
$terminal $train --steps 100000 --out "%s%n" --log log >out 2>err &
process=$!
await '"event": "epoch"' log
kill -TERM $process
wait $process
[ $? -eq 143 ] && says err "--checkpoint %s%n.checkpoint --resume goes on"
result "a name of the user's is no format" $?

rm -f err
$train --steps 60 --out ignored >out 2>err &
process=$!
await "60 steps" err
kill -INT $process
wait $process
[ $? -eq 0 ] && [ -e ignored ]
result "a SIGINT that is ignored from the start stays ignored" $?

# Both signals wait while the program is stopped, so the second comes with the first; to one thread,
# since of several each might take one, and the second of them late.
rm -f log
$terminal $train --threads 1 --steps 100000 --out never --log log >out 2>err &
process=$!
await '"event": "epoch"' log
kill -STOP $process
kill -INT $process
kill -TERM $process
kill -CONT $process
wait $process
status=$?
{ [ $status -eq 130 ] || [ $status -eq 143 ]; } && ! grep -q interrupted err
result "a second signal ends at once" $?

# ---- streams ----

# A limit on the size of files is an error like a full disk, not a signal that ends the program.
(
    ulimit -f 1
    $train --steps 1 --out limited.safetensors >/dev/null 2>err
)
[ $? -eq 1 ] && says err "limited.safetensors: it needs" && says err "File too large"
result "a file that may not grow: a sentence" $?

if [ -e /dev/full ]; then
    for program in "vit-train --help" "vit-classify --model digits.safetensors a.png" \
        "vit-evaluate --model digits.safetensors --data grey --json" \
        "$train --steps 1 --out full --json"; do
        $program >/dev/full 2>err
        status=$?
        [ $status -eq 1 ] && says err "cannot write standard output"
        result "$program: an answer that cannot be written is a failure" $?
    done
    run 1 "the model is" "the log could not be written" $train --steps 1 --out full --log /dev/full
fi
$train --steps 1 --out closed >&- 2>err
[ $? -eq 1 ] && vit-evaluate --model closed --data grey >out 2>>err
result "a closed standard output does not end up in the model" $?
vit-classify --model digits.safetensors - <&- >out 2>err
[ $? -eq 1 ] && says err "cannot read standard input"
result "a closed standard input is said" $?
