#!/bin/sh
# Plants a value in each of our enums, one at a time, and compiles what deals with it: a switch
# without that value, or a table without its row, must stop the build.
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 # a compiler cache may miss that a header now hides another
flags="-std=c17 -D_POSIX_C_SOURCE=200809L $(pkg-config --cflags stb jansson zlib) -fopenmp"

# Enums whose values nothing tells apart one by one: numbers of random streams, strokes of a pen.
free='vit_purpose vit_pen'
# The last value of an enum that counts the others.
counts='[A-Z_]*(_COUNT|PARTS|KINDS|WORDS|FORMS|FORMATS|KEYS|FIELDS)'

# file, line and name of every enum of several values; those without a name have a count
enums() {
    grep -rnE --include='*.[ch]' "^(typedef enum [a-z_]+ \{|enum \{.*[ ,]$counts \};)" \
        vit datasets | sort | sed -E 's/^([^:]*):([0-9]*):(typedef enum ([a-z_]+)|enum).*/\1 \2 \4/'
}

# The file with one value more: before the count, or as the last.
plant() {
    awk -v at="$2" -v counts="$counts" '
    NR == at { inside = 1 }
    inside && $0 ~ "(^|[ ,])" counts ",?( }|$)" {
        n = match($0, counts ",?( }|$)")
        $0 = substr($0, 1, n - 1) "PLANTED_VALUE, " substr($0, n); done = 1
    }
    inside && /} ?[a-z_]*;$/ {
        if (!done) sub(/ ?}/, (/^}/ ? "" : ",") " PLANTED_VALUE }")
        inside = 0
    }
    { print }' "$1"
}

# The values of the enum at a line, as an expression.
values() {
    sed -n "$2,/} *[a-z_]*;\$/p" "$1" | sed 's|/\*.*||' |
        grep -oE '\b[A-Z][A-Z0-9_]+\b' | paste -sd'|' -
}

number=0 bad=0
list=$(enums)
count=$(echo "$list" | wc -l)
echo "1..$count"
while read -r file line name; do
    number=$((number + 1)) what="${name:-enum} in $file:$line"
    case " $free " in *" ${name:-?} "*)
        echo "ok $number - $what # SKIP its values are only numbers"
        continue
        ;;
    esac
    rm -rf "$work/vit" "$work/datasets"
    mkdir -p "$work/${file%/*}"
    plant "$file" "$line" >"$work/$file"
    case $file in
    *.c) users=$work/$file ;;
    *) users=$(grep -rlwE --include='*.c' "$(values "$file" "$line")" vit datasets |
        xargs grep -lE 'switch \(|VIT_CHECK_ROWS') ;;
    esac
    stopped=
    for user in $users; do
        # shellcheck disable=SC2086
        stopped=$(${CC:-cc} $flags -I"$work" -I. -fsyntax-only -Werror=switch "$user" 2>&1 |
            grep -E 'one row for every value|PLANTED_VALUE.*not handled') && break
    done
    if [ -n "$stopped" ]; then
        echo "ok $number - a value more of $what stops the build"
    else
        echo "not ok $number - a value more of $what goes unnoticed: in $(echo $users)"
        bad=$((bad + 1))
    fi
done <<EOF
$list
EOF
[ "$bad" -eq 0 ]
