#!/bin/sh
# --model hub:OWNER/NAME: what huggingface_hub keeps in its cache.
. "$(dirname "$0")/../shell"

cp "$published/picture.png" a.png
commit=0123456789abcdef0123456789abcdef01234567
other=89abcdef0123456789abcdef0123456789abcdef
repository=cache/hub/models--facebook--tiny
# As huggingface_hub lays it: files are links to blobs.
mkdir -p $repository/blobs $repository/refs $repository/snapshots/$commit
for file in config.json preprocessor_config.json pytorch_model.bin; do
    cp "$published/hf_5/$file" "$repository/blobs/of-$file"
    ln -s "../../blobs/of-$file" "$repository/snapshots/$commit/$file"
done
printf %s $commit >$repository/refs/main
printf %s $commit >$repository/refs/v1.0
HF_HOME=cache
export HF_HOME
unset HF_HUB_CACHE HUGGINGFACE_HUB_CACHE

vit-classify --json --model "$published/hf_5" a.png >want
# classify NAME: the model of that name answers as the directory does, and its revision is said
classify() {
    vit-classify --json --model "$1" a.png 2>revision >got && cmp got want &&
        grep -q "hub:facebook/tiny is revision $commit of Hugging Face's cache, " revision
}
for name in hub:facebook/tiny hf-hub:facebook/tiny hub:facebook/tiny@main hub:facebook/tiny@v1.0 \
    hub:facebook/tiny@$commit; do
    check "$name" classify $name
done
HF_HUB_CACHE=$PWD/cache/hub HF_HOME=elsewhere check "HF_HUB_CACHE" classify hub:facebook/tiny
mkdir -p home/.cache && ln -s "$PWD/cache" home/.cache/huggingface
check "at home" env -u HF_HOME -u XDG_CACHE_HOME HOME="$PWD/home" \
    vit-classify --model hub:facebook/tiny a.png
check "in XDG_CACHE_HOME" env -u HF_HOME XDG_CACHE_HOME="$PWD/home/.cache" \
    vit-classify --model hub:facebook/tiny a.png

# What is not there: one command.
run 1 "" "(cache/hub); \"scripts/fetch-weights facebook/dinov2-small\" downloads it into dinov2-s" \
    vit-classify --model hub:facebook/dinov2-small a.png
run 1 "" "fetch-weights timm/vit_tiny_patch16_224.augreg_in21k\" downloads" \
    vit-classify --model hf-hub:timm/vit_tiny_patch16_224.augreg_in21k a.png
run 1 "" "no revision v2 in Hugging Face's cache (cache/hub); \"scripts/fetch-weights facebook/t" \
    vit-classify --model hub:facebook/tiny@v2 a.png
run 1 "" "--revision $other\" downloads" vit-classify --model hub:facebook/tiny@$other a.png
mkdir -p cache/hub/models--bare--one/snapshots/$other cache/hub/models--bare--one/refs
printf %s $other >cache/hub/models--bare--one/refs/main
cp "$published/hf_5/config.json" cache/hub/models--bare--one/snapshots/$other
run 1 "" "hub:bare/one: no weights in Hugging Face's cache" vit-classify --model hub:bare/one a.png

# Names that are none, and a cache that is damaged.
for name in "" / facebook/ bare facebook/tiny- /tiny facebook/tiny/x ../tiny facebook/.. \
    facebook/a..b a--b/c a/b--c 'facebook/ti ny' facebook/-x facebook/tiny. @main; do
    run 1 "" "is no name of the Hugging Face hub" vit-classify --model "hub:$name" a.png
done
for revision in "" ../../x /etc/passwd a//b .. "a b"; do
    run 1 "" "is no revision" vit-classify --model "hub:facebook/tiny@$revision" a.png
done
printf ../../../x >$repository/refs/main
run 1 "" "refs/main: expected a commit" vit-classify --model hub:facebook/tiny a.png
printf '%s\n' $commit >$repository/refs/main
check "a line that ends" classify hub:facebook/tiny
rm $repository/blobs/of-pytorch_model.bin
run 1 "" "$commit" vit-classify --model hub:facebook/tiny a.png
