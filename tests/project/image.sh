#!/bin/sh
# scripts/image.py: an OCI archive of a static program, the same bytes from every place, as skopeo
# and umoci read it, run in a root that has nothing else.
. "$(dirname "$0")/../shell"

cat >answer.c <<'C'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    (void)argc;
    printf("%s: %d\n", argv[0], access("/etc", F_OK));
    return 0;
}
C
if ! ${CC:-cc} -static -O1 -o answer answer.c 2>/dev/null; then
    skips "an image" "no static program can be linked here"
    exit
fi
image=$tree/scripts/image.py
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH

run 0 "vit.tar (" "" "$image" answer 1.2 vit.tar answer.c
mkdir elsewhere && cp answer elsewhere/program && chmod 700 elsewhere/program
check "from another place" sh -c \
    "cd elsewhere && TZ=Asia/Tokyo '$image' program 1.2 other.tar ../answer.c"
check "the same bytes" cmp vit.tar elsewhere/other.tar
check "another version, other bytes" sh -c "'$image' answer 1.3 v.tar && ! cmp -s v.tar vit.tar"
run 1 "" "is no static program" "$image" answer.c 1.2 no.tar
${CC:-cc} -o dynamic answer.c
run 1 "" "is no static program" "$image" dynamic 1.2 no.tar
run 1 "" "absent" "$image" absent 1.2 no.tar
run 2 "" "expected PROGRAM VERSION OUT" "$image" answer
check "nothing of them stays" sh -c '! ls | grep -q "no.tar"'

if command -v skopeo >/dev/null; then
    run 0 '"Architecture"' "" skopeo inspect oci-archive:vit.tar
    skopeo inspect --config oci-archive:vit.tar >config.json
    check "user, entry and signal" python3 -c '
import json
c = json.load(open("config.json"))
assert c["created"] == "2023-11-14T22:13:20Z", c
c = c["config"]
assert (c["User"], c["Entrypoint"]) == ("65534:65534", ["/bin/vit-serve"]), c
assert (c["StopSignal"], c["Cmd"][:2]) == ("SIGTERM", ["--host", "0.0.0.0"]), c'
else
    skips "skopeo reads it" "skopeo is not installed"
fi

if command -v skopeo >/dev/null && command -v umoci >/dev/null; then
    skopeo copy -q oci-archive:vit.tar oci:layout:1.2
    check "umoci unpacks it" umoci unpack --rootless --image layout:1.2 bundle
    check "it is the program" cmp answer bundle/rootfs/bin/vit-serve
    check "and nothing else" test "$(cd bundle/rootfs && find . | sort | xargs)" = \
        ". ./bin ./bin/vit-serve ./models ./models/answer.c"
    if bwrap --unshare-all --bind bundle/rootfs / /bin/vit-serve >ran 2>&1 ||
        unshare -r chroot bundle/rootfs /bin/vit-serve >ran 2>&1; then
        check "it runs where nothing else is" grep -qx "/bin/vit-serve: -1" ran
    else
        skips "it runs where nothing else is" "neither bwrap nor unshare makes a root here"
    fi
else
    skips "umoci unpacks it" "skopeo and umoci are not installed"
fi
