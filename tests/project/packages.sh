#!/bin/sh
# make deb, make dist and make sbom: what is in them, and the same bytes twice.
. "$(dirname "$0")/../shell"

git -C "$tree" rev-parse HEAD >/dev/null 2>&1 || { skips "packages" "no clone of git"; exit 0; }
version=$(sed -n 's/.*define VIT_VERSION "\(.*\)".*/\1/p' "$tree/vit/vit.h")

git -C "$tree" archive --format=tar --prefix="vit-$version/" HEAD | gzip -9n >again.tar.gz
check "make dist" make -s -C "$tree" BUILD="$PWD/here" FLAGS=kept dist
check "is the same bytes from anywhere" cmp "here/vit-$version.tar.gz" again.tar.gz
check "and has the sources" sh -c "tar tzf again.tar.gz | grep -qx 'vit-$version/vit/vit.h'"

make -s -C "$tree" BUILD="$PWD/again" FLAGS=kept sbom
check "make sbom" make -s -C "$tree" BUILD="$PWD/here" FLAGS=kept sbom
check "is the same bytes, too" cmp "here/vit-$version.spdx.json" "again/vit-$version.spdx.json"
sum=$(sha256sum <"$tree/models/mnist.safetensors" | cut -d' ' -f1)
json "it has the libraries and the hashes of the models" "here/vit-$version.spdx.json" \
    "(lambda p: p['jansson']['versionInfo'] and p['stb']['licenseDeclared'] == 'MIT OR Unlicense'
      and p['model-mnist']['checksums'][0]['checksumValue'] == '$sum')(
      {x['name']: x for x in r[0]['packages']})"

# ---- make release, in another clone, and what tells one from another ----

ssh-keygen -q -t ed25519 -N "" -C "" -f key
mkdir deeper
git clone -q --shared "$tree" clone 2>/dev/null
git clone -q --shared "$tree" deeper/clone 2>/dev/null
check "make release" make -s -C clone BUILD="$PWD/one" KEY="$PWD/key" SERVE=no release
check "in another root" env BUILD="$PWD/two" SERVE=no deeper/clone/scripts/release --key "$PWD/key"
check "is the same bytes" diff -r one/release two/release
check "says where they come from" python3 -c "
import hashlib, json
r = json.load(open('one/release/vit-$version.intoto.json'))
assert r['_type'] == 'https://in-toto.io/Statement/v1'
files = {s['name']: s['digest']['sha256'] for s in r['subject']}
name = 'vit-$version.tar.gz'
assert files[name] == hashlib.sha256(open('one/release/' + name, 'rb').read()).hexdigest()
commit = r['predicate']['buildDefinition']['resolvedDependencies'][0]['digest']['gitCommit']
assert commit == '$(git -C "$tree" rev-parse HEAD)'"
run 0 "the same bytes" "" vit-verify --release one/release/SHA256SUMS
echo "maintainer $(cat key.pub)" >allowed
check "the signature is the key's" sh -c "ssh-keygen -q -Y verify -f allowed -I maintainer \
    -n vit-release -s one/release/SHA256SUMS.sig <one/release/SHA256SUMS"
printf x | dd of="one/release/vit-$version.tar.gz" bs=1 seek=999 conv=notrunc 2>/dev/null
run 1 "OTHER BYTES" "" vit-verify --release one/release/SHA256SUMS
rm "one/release/vit-$version.tar.gz"
run 1 "NOT THERE" "" vit-verify --release one/release/SHA256SUMS
echo "$(sha256sum <key.pub | cut -c1-64)  ../key.pub" >two/release/SHA256SUMS
run 1 "" "of a file beside it" vit-verify --release two/release/SHA256SUMS
run 2 "" "leave the other options out" vit-verify --release two/release/SHA256SUMS --json

if ! command -v dpkg-shlibdeps >/dev/null; then
    skips "make deb" "no dpkg-dev"
    exit 0
fi
architecture=$(dpkg --print-architecture)
package=$BUILD/vit_${version}_$architecture.deb
check "a package for Debian" "$tree/scripts/deb" "$BUILD" "$version"
cp "$package" first.deb
check "again" "$tree/scripts/deb" "$BUILD" "$version"
check "is the same bytes" cmp "$package" first.deb
check "it names the libraries that it needs" sh -c \
    "dpkg-deb -f first.deb Depends | grep -q libjansson4"
mkdir root && dpkg-deb -x first.deb root
abi=$(echo "$version" | sed 's/^\(0\.[0-9]*\)\..*/\1/')
for name in libvit$abi libvit-dev vit-dbgsym; do
    mkdir "$name" && dpkg-deb -x "$BUILD/${name}_${version}_$architecture.deb" "$name"
done
check "the library is apart" sh -c "ls libvit$abi/usr/lib/*/libvit.so.$abi"
check "and what a compiler needs" sh -c "ls libvit-dev/usr/include/vit/vit.h \
    libvit-dev/usr/lib/*/libvit.a libvit-dev/usr/lib/*/libvit.so \
    libvit-dev/usr/lib/*/cmake/vit/vitConfig.cmake \
    libvit-dev/usr/lib/*/pkgconfig/libvit.pc"
check "and debug symbols, of the program and the library" sh -c '
    [ "$(find vit-dbgsym -name "*.debug" | wc -l)" -ge 2 ] &&
    [ "$(find root/usr/bin -type f -exec nm {} + 2>/dev/null | grep -c " T main")" = 0 ]'
check "and its programs run" sh -c "root/usr/bin/vit-info --version | grep -q '$version'"
check "with the models that are in it" sh -c \
    "cd / && env -u VIT_MODELS '$PWD/root/usr/bin/vit-info' mnist | grep -q 28x28x1"
