#!/bin/sh
# make deb and make dist: what is in them, and the same bytes twice.
. "$(dirname "$0")/../shell"

git -C "$tree" rev-parse HEAD >/dev/null 2>&1 || { skips "packages" "no clone of git"; exit 0; }
version=$(sed -n 's/.*define VIT_VERSION "\(.*\)".*/\1/p' "$tree/vit/vit.h")

git -C "$tree" archive --format=tar --prefix="vit-$version/" HEAD | gzip -9n >again.tar.gz
check "make dist" make -s -C "$tree" BUILD="$PWD/here" FLAGS=kept dist
check "is the same bytes from anywhere" cmp "here/vit-$version.tar.gz" again.tar.gz
check "and has the sources" sh -c "tar tzf again.tar.gz | grep -qx 'vit-$version/vit/vit.h'"

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
check "and its programs run" sh -c "root/usr/bin/vit-info --version | grep -q '$version'"
check "with the models that are in it" sh -c \
    "cd / && env -u VIT_MODELS '$PWD/root/usr/bin/vit-info' mnist | grep -q 28x28x1"
