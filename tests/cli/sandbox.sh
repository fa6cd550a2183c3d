#!/bin/sh
# The sandbox of vit-classify and vit-serve: a fault that is planted into libjpeg, as one that
# somebody's picture would use, can read no other file, write none, start nothing and call nobody.
. "$(dirname "$0")/../shell"

mkdir here results away secret models
echo "top secret" >secret/file
cp "$tree/models/mnist.safetensors" models/m.safetensors
model=../models/m.safetensors
cd here || exit 1
mkdir elsewhere
cp "$fixtures/image_rgb.png" .
cp "$fixtures/image_grey.jpg" a.jpg
cp a.jpg b.jpg
cp a.jpg elsewhere/c.jpg
run 2 "" "--sandbox" vit-classify --sandbox maybe a.jpg
run 0 "a.jpg" "*" vit-classify --sandbox off --model $model a.jpg
cp out answer
if ! vit-classify --sandbox on --model $model a.jpg >out 2>err; then
    check "what is lacking is said" grep -q "none here" err
    skips "a planted fault" "this system has no Landlock"
    echo "1..$count"
    exit
fi
check "inside it the answer is the same" cmp out answer

# ---- systems that lack a part of it: a filter answers ENOSYS to its call ----

cat >lacks.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words) {
    struct sock_filter steps[] = {{0x20, 0, 0, 0},
                                  {0x15, 0, 1, count > 2 ? (unsigned)atoi(words[1]) : 0},
                                  {0x06, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
                                  {0x06, 0, 0, SECCOMP_RET_ALLOW}};
    struct sock_fprog program = {4, steps};
    if (count < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        return 99;
    execvp(words[2], words + 2);
    return 99;
}
END

# lacks CALL SAID: what --sandbox on, the default and off come to, in vit-classify and vit-serve
lacks() {
    run 1 "" "there is none here: $2" ../lacks $1 vit-classify --sandbox on --model $model a.jpg
    run 1 "" "there is none here: $2" ../lacks $1 vit-serve --sandbox on --port 0 --model m=$model
    for how in "" "--sandbox off"; do
        # shellcheck disable=SC2086
        ../lacks $1 vit-classify $how --model $model a.jpg >out 2>err
        check "without $1 the answer is the same: $how" cmp out answer
        : >line # of the server before
        # shellcheck disable=SC2086
        ../lacks $1 vit-serve $how --port 0 --model m=$model >line 2>err &
        until grep -q listening line; do kill -0 $! 2>said && sleep 0.1 || break; done
        kill $! && wait $!
        check "without $1 the server goes on: $how" test $? -eq 0
        check "and says it once, or not: $how" \
            test "$(grep -c "runs without .* sandbox: $2" err)" -eq $([ -n "$how" ]; echo $?)
    done
}
if ${CC:-cc} -o ../lacks lacks.c 2>said && ../lacks 1000 true && [ -x "$BUILD/bin/vit-serve" ]; then
    lacks 444 "this system has no Landlock"
    lacks 445 "Landlock does not take its rules"
    lacks 446 "Landlock does not take its rules"
    case $(uname -m) in x86_64) seccomp=317 ;; *) seccomp=277 ;; esac
    lacks $seccomp "this system has no seccomp"
else
    skips "systems that lack a part" "there is no seccomp, or no vit-serve"
fi

cat >planted.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *what, int refused) {
    char line[100];
    const char *came = refused ? "refused" : "DONE";
    int length = snprintf(line, sizeof line, "planted: %s %s\n", what, came);
    if (write(2, line, (size_t)length) != length) abort();
}

