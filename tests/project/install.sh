#!/bin/sh
# make install and uninstall, and what a user of the installed copy does: the examples and a C++
# program through pkg-config, the programs, the manual.
. "$(dirname "$0")/../shell"

# The installed copy is used with the compiler that built it, be it two words as "ccache gcc", and
# with its sanitizers.
cc=$(sed 's/ -.*//' "$BUILD/flags")
abi=$(sed -n 's/.*define VIT_VERSION "\(0\.[0-9]*\)\..*".*/\1/p' "$tree/vit/vit.h")
set -- $(cat "$BUILD/flags")
sanitize=$(echo "$*" | tr ' ' '\n' | grep -e '^-fsanitize=' -e '^-fno-sanitize-recover' | sort -u)
case $cc in
*clang*) cxx=clang++ ;;
*) cxx=g++ ;;
esac

# What is built is installed, whatever the flags were that it was built with.
install_it() {
    make -C "$tree" FLAGS=kept "$@"
}

files() {
    (cd "$1" && find . ! -type d | sort)
}

# Folders that others use too may stay, those of this library's own may not.
leaves_nothing() {
    find "$1" ! -type d -o -path '*/vit' -o -path '*/vit/*' >left
    cat left
    [ -d "$1" ] && [ ! -s left ]
}

# ---- what is installed where; paths may have spaces ----

stage="$PWD/the stage"
set -- DESTDIR="$stage" PREFIX="/our usr" LIBDIR="/our usr/lib/x"
check "make install into DESTDIR" install_it install "$@"
cp said installing # the next check begins it again
check "builds nothing again" fails grep -e ' -c -o ' -e ' -shared ' installing
# The server is built where there is a library for it.
serve=
[ ! -x "$BUILD/bin/vit-serve" ] || serve=serve
{
    for program in anomaly bench classify convert evaluate explain info pack read report search \
        train verify $serve; do
        echo "./our usr/bin/vit-$program"
        echo "./our usr/share/man/man1/vit-$program.1"
        echo "./our usr/share/bash-completion/completions/vit-$program"
        echo "./our usr/share/zsh/site-functions/_vit-$program"
        echo "./our usr/share/fish/vendor_completions.d/vit-$program.fish"
    done
    for file in libvit.a libvit.so libvit.so.$abi pkgconfig/libvit.pc cmake/vit/vitConfig.cmake \
        cmake/vit/vitConfigVersion.cmake; do
        echo "./our usr/lib/x/$file"
    done
    echo "./our usr/bin/vit" # which the others are, but for the server
    printf './our usr/include/vit/%s.h\n' cluster labels maps precision reliance reports \
        few_shot tensors texts vit zero_shot
    cd "$tree" && find models -maxdepth 1 -name '*.safetensors' -o -maxdepth 1 -name '*.json' |
        sed 's|^|./our usr/share/vit/|'
} | sort >expected
has_symbols() {
    nm "$1" 2>/dev/null | grep -q ' [Tt] main$'
}
check "without symbols for a debugger" fails has_symbols "$stage/our usr/bin/vit-train"
check "which the build has" has_symbols "$BUILD/bin/vit-train"
files "$stage" >installed
check "these files" diff expected installed
check "libvit.pc names the final place" \
    grep -q '^libdir=/our usr/lib/x$' "$stage/our usr/lib/x/pkgconfig/libvit.pc"
check "and its path in one word" sh -c '
    eval "set -- $(PKG_CONFIG_PATH=$1 pkg-config --cflags libvit)"
    [ "$1" = "-I/our usr/include" ]' sh "$stage/our usr/lib/x/pkgconfig"
check "make uninstall" install_it uninstall "$@"
check "leaves nothing" leaves_nothing "$stage"

# ---- a user's programs ----

prefix=$PWD/prefix
check "make install into PREFIX" install_it install PREFIX="$prefix"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
LD_LIBRARY_PATH=$prefix/lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH

# compile OUT FILE [--static]; from the folder of the test, so that the tree's header is not found
compile() {
    out=$1 file=$2
    shift 2
    libraries=$(pkg-config --libs "$@" libvit) || return 1
    # The static library is named: beside a shared one, -lvit means that.
    [ $# -eq 0 ] || libraries=$(echo "$libraries" | sed "s|-lvit|$prefix/lib/libvit.a|")
    case $file in
    *.cc) set -- "$cxx" ;;
    *) set -- $cc -std=c17 ;;
    esac
    # shellcheck disable=SC2046,SC2086 # these are lists of words
    "$@" $sanitize -Wall -Wextra -Werror -Wpedantic $(pkg-config --cflags libvit) "$file" \
        $libraries -o "$out"
}

for kind in shared static; do
    option=
    [ $kind = shared ] || option=--static
    for example in classify evaluate train; do
        check "$example.c, $kind" compile $example-$kind "$tree/examples/$example.c" $option
    done
done
check "the shared one needs libvit.so.$abi" \
    sh -c "readelf -d train-shared | grep -qF libvit.so.$abi"
check "the static one does not" sh -c '! readelf -d train-static | grep -q libvit'
check "train trains" writes '^step  *6 of 6 ' ./train-shared 6
check "train measures" grep -q '^right on [0-9]* of 2000 test pictures: [0-9.]* %$' found
check "train reads a digit" grep -q '^drew a 0, read as [0-9]$' found
grep -v images/s found >first # what the time of the run does not change
check "statically linked, the same" writes '^right on' ./train-static 6
grep -v images/s found >second
check "to the last digit" cmp first second
check "no steps are a usage error" refuses 2 '^usage: train' ./train-shared none

