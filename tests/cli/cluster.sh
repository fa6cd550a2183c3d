#!/bin/sh
# Several processes over MPI: the same bytes as one. scripts/test-cluster tries more.
. "$(dirname "$0")/../shell"

why=""
command -v mpicc >/dev/null && command -v mpirun >/dev/null ||
    why="there is no MPI (scripts/setup --mpi)"
[ "$BUILD" = "$tree/build" ] || why="it is for the build without other flags"
[ -z "$why" ] || { skips "training on several processes" "$why"; exit 0; }
env -u BUILD make -s -C "$tree" MPI=1 FLAGS=kept build/mpi/bin/vit-train \
    build/mpi/bin/vit-evaluate build/mpi/bin/vit-classify \
    >said 2>&1 || { result "make MPI=1" 1; exit 1; }
mpi=$tree/build/mpi/bin
. "$tree/scripts/cluster"

given_grey
short="--data grey --set dim=16 --set depth=2 --set heads=2 --set mlp=32 --set warmup=0"
short="$short --batch 48 --val 20 --threads 1"
given "$mpi/vit-train" $short --steps 5 --out one.safetensors

# equal NAME RANKS OPTION...: as many ranks train the same bytes.
equal() {
    name=$1 ranks=$2
    shift 2
    run 0 "*" "*" launch "$ranks" "$mpi/vit-train" $short --steps 5 "$@" --out some.safetensors \
        --overwrite --json
    check "$name" cmp one.safetensors some.safetensors
}
equal "two ranks" 2
mv out steps
json "what went over the wire is told" steps 'r[-1]["step_sent"] > 0 and r[-1]["step_received"] > 0
    and 0 < r[-1]["communication"] < 1 and 0 <= r[-1]["overlap"] <= 1'
equal "three ranks with a part of the optimiser's state each" 3 --shard-optimizer
mv one.safetensors adamw.safetensors
given "$mpi/vit-train" $short --set optimizer=muon --steps 5 --out one.safetensors
equal "three ranks that divide Muon's products" 3 --set optimizer=muon
mv adamw.safetensors one.safetensors

float=$(sed -n 's/.*"step_sent": \([0-9]*\).*/\1/p' steps | tail -n 1)
cp one.safetensors float32.safetensors
given "$mpi/vit-train" $short --set bf16_gradients=true --steps 5 --out one.safetensors --overwrite
equal "four ranks whose gradients travel in bfloat16" 4 --set bf16_gradients=true
run 0 "*" "*" launch 2 "$mpi/vit-train" $short --set bf16_gradients=true --steps 5 --json \
    --out some.safetensors --overwrite
halves=$(sed -n 's/.*"step_sent": \([0-9]*\).*/\1/p' out | tail -n 1)
check "half as many bytes travel" test $((10 * halves)) -lt $((6 * float))
check "which is another model" fails cmp -s one.safetensors float32.safetensors
mv float32.safetensors one.safetensors

run 0 "*" "*" launch 2 "$mpi/vit-train" $short --out some.safetensors --overwrite \
    --checkpoint state --steps 3/5
run 0 "*" "resuming after step 3 of 5" "$mpi/vit-train" $short --steps 5 --out some.safetensors \
    --overwrite --checkpoint state --resume
check "two ranks, then one" cmp one.safetensors some.safetensors

run 0 "*" "" "$mpi/vit-evaluate" --model one.safetensors --data grey --json
sed 's/"seconds.*//' out >one.json
run 0 "*" "*" launch 3 "$mpi/vit-evaluate" --model one.safetensors --data grey --json
sed 's/"seconds.*//' out >some.json
check "the same figures" cmp one.json some.json

for i in 1 2 3 4 5 6 7 8 9 10; do ls "$fixtures"/image_*.jpg "$fixtures"/image_*.png; done >list
echo nowhere.png >>list
classify="$mpi/vit-classify --model one.safetensors --threads 1 --files-from list"
run 1 "*" "could not be read" $classify --json
mv out one.json
run 1 "*" "could not be read" launch 1 $classify --json : -np 1 env VIT_CPU=scalar $classify --json
check "the same answers in the same order, whichever rank is faster" cmp one.json out
run 1 "*" "*" $classify --embed --out one.npy
mv out one.rows
run 1 "*" "*" launch 3 $classify --embed --out some.npy
check "the same embeddings" cmp one.npy some.npy
check "and their rows" cmp one.rows out
head -1 list >list.one && cp list.one list
run 0 "*" "*" launch 3 $classify --format csv
check "more ranks than pictures" test "$(wc -l <out)" -gt 1

cp -r grey other
printf '\001' | dd of=other/train-images-idx3-ubyte bs=1 seek=100 conv=notrunc 2>/dev/null
check "a rank with other data is named" refuses 1 \
    'rank 1 (.*): its data (checksum) differs from rank 0' \
    launch 1 "$mpi/vit-train" $short --steps 5 --out no.safetensors : -np 1 "$mpi/vit-train" \
    $(echo "$short" | sed s/grey/other/) --steps 5 --out no.safetensors
check "too many ranks are refused" refuses 2 "at most, or change the recipe with --set lanes=N" \
    launch 9 "$mpi/vit-train" $short --out no.safetensors
run 2 "*" "*" launch 3 "$mpi/vit-train" $short --no-such-option --out no.safetensors
check "a usage error is said once" test "$(grep -c "no-such-option" err)" -eq 1
check "that of one rank is said with its name" refuses 2 "rank 1 (.*): .*no-such-option" \
    launch 1 "$mpi/vit-train" $short --out no.safetensors : -np 1 "$mpi/vit-train" $short \
    --no-such-option --out no.safetensors
run 1 "*" "*" launch 3 "$mpi/vit-evaluate" --model nowhere --data grey
check "and so is a file that is missing" test "$(grep -c "vit-evaluate:" err)" -eq 1
check "a program without MPI does not train P times" refuses 1 "built without MPI" \
    launch 2 "$BUILD/bin/vit-train" $short --out no.safetensors
check "nothing was written" fails test -e no.safetensors
