#!/bin/sh
# Pictures that are held back are drawn by class, and only where they can serve.
. "$(dirname "$0")/../shell"

numpy || { skips "what is held back" "there is no NumPy"; exit 0; }

# Arrays of shades: made NAME COUNT...: COUNT training pictures of class 0, 1, ..., and six of
# each for the test.
made() {
    "$python" - "$@" <<'END'
import numpy, sys
counts = [int(word) for word in sys.argv[2:]]
def part(counts):
    labels = numpy.repeat(numpy.arange(len(counts)), counts)
    noise = numpy.arange(len(labels))[:, None, None, None] % 16
    images = (labels * 200 // max(1, len(counts) - 1))[:, None, None, None] + noise
    return (images + numpy.zeros((1, 16, 16, 3))).astype("uint8"), labels
train, test = part(counts), part([6] * len(counts))
numpy.savez(sys.argv[1], train_images=train[0], train_labels=train[1],
            test_images=test[0], test_labels=test[1])
END
}
made uneven.npz 58 1
made few.npz 125 125
made many.npz 500 100 20

short="--steps 1 --batch 8"
for seed in 0 1 2 3 4 5; do
    given vit-train --data uneven.npz --seed $seed $short --val 50 --out u$seed
    run 0 "*" "" vit-evaluate --model u$seed --data uneven.npz --split val --json
    mv out answer
    json "seed $seed: the only picture of a class is not held back" answer \
        'r[0]["images"] == 50 and r[0]["per_class"][1]["images"] == 0'
done
run 0 "*" "2 pictures, a validation set of 57" vit-train --data uneven.npz $short --val 58 --out u
for seed in 0 1; do
    given vit-train --data many.npz --seed $seed $short --out m$seed
    run 0 "*" "" vit-evaluate --model m$seed --data many.npz --split val --json
    mv out answer
    json "seed $seed: each class gives its share" answer \
        '[c["images"] for c in r[0]["per_class"]] == [50, 10, 2]'
done

run 0 "*" "a tenth of 250 pictures is too few to calibrate, which takes 50" \
    vit-train --data few.npz $short --out few
check "and none is taken" grep -q '250 pictures$' err
run 0 "*" "25 are too few to calibrate, which takes a validation set of 50" \
    vit-train --data few.npz $short --val 25 --out few --overwrite
run 0 "*" "a validation set of 25" vit-train --data few.npz $short --keep best --out few --overwrite
run 0 "*" "a validation set of 62" vit-train --data many.npz $short --out many
check "62 are not too few" fails grep -q "too few to calibrate" err