"$BUILD/bin/vit-train" --data digits --steps 20 --batch 32 --out digits.safetensors >log 2>&1
"$BUILD/examples/draw_digit" digit.png 18 >>log 2>&1
check "evaluate says the accuracy" writes '^right: [0-9]* of 2000 pictures, [0-9.]* %$' \
    ./evaluate-shared digits.safetensors digits
check "draw_digit --help" sh -c "'$BUILD/examples/draw_digit' --help | grep -q '^usage: draw_digit'"
check "draw_digit: no file is called as an option" \
    sh -c "! '$BUILD/examples/draw_digit' --png 2>said && [ ! -e ./--png ]"
check "classify reads a file" writes '^from the file: [0-9], [0-9.]* %$' \
    ./classify-shared digits.safetensors digit.png
check "and memory alike" sh -c '
    [ "$(sed -n "s/from the file: //p" found)" = "$(sed -n "s/from memory: //p" found)" ]'
check "statically linked" writes '^from memory: [0-9], ' \
    ./classify-static digits.safetensors digit.png
# The host has no OpenMP of its own: what the library waits with goes with the library.
check "a host that loads it" $cc $sanitize -std=c17 -Wall -Wextra -Werror -Wpedantic \
    -I"$prefix/include" "$tree/tests/project/unload.c" -o unload
check "and unloads it after work on two threads" \
    ./unload "$prefix/lib/libvit.so" digits.safetensors digit.png
check "a picture that is absent is named" refuses 1 '^classify: .*nix.png' \
    ./classify-shared digits.safetensors nix.png

cat >errors.cc <<'C++'
#include <vit/vit.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static std::shared_ptr<vit_model> load(const std::string &path) {
    vit_error error;
    vit_model *model;
    if (vit_model_load(&model, path.c_str(), &error) != VIT_OK)
        throw std::runtime_error(std::string(vit_status_name(error.status)) + ": " + error.message);
    return std::shared_ptr<vit_model>(model, vit_model_free);
}

int main() {
    for (const char *path : {"absent.safetensors", "errors.cc"}) {
        try {
            load(path);
            std::cout << path << " was loaded\n";
        } catch (const std::runtime_error &problem) {
            std::cout << "caught " << problem.what() << "\n";
        }
    }
    std::shared_ptr<vit_model> model = load("digits.safetensors");
    vit_session *session;
    if (vit_session_new(&session, model.get(), nullptr, nullptr) != VIT_OK) return 1;
    std::vector<std::uint8_t> picture(28 * 28);
    std::vector<float> logits(vit_model_describe(model.get()).classes);
    vit_draw_digit(picture.data(), 3, 0);
    vit_error error;
    std::cout << "refused: "
              << (vit_classify_pixels(session, picture.data(), 28, 28, 5, 28, logits.data(),
                                      &error) == VIT_ERROR_ARGUMENT) << "\n";
    std::cout << "answered: "
              << (vit_classify_prepared(session, picture.data(), 1, logits.data(), &error) ==
                  VIT_OK) << "\n";
    vit_session_free(session);
}
C++
if command -v $cxx >/dev/null 2>&1; then
    check "a C++ program" compile errors errors.cc
    check "catches a file that is absent" writes '^caught io: .*absent.safetensors' ./errors
    check "and one that is no model" grep -q '^caught format: .*errors.cc' found
    check "is told of a wrong argument" grep -q '^refused: 1$' found
    check "and answered" grep -q '^answered: 1$' found
else
    skips "a C++ program" "$cxx is not installed"
fi

# ---- the symbols ----

# The sanitizers add symbols of their own, which begin with an underscore.
nm -D --defined-only "$prefix/lib/libvit.so.$abi" | awk '$3 !~ /^_/ { print $3 }' | sort >exported
sed -n 's/^VIT_API .*[ *]\(vit_[a-z0-9_]*\)(.*/\1/p' "$prefix"/include/vit/*.h |
    sort >declared
check "the header declares functions" test -s declared
check "the shared library exports what the header declares" diff declared exported
nm -g --defined-only "$prefix/lib/libvit.a" |
    awk 'NF == 3 && $3 !~ /^(vit)?_/ { print $3 }' >foreign
check "every name in the static library begins with vit_" test ! -s foreign

# ---- the installed programs ----

cp digits.safetensors "$prefix/share/vit/models/drawn.safetensors"
check "an installed program finds a model by its name" \
    writes digit.png "$prefix/bin/vit-classify" --model drawn digit.png
rm "$prefix/share/vit/models/drawn.safetensors"

# Without man, the pages are only looked at for their heading.
for page in "$prefix"/share/man/man1/*.1; do
    pages_are_fine() {
        grep -q '^\.TH VIT-' "$page" || return 1
        command -v man >/dev/null 2>&1 || return 0
        man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null | tee complaints
        [ ! -s complaints ]
    }
    check "${page##*/} is a manual page without warnings" pages_are_fine
done

check "make uninstall from PREFIX" install_it uninstall PREFIX="$prefix"
check "leaves nothing there" leaves_nothing "$prefix"