int jpeg_start_decompress(void *cinfo) {
    static int once;
    const char *secret = getenv("SECRET");
    if (!once++) {
        pid_t child;
        tell("passwd", open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
        tell("secret", open(secret, O_RDONLY) < 0 && errno == EACCES);
        tell("environ", open("/proc/1/environ", O_RDONLY) < 0);
        tell("write", open("planted", O_WRONLY | O_CREAT, 0600) < 0 && errno == EACCES);
        tell("overwrite", open("a.jpg", O_WRONLY) < 0 && errno == EACCES);
        tell("remove", unlink("b.jpg") != 0 && errno == EACCES);
        tell("link", symlink("/etc/passwd", "link") != 0);
        tell("exec", execl("/bin/true", "true", NULL) != 0 && errno != ENOENT);
        tell("socket", socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
        tell("signal", kill(getppid(), 0) != 0 || getenv("OLD"));
        child = fork();
        if (child == 0) _exit(0);
        tell("fork", child < 0);
    }
    return ((int (*)(void *))dlsym(RTLD_NEXT, "jpeg_start_decompress"))(cinfo);
}
END
if ! ${CC:-cc} -shared -fPIC -o ../planted.so planted.c -ldl 2>said ||
    LD_PRELOAD=$work/planted.so vit-classify --version 2>&1 | grep -q -e ERROR -e preload; then
    skips "a planted fault" "this build cannot be given one"
    echo "1..$count"
    exit
fi
SECRET=$work/secret/file
export SECRET

# planted PROGRAM...: what it wrote on standard error is in `err`.
planted() {
    LD_PRELOAD=$work/planted.so "$@" >out 2>err </dev/null
}

(cd ../away && planted vit-classify --sandbox off --model $model ../here/a.jpg
    mv out err ../here)
check "without it, the fault does what it likes" grep -q "passwd DONE" err

planted vit-classify --model $model a.jpg b.jpg
check "the fault was there" test "$(grep -c ^planted err)" -eq 11
check "nothing was done" sh -c '! grep DONE err'
check "the answer came all the same" grep -q b.jpg out
planted vit-classify --model $model --threads 3 --json a.jpg b.jpg a.jpg b.jpg
check "in other threads neither" sh -c 'grep -q ^planted err && ! grep DONE err'
planted vit-classify --model $model --recursive elsewhere
check "pictures of a folder may lie anywhere: all is read, nothing written" sh -c \
    'grep -q "passwd DONE" err && ! grep -E "(write|remove|exec|socket|fork|link) DONE" err'
planted vit-classify --model $model --embed a.jpg --out ../results/features.npy
check "--out is written" sh -c \
    'test -s ../results/features.npy && grep -q "planted: write refused" err'

# ---- the server ----

# the address that it says in the file `line`, in $url
serve() {
    LD_PRELOAD=$work/planted.so vit-serve --port 0 --model m=$model "$@" >line 2>err &
    server=$!
    for _ in $(seq 600); do
        grep -q listening line && break
        sleep 0.1
    done
    url=$(sed 's/listening on //' line)
}
if ! command -v curl >/dev/null || [ ! -x "$BUILD/bin/vit-serve" ]; then
    skips "the server" "there is no curl, or no vit-serve"
    echo "1..$count"
    exit
fi
serve --teach
check "it answers" curl -sf -T a.jpg "$url/predictions/m"
check "the fault was there" grep -q ^planted err
check "nothing was done" sh -c '! grep DONE err'
cp $model ../models/new
mv ../models/new $model # another file of that name
kill -HUP $server
for _ in $(seq 600); do
    grep -q "read again" err && break
    sleep 0.1
done
check "a model that was replaced is read again" grep -q "m was read again" err
id=$(curl -sf "$url/v1/teach" -d '{"classes": {}}' | sed 's/.*"id": "\([^"]*\)".*/\1/')
for number in 1 2 3 4 5 6; do
    "$draw" $number.png $number >/dev/null
    curl -s -X POST -T $number.png "$url/v1/teach/$id?class=$((number % 2))" >said
done
curl -s -X POST "$url/v1/teach/$id/learn" >said
curl -s "$url/v1/teach/$id/model" >given
check "a model that was taught is given" grep -q vit.config given
kill $server
wait $server
check "it ends" test $? -eq 0
echo "1..$count"
