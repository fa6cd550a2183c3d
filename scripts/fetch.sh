# What scripts/fetch-data and scripts/fetch-weights share; read by them with `.`, with $self, the
# name of the program.

say() {
    echo "$self: $*" >&2
}

fail() {
    say "$*"
    exit 1
}

# checksum ALGORITHM [FILE]
checksum() {
    if command -v "$1sum" >/dev/null 2>&1; then
        "$1sum" <"${2:-/dev/stdin}" | cut -d ' ' -f 1
    elif [ "$1" != md5 ] && command -v shasum >/dev/null 2>&1; then
        shasum -a "${1#sha}" <"${2:-/dev/stdin}" | cut -d ' ' -f 1
    elif [ "$1" = md5 ] && command -v md5 >/dev/null 2>&1; then
        md5 -q "$2"
    else
        fail "$1sum is missing: install it (Debian: coreutils), to check what is downloaded"
    fi
}

# download URL PART [OPTION...]; $code becomes the server's answer
download() {
    url=$1
    to=$2
    shift 2
    code=$(curl --fail --location --retry 2 --connect-timeout 30 "$progress" --show-error \
        --write-out '%{http_code}' --output "$to" "$@" "$url")
}

# get URL PART [OPTION...]: goes on with PART where it is there
get() {
    say "$1"
    from=$1
    part_file=$2
    shift 2
    download "$from" "$part_file" --continue-at - "$@" && return 0
    status=$?
    # 416: nothing there to go on with; 33, 36: the server cannot
    [ "$code" = 416 ] || [ $status -eq 33 ] || [ $status -eq 36 ] || return 1
    say "starting over: this server does not go on with $part_file"
    rm -f "$part_file"
    download "$from" "$part_file" "$@"
}

progress=--silent
[ ! -t 2 ] || progress=--progress-bar
