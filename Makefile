# make          the library, the programs and the examples: build/lib, build/bin, build/examples
# make test     every test (scripts/test also installs what is missing)
# make bench    vit-bench on this machine
# make lint     formatting, floors, headers that stand alone, and analyse
# make analyse  cppcheck and clang-tidy, where they are installed
# make debug    the tests in a build that finds reads of memory never set or given back
# make asan     the tests under AddressSanitizer and UndefinedBehaviorSanitizer
# make tsan     the tests of threads, server and training under ThreadSanitizer, or TESTED=test_x
# make coverage lines and branches that the tests reach in the folders of tests/coverage.txt, and
#               whether they are enough; WATCH=vit/image: of one of them
# make fuzz     the fuzz targets of tests/fuzz: build/fuzz (clang); TARGET=numpy: one of them
# make install  libraries, headers, libvit.pc, programs, manual pages, models, completions of
#               bash, zsh and fish; and uninstall
# make dist     the sources as build/vit-VERSION.tar.gz, the same bytes from every clone of a commit
# make sbom     what is in the build, build/vit-VERSION.spdx.json (SPDX 2.3)
# make image    vit-serve as a container image, an OCI archive: build/vit-VERSION-image.tar
# make release  archives, checksums, provenance and a signature (KEY=FILE, SYSTEMS=static) of the
#               commit, build/release (docs/releasing.md)
# make deb      a package for Debian and Ubuntu, build/vit_VERSION_ARCH.deb, likewise
# make wheel    the Python package with the library in it, build/wheel/vit_cpu-VERSION-....whl
# make static   for any Linux, as build/static/vit-VERSION-linux-ARCH.tar.gz: all programs in one
#               file that needs no library (musl)
# make wasm     the programs for WebAssembly, build/wasm/bin, the page of vit-serve without a
#               server, build/web, and docs/lecture.html (scripts/setup --wasm first)
# make CORE=yes the core alone, in build/core (docs/core.md); make CORE=yes test its tests
# make WITHOUT="search serve"  without these guests (docs/contributing.md)
# make NATIVE=yes  kernels for this processor alone: a shorter build
# make clean
#
# CC=gcc|clang, CFLAGS, BUILD (default build), MPI=1 and MPICC may be set on the command line; for
# install also PREFIX (/usr/local), LIBDIR (PREFIX/lib) and DESTDIR.

# MPI=1: with MPI, for several processes that compute together (docs/data-parallel.md), in
# build/mpi, with the objects of build. MPICC=mpicc.openmpi|mpicc.mpich chooses between two that are
# installed; give the second a BUILD of its own.
MPI    ?=
MPICC  ?= mpicc
ifneq ($(MPI),)
ifeq ($(origin BUILD),undefined)
$(shell mkdir -p build/mpi build/obj && ln -sfn ../obj build/mpi/obj && ln -sf ../flags build/mpi)
BUILD   = build/mpi
endif
endif
# CORE=yes: the core alone, without guests, in build/core: C17, OpenMP, stb, jansson and zlib.
# WITHOUT="search serve": without these guests, and those that need them (the list `guests`).
CORE   ?=
ifneq ($(CORE),)
ifeq ($(origin BUILD),undefined)
BUILD   = build/core
endif
JPEG    = no
WEBP    = no
TIFF    = no
HEIF    = no
SERVE   = no
WITHOUT := $(shell scripts/guests names)
endif
BUILD  ?= build
CFLAGS ?= -O2 -g

# JPEG=no leaves out libjpeg-turbo: stb_image reads JPEGs, with pixels that differ by some levels
# from those of Pillow, and does not notice all damage (vit/image/codec/jpeg_stb.c).
JPEG   ?= yes
PKGS    = stb $(if $(filter yes,$(JPEG)),libjpeg) jansson zlib

# What this compiler makes programs for. A Mac's clang has no OpenMP; threads are POSIX's there.
ifndef TRIPLE
TRIPLE := $(shell $(or $(WASM),$(CC)) -dumpmachine)
endif
X86    := $(findstring 86,$(TRIPLE))
SYSTEM ?= $(if $(findstring mingw,$(TRIPLE)),windows,$(if $(or $(findstring darwin,$(TRIPLE)), \
  $(findstring macos,$(TRIPLE))),macos))

# WASM is the compiler for WebAssembly, as scripts/wasm gives it, with THREADS=yes for threads;
# Emscripten links, and node runs the programs.
PLACE   = -fPIC
MACHINE = $(if $(SYSTEM),-pthread,-fopenmp)
ifneq ($(WASM),)
CC   = $(WASM)
LINK = emcc
AR   = emar
WEBP = no
TIFF = no
HEIF = no
SERVE = no
PLACE   =
MACHINE = -msimd128 $(if $(THREADS),-pthread)
WASM_FLAGS = -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=5MB \
  $(if $(THREADS),-Wno-pthreads-mem-growth --js-library scripts/wasm_threads.js \
  -sPTHREAD_POOL_SIZE=Module.threads-1 -sPTHREAD_POOL_SIZE_STRICT=2)
NODE_FLAGS = -sNODERAWFS=1 -sEXIT_RUNTIME=1 $(WASM_FLAGS) --pre-js scripts/wasm_node.js
$(BUILD)/bin/% $(BUILD)/tests/%: LDFLAGS += $(NODE_FLAGS)
endif

LINK ?= $(CC)
# Debug sections take most of what is linked: compressed, a program takes two fifths.
SECTIONS = $(if $(SYSTEM)$(WASM),,-Wl,--compress-debug-sections=zlib)
# What is installed has no symbols for a debugger; $(BUILD) keeps them.
STRIP ?= strip

# Formats of pictures whose library is there; WEBP=no, TIFF=no or HEIF=no leaves one out.
WEBP   ?= $(shell pkg-config --exists libwebp libwebpdemux && echo yes)
TIFF   ?= $(shell pkg-config --exists 'libtiff-4 >= 4.5' && echo yes)
HEIF   ?= $(shell pkg-config --exists 'libheif >= 1.15' && echo yes)
CODECS  = $(strip $(foreach name,JPEG WEBP TIFF HEIF,$(if $(filter yes,$($(name))),$(name))))
CODEC_PKGS = $(if $(filter WEBP,$(CODECS)),libwebp libwebpdemux) \
  $(if $(filter TIFF,$(CODECS)),libtiff-4) $(if $(filter HEIF,$(CODECS)),libheif)
CODEC_LIBS = $(if $(strip $(CODEC_PKGS)),$(shell pkg-config --libs $(CODEC_PKGS)))
CODEC_CFLAGS = $(CODECS:%=-DVIT_%) \
  $(if $(strip $(CODEC_PKGS)),$(shell pkg-config --cflags $(CODEC_PKGS)))

ifneq ($(shell pkg-config --exists $(PKGS) && echo yes),yes)
ifeq ($(filter clean,$(MAKECMDGOALS)),)
$(error a library is missing ($(PKGS), looked up with pkg-config): run scripts/setup first)
endif
endif

# After the user's flags: what the canonical arithmetic (docs/design.md) needs, and what the
# project is clean under. No fused multiply-add that the source does not name.
ALL_CFLAGS = -std=c17 -D_POSIX_C_SOURCE=200809L -I. $(PLACE) -fvisibility=hidden $(MACHINE) \
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
  -Wformat-security -Werror=switch \
  $(shell pkg-config --cflags $(PKGS)) $(CFLAGS) $(SANITIZE) \
  -fno-fast-math -ffp-contract=off -fno-math-errno
LIBS = $(shell pkg-config --libs $(filter-out stb,$(PKGS)) $(CODEC_PKGS)) -lm # stb: headers alone

# What MPI's compiler would call gcc with; all of MPI's calls are in one file.
WIRE = $(if $(MPI),$(BUILD)/wire_mpi.o)
ifneq ($(MPI),)
MPI_CALL := $(shell $(MPICC) -show 2>/dev/null)
ifeq ($(MPI_CALL),)
$(error MPI=1 needs MPI's compiler, and there is no $(MPICC): run scripts/setup --mpi first, or \
  give its name as MPICC)
endif
LIBS += $(filter -L% -l% -Wl%,$(MPI_CALL))
endif

FLOORS   = vit/base vit/cluster vit/formats vit/photos vit/text vit/text/unicode \
  vit/text/tokenizer vit/kernels vit/tensors vit/image vit/image/codec vit/image/digit \
  vit/image/prepare vit/search vit/ops vit/ops/gemm vit/model vit/model/parts vit/model/run \
  vit/weights/file vit/weights/configs vit/weights/layout vit/weights/export vit/weights \
  datasets datasets/records datasets/folders datasets/tables datasets/made datasets/shards \
  vit/explain vit/report vit/train/augment vit/train/recipe vit/train/step vit/train/measure \
  vit/train vit/lecture vit/few_shot vit/api vit/reliance
# Above them those of the programs: parts that several share, and the parts of one.
CLI_FLOORS = vit/cli/parts vit/cli/models vit/cli/classify vit/cli/photos vit/cli/stream \
  vit/cli/evaluate vit/cli/train vit/cli vit/cli/bench vit/cli/serve/work vit/cli/serve/net \
  vit/cli/serve vit/cli/serve/answer vit/cli/web vit/cli/web/lecture
# windows or macos: the calls of POSIX that the system has not (vit/base/SYSTEM/posix.h).
ifneq ($(SYSTEM),)
FLOORS += vit/base/$(SYSTEM)
ALL_CFLAGS += -include vit/base/$(SYSTEM)/posix.h $(if $(filter macos,$(SYSTEM)),-D_DARWIN_C_SOURCE)
endif
WITHOUT ?=
GUESTS  := $(shell scripts/guests build $(BUILD) $(WITHOUT) $(if $(MPI),,cluster) || echo failed)
ifneq ($(GUESTS),)
$(error WITHOUT=$(WITHOUT))
endif
include $(BUILD)/guests.mk
# MPI=1 has the guest cluster; a build that has all others is whole.
LESS    := $(filter-out cluster,$(ABSENT))
ifneq ($(and $(MPI),$(filter cluster,$(ABSENT))),)
$(error MPI=1 is the guest cluster: leave it out of WITHOUT, and CORE=yes)
endif
# What another build has; the codecs whose library is left out; absent guests, and what stands in
# for those that are there.
LEFT_OUT = $(wildcard $(ABSENT_FILES)) $(NOT_INSTEAD) vit/cluster/wire_% \
  $(if $(filter windows,$(SYSTEM)),vit/base/secret.c) \
  vit/image/codec/jpeg$(if $(filter JPEG,$(CODECS)),_stb).c \
  $(if $(filter WEBP,$(CODECS)),,vit/image/codec/webp.c) \
  $(if $(filter TIFF,$(CODECS)),,vit/image/codec/tiff.c) \
  $(if $(filter HEIF,$(CODECS)),,vit/image/codec/heif.c)
LIB_SRC  = $(filter-out $(LEFT_OUT),$(sort $(wildcard $(FLOORS:%=%/*.c))))
PRESETS  = $(sort $(wildcard models/presets/*.json))
# vit-serve is built where its HTTP library is; SERVE=no leaves it out.
SERVE   ?= $(shell pkg-config --exists libmicrohttpd && echo yes)
SERVE_LIBS = $(shell pkg-config --libs libmicrohttpd) $(if $(filter windows,$(SYSTEM)),-lws2_32)
PROG_SRC = $(filter-out $(LEFT_OUT),$(sort $(wildcard vit/cli/vit-*.c vit/cli/bench/vit-*.c) \
  $(if $(filter yes,$(SERVE)),vit/cli/serve/vit-serve.c)))
CLI_SRC  = $(filter-out $(PROG_SRC) $(LEFT_OUT),$(sort \
  $(wildcard $(patsubst %,%/*.c,$(filter-out vit/cli vit/cli/bench vit/cli/serve% vit/cli/web%, \
  $(CLI_FLOORS))))))
BENCH    = $(filter-out $(PROG_SRC) $(LEFT_OUT),$(sort $(wildcard vit/cli/bench/*.c)))
SERVE_SRC = $(filter-out $(PROG_SRC) $(LEFT_OUT),$(sort \
  $(wildcard vit/cli/serve/*.c vit/cli/serve/*/*.c)))
SERVE_PARTS = serve_page_html serve_page_css serve_page_js serve_search_html serve_search_js \
  serve_page_teach_js serve_models
# The programs are one file, vit, and links to it: it is each of them by the name that it is called
# by. vit-serve is apart, since loading its HTTP library would make the others start 3 ms later, in
# 15 instead of 12. ONE=all: vit-serve, too; ONE=: each is apart.
ONE     ?= $(if $(WASM),,most)
ONE_SRC  = $(if $(ONE),$(filter-out $(if $(filter all,$(ONE)),,%/vit-serve.c),$(PROG_SRC)))
# The models that vit-serve has in itself; in one file for all it finds them beside it.
SHIPPED  = $(if $(filter all,$(ONE)),,$(sort $(wildcard models/*.safetensors)))
# Those that need no guest, for a build that has not all of them.
CORE_TESTS = $(patsubst %,tests/%.c,base/test_base_arena base/test_base_math base/test_base_random \
  base/test_base_text base/test_base_writer formats/test_gzip formats/test_sha256 formats/test_npy \
  kernels/test_kernels ops/test_gemm ops/test_attention ops/test_operators model/test_config \
  model/test_parameters model/test_network train/test_train train/test_augment \
  datasets/test_digits image/test_jpeg_stb image/test_image_resize)
ALL_TESTS = $(sort $(wildcard tests/*/test_*.c))
TEST_SRC = $(if $(LESS),$(CORE_TESTS),$(ALL_TESTS))
HELP_SRC = $(filter-out $(ALL_TESTS),$(sort $(wildcard tests/support/*.c)))

EMBEDDED = $(filter-out $(ABSENT_DATA),presets measured pytorch_model timm_models \
  hugging_face_models imagenet templates entities explain_page_html report_html \
  report_css report_js compare_html compare_js charts_js teaching_html option_names)
# Tables with the rows of the guests that are there: guests.o, of programs guests_cli.o.
CLI_OBJ  = $(call obj,$(CLI_SRC)) $(BUILD)/guests_cli.o
LIB_OBJ  = $(call obj,$(LIB_SRC)) $(WIRE) $(EMBEDDED:%=$(BUILD)/obj/%.o) $(BUILD)/guests.o

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
# The server without the HTTP library.
UNSERVED = $(CLI_OBJ) $(filter-out %/http.o %/head.o %/listen.o,$(call obj,$(SERVE_SRC))) \
  $(patsubst %,$(BUILD)/obj/%.o,$(SERVE_PARTS))
PROGRAMS = $(patsubst %.c,$(BUILD)/bin/%,$(notdir $(PROG_SRC)))
LINKS    = $(patsubst %.c,$(BUILD)/bin/%,$(notdir $(ONE_SRC)))
EXE      = $(if $(filter windows,$(SYSTEM)),.exe)
FILES    = $(filter-out $(LINKS),$(PROGRAMS)) $(if $(ONE),$(BUILD)/bin/vit$(EXE))
COMPLETE = $(foreach shell,bash zsh fish,$(PROGRAMS:$(BUILD)/bin/%=$(BUILD)/completions/%.$(shell)))
MAN      = $(patsubst $(BUILD)/bin/%,$(BUILD)/man/%.1,$(PROGRAMS))
EXAMPLES = $(if $(LESS),,$(EXAMPLE_BIN))
EXAMPLE_BIN = $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard examples/*.c)))
TESTS    = $(patsubst tests/%.c,$(BUILD)/tests/%,$(TEST_SRC))

.PHONY: static wasm wasm-programs web lecture all programs test tests bench lint analyse debug \
  asan tsan coverage fuzz fuzzers install uninstall dist sbom release deb image wheel archive clean
all: $(BUILD)/lib/libvit.a $(BUILD)/lib/libvit.so $(PROGRAMS) $(EXAMPLES) $(MAN) $(COMPLETE)

# For node: the programs that need no network.
wasm-programs: $(filter-out %/vit-bench,$(PROGRAMS))
wasm:
	scripts/wasm

# For any Linux of this processor.
static:
	scripts/cross static

# The page that needs no server, in one folder: that of vit-serve, and the server in a worker.
WEB       = build/web
WEB_PAGE  = vit/cli/serve/answer/page
WEB_FILES = $(addprefix $(WEB)/,index.html page.css page.js teach.js local.js worker.js isolate.js \
  models/mnist.safetensors models/fashion.safetensors)
WEB_FLAGS = -sMODULARIZE=1 -sEXPORT_NAME=createVit -sENVIRONMENT=worker $(WASM_FLAGS) \
  -sFORCE_FILESYSTEM=1 -sEXPORTED_FUNCTIONS=_malloc,_free \
  -sEXPORTED_RUNTIME_METHODS=FS,UTF8ToString
MANY      = $(if $(THREADS),-threads)
web: $(if $(THREADS),,$(WEB_FILES)) $(WEB)/vit$(MANY).js $(WEB)/vit-fused$(MANY).js
WEB_OBJ   = $(CLI_OBJ) $(call obj,vit/cli/web/web.c \
  $(filter-out %/http.c %/head.c %/listen.c %/vit-serve.c,$(SERVE_SRC))) \
  $(patsubst %,$(BUILD)/obj/%.o,$(filter-out serve_models,$(SERVE_PARTS))) \
  $(BUILD)/lib/libvit.a
$(WEB)/vit$(MANY).js: $(WEB_OBJ)
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -o $@ $^ -g0 $(WEB_FLAGS) $(LDFLAGS) $(LIBS)
# Where an engine has the fused multiply-add of relaxed SIMD, the worker takes this module.
FUSED = $(BUILD)/obj/vit/kernels/fused.o
$(FUSED): vit/kernels/kernels_simd128.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(KERNEL_FLAGS) -mrelaxed-simd -MMD -MP -MT $@ -c -o $@ $<
$(WEB)/vit-fused$(MANY).js: $(FUSED) $(WEB_OBJ)
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -mrelaxed-simd -o $@ $^ -g0 $(WEB_FLAGS) $(LDFLAGS) $(LIBS)
	scripts/wasm_fused.py $(@:.js=.wasm)
$(WEB)/index.html: $(WEB_PAGE)/page.html vit/cli/web/head.html vit/cli/web/train.html
	@mkdir -p $(@D)
	{ sed -e '/<link rel="stylesheet"/r vit/cli/web/head.html' -e '/<\/main>/,$$d' \
	  -e 's/Nothing leaves this server/Nothing leaves this machine/' $<; \
	  cat vit/cli/web/train.html; sed -n '/<\/main>/,$$p' $<; } >$@
$(WEB)/page.css: $(WEB_PAGE)/page.css vit/cli/web/web.css
	@mkdir -p $(@D)
	cat $^ >$@
$(WEB)/%: $(WEB_PAGE)/%
	cp $< $@
$(WEB)/%: vit/cli/web/%
	cp $< $@
$(WEB)/models/%: models/%
	@mkdir -p $(@D)
	cp $< $@

# The lecture to step through: one file, with the library and a trained model in it.
LECTURE = vit/cli/web/lecture
LECTURE_FILES = $(addprefix $(LECTURE)/,page.html page.css matrix.js formula.js evaluate.js \
  mistakes.js check.js words.js draw.js numbers.js steps.js compare.js)
lecture: docs/lecture.html
docs/lecture.html: scripts/lecture_page.py $(LECTURE_FILES) $(BUILD)/lecture.js \
  build/lecture.safetensors
	scripts/lecture_page.py $@ $(LECTURE)/page.html $(BUILD)/lecture.js build/lecture.safetensors
$(BUILD)/lecture.js: $(call obj,$(LECTURE)/lecture.c) $(BUILD)/lib/libvit.a
	$(LINK) $(ALL_CFLAGS) -o $@ $^ -g0 -sMODULARIZE=1 -sEXPORT_NAME=createLecture \
	  -sENVIRONMENT=web -sALLOW_MEMORY_GROWTH=1 -sFORCE_FILESYSTEM=1 -sTOTAL_STACK=1MB \
	  -sEXPORTED_FUNCTIONS=_malloc,_free -sEXPORTED_RUNTIME_METHODS=UTF8ToString $(LDFLAGS) $(LIBS)
# Trained by the programs of this machine, which scripts/wasm builds first.
ifeq ($(WASM),)
build/lecture.safetensors: | $(BUILD)/bin/vit-train
	$(BUILD)/bin/vit-train --data digits --preset lecture --steps 200 --seed 0 --out $@
endif

# One instruction set per file; the compiler may use it there and nowhere else. Of what a debugger
# needs they have lines alone: with all of it they compile for half as long again.
KERNEL_FLAGS ?= -O3 -g1
# NATIVE=yes: the kernels that this processor chooses, and none for others: a shorter build.
NATIVE ?=
HERE := $(if $(NATIVE),$(shell $(CC) -march=native -dM -E -x c /dev/null))
AVX2   = -mavx2 -mfma
AVX512 = -mavx512f -mavx512vl -mavx512bw -mavx512dq $(AVX2) -mprefer-vector-width=512
# The flags $3 of instructions $1, unless this processor has none of them or chooses those of $2.
isa = $(if $(X86),$(if $(NATIVE),$(if $(filter __$1__,$(HERE)),$(if \
  $(filter __$2__,$(HERE)),,$3)),$3))
$(BUILD)/obj/vit/kernels/%.o: EXTRA = $(KERNEL_FLAGS)
# As fast with -O2, in half the time of the compiler.
$(BUILD)/obj/vit/kernels/%_scalar.o: EXTRA = $(filter-out -O3,$(KERNEL_FLAGS))
$(BUILD)/obj/vit/kernels/%_sse41.o: EXTRA = $(KERNEL_FLAGS) $(call isa,SSE4_1,AVX2,-msse4.1)
$(BUILD)/obj/vit/kernels/%_avx2.o: EXTRA = $(KERNEL_FLAGS) $(call isa,AVX2,AVX512BW,$(AVX2))
$(BUILD)/obj/vit/kernels/%_avxvnni.o: EXTRA = $(KERNEL_FLAGS) \
  $(call isa,AVXVNNI,AVX512VNNI,$(AVX2) -mavxvnni)
$(BUILD)/obj/vit/kernels/%_avx512.o: EXTRA = $(KERNEL_FLAGS) $(call isa,AVX512BW,,$(AVX512))
$(BUILD)/obj/vit/kernels/%_int8_avx512.o: EXTRA = $(KERNEL_FLAGS) \
  $(call isa,AVX512BW,AVX512VNNI,$(AVX512))
$(BUILD)/obj/vit/kernels/%_avx512bf16.o: EXTRA = $(KERNEL_FLAGS) \
  $(call isa,AVX512BF16,,$(AVX512) -mavx512bf16)
$(BUILD)/obj/vit/kernels/%_avx512vnni.o: EXTRA = $(KERNEL_FLAGS) \
  $(call isa,AVX512VNNI,,$(AVX512) -mavx512vnni)
$(BUILD)/obj/vit/kernels/%_amx.o: EXTRA = $(KERNEL_FLAGS) \
  $(call isa,AMX_TILE,,$(AVX512) -mavx512bf16 -mamx-tile -mamx-int8 -mamx-bf16)

SDOT = -march=armv8.2-a+dotprod
ARM64 := $(or $(findstring aarch64,$(TRIPLE)),$(findstring arm64,$(TRIPLE)))
$(BUILD)/obj/vit/kernels/%_neondot.o: EXTRA = $(KERNEL_FLAGS) $(if $(ARM64),$(SDOT))
# gcc 12 makes wrong code of this for AArch64 with -O3 (tests/ops/test_bf16.c).
$(BUILD)/obj/vit/kernels/%_reference.o: EXTRA = $(if $(ARM64),,$(KERNEL_FLAGS)) \
  $(if $(X86),$(AVX2))

# stb_image counts on integers that wrap around and, at the end of truncated data, on shifts by more
# bits than a number has, of zero. Resampling, max pooling and the search of ink are inner loops.
$(BUILD)/obj/vit/image/codec/%.o $(BUILD)/obj/vit/base/build.o: EXTRA = $(CODEC_CFLAGS)
$(BUILD)/obj/vit/image/codec/stb.o: EXTRA = -fwrapv -fno-sanitize=shift $(CODEC_CFLAGS)
$(BUILD)/obj/tests/image/test_stb.o $(BUILD)/obj/tests/image/test_jpeg_stb.o: \
  EXTRA = -Wno-unused-parameter -fwrapv -fno-sanitize=shift
$(BUILD)/obj/vit/image/resize.o $(BUILD)/obj/vit/ops/pool.o \
  $(BUILD)/obj/vit/train/augment/augment.o: EXTRA = -O3
$(BUILD)/obj/vit/image/digit/%.o: EXTRA = -O3
# Products and eigenvectors in double.
$(BUILD)/obj/vit/few_shot/%.o: EXTRA = -O3
# cmocka gives every test a state, which few look at.
$(BUILD)/obj/tests/%.o: EXTRA = -Wno-unused-parameter
$(BUILD)/obj/tests/kernels/test_vnni.o: EXTRA = -Wno-unused-parameter $(if $(X86),$(AVX2))

# What these folders alone are compiled with, after all other flags (make coverage, make tsan).
WATCH       =
WATCH_FLAGS =
$(foreach folder,$(WATCH),$(eval $(BUILD)/obj/$(folder)/%.o: WATCHED = $$(WATCH_FLAGS)))

# The lists of headers name $(BUILD) itself: it may be given as another path to the same place.
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(EXTRA) $(WATCHED) -MMD -MP -MT '$$(BUILD)/obj/$*.o' -c -o $@ $<

$(BUILD)/guests.o $(BUILD)/guests_cli.o: $(BUILD)/%.o: $(BUILD)/%.c $(BUILD)/flags
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/wire_mpi.o: vit/cluster/wire_mpi.c vit/cluster/wire.h vit/cluster/launched.h $(BUILD)/flags
	$(CC) $(ALL_CFLAGS) $(patsubst -I%,-isystem %,$(filter -I%,$(MPI_CALL))) -c -o $@ $<

$(BUILD)/presets.c: scripts/embed-presets $(PRESETS)
	@mkdir -p $(@D)
	scripts/embed-presets $(PRESETS) > $@

$(BUILD)/measured.c: scripts/embed-measured $(wildcard models/measured.jsonl) $(PRESETS)
	@mkdir -p $(@D)
	scripts/embed-measured models/measured.jsonl $(PRESETS) > $@

$(BUILD)/pytorch_model.c: scripts/embed-text vit/weights/export/pytorch_model.py
	@mkdir -p $(@D)
	scripts/embed-text vit_pytorch_model vit/weights/export/pytorch_model.py > $@

$(BUILD)/hugging_face_models.c: scripts/embed-text vit/weights/configs/hugging_face_models.json
	@mkdir -p $(@D)
	scripts/embed-text vit_hugging_face_models vit/weights/configs/hugging_face_models.json > $@

$(BUILD)/timm_models.c: scripts/embed-text vit/weights/configs/timm_models.json
	@mkdir -p $(@D)
	scripts/embed-text vit_timm_models vit/weights/configs/timm_models.json > $@

$(BUILD)/serve_page_%.c: scripts/embed-text vit/cli/serve/answer/page/page.%
	@mkdir -p $(@D)
	scripts/embed-text serve_page_$* vit/cli/serve/answer/page/page.$* > $@

$(BUILD)/serve_search_%.c: scripts/embed-text vit/cli/serve/answer/page/search.%
	@mkdir -p $(@D)
	scripts/embed-text serve_search_$* vit/cli/serve/answer/page/search.$* > $@

$(BUILD)/serve_page_teach_js.c: scripts/embed-text vit/cli/serve/answer/page/teach.js
	@mkdir -p $(@D)
	scripts/embed-text serve_page_teach_js vit/cli/serve/answer/page/teach.js > $@

$(BUILD)/explain_%_html.c: scripts/embed-text vit/explain/page/%.html
	@mkdir -p $(@D)
	scripts/embed-text vit_explain_$*_html vit/explain/page/$*.html > $@

$(BUILD)/teaching_html.c: scripts/embed-text vit/few_shot/page/teaching.html
	@mkdir -p $(@D)
	scripts/embed-text vit_few_shot_html vit/few_shot/page/teaching.html > $@

$(BUILD)/imagenet.c: scripts/embed-text vit/weights/file/imagenet-1k.txt
	@mkdir -p $(@D)
	scripts/embed-text vit_imagenet_classes vit/weights/file/imagenet-1k.txt > $@

$(BUILD)/templates.c: scripts/embed-text vit/weights/file/imagenet-templates.txt
	@mkdir -p $(@D)
	scripts/embed-text vit_imagenet_templates vit/weights/file/imagenet-templates.txt > $@

$(BUILD)/entities.c: scripts/embed-text vit/text/unicode/entities.txt
	@mkdir -p $(@D)
	scripts/embed-text vit_html_entities vit/text/unicode/entities.txt > $@

# Of the programs, for the message about an option that another one has.
OPTION_ROWS = $(wildcard vit/cli/*/*.h)
$(BUILD)/option_names.c: scripts/option-names scripts/embed-text $(OPTION_ROWS) $(PROG_SRC)
	@mkdir -p $(@D)
	scripts/option-names $(OPTION_ROWS) $(PROG_SRC) > $(BUILD)/option_names
	scripts/embed-text vit_option_names $(BUILD)/option_names > $@.new$$$$ && \
	  if cmp -s $@.new$$$$ $@; then rm $@.new$$$$; else mv $@.new$$$$ $@; fi

$(BUILD)/compare_%.c: scripts/embed-text vit/report/page/compare.%
	@mkdir -p $(@D)
	scripts/embed-text vit_compare_$* vit/report/page/compare.$* > $@

$(BUILD)/charts_js.c: scripts/embed-text vit/report/page/charts.js
	@mkdir -p $(@D)
	scripts/embed-text vit_charts_js vit/report/page/charts.js > $@

$(BUILD)/report_%.c: scripts/embed-text vit/report/page/report.%
	@mkdir -p $(@D)
	scripts/embed-text vit_report_$* vit/report/page/report.$* > $@

$(BUILD)/verified.c: scripts/embed-text models/verified.txt
	@mkdir -p $(@D)
	scripts/embed-text vit_verified models/verified.txt > $@

$(BUILD)/serve_models.c: scripts/embed-models $(SHIPPED)
	@mkdir -p $(@D)
	scripts/embed-models $(SHIPPED) > $@

$(patsubst %,$(BUILD)/obj/%.o,$(EMBEDDED) $(SERVE_PARTS) verified one): \
    $(BUILD)/obj/%.o: $(BUILD)/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -MT '$$(BUILD)/obj/$*.o' -c -o $@ $<

# Rebuilds everything when the compiler or its flags change; FLAGS=kept takes what is built for
# right, as tests/project/install.sh does, which is not told how it was built.
COMPILED_WITH = $(CC) $(ALL_CFLAGS) $(KERNEL_FLAGS) $(CODEC_CFLAGS)$(NATIVE:%= NATIVE)
.PHONY: FORCE
ifneq ($(FLAGS),kept)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(COMPILED_WITH)' | cmp -s - $@ || echo '$(COMPILED_WITH)' > $@
endif

$(BUILD)/lib/libvit.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

# Its threads stay until the process ends, so their code must, too, whoever calls dlclose.
STAYS = $(if $(SYSTEM),,-Wl,-z,nodelete)
$(BUILD)/lib/libvit.so: $(LIB_OBJ) Makefile # the latter has the soname
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libvit.so.$(ABI) $(STAYS) -o $@ $(filter %.o,$^) \
	  $(LDFLAGS) $(SECTIONS) \
	  $(LIBS)
	@ln -sf libvit.so $(@D)/libvit.so.$(ABI)

# Programs with a main of another name, for one file.
one_obj  = $(patsubst %.c,$(BUILD)/obj/one/%.o,$(1))
ONE_SERVE = $(if $(filter %/vit-serve.c,$(ONE_SRC)),$(call obj,$(SERVE_SRC)) \
  $(SERVE_PARTS:%=$(BUILD)/obj/%.o))
$(BUILD)/obj/one/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -Dmain=$(subst -,_,$(basename $(@F)))_main \
	  -MMD -MP -MT '$$(BUILD)/obj/one/$*.o' -c -o $@ $<
$(BUILD)/one.c: scripts/embed-programs Makefile $(BUILD)/guests.mk
	@mkdir -p $(@D)
	scripts/embed-programs $(notdir $(ONE_SRC:.c=)) >$@
$(BUILD)/bin/vit$(EXE): $(BUILD)/obj/one.o $(BUILD)/obj/verified.o $(call one_obj,$(ONE_SRC)) \
  $(call obj,$(BENCH)) $(CLI_OBJ) $(ONE_SERVE) $(BUILD)/lib/libvit.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -o $@ $^ $(LDFLAGS) $(SECTIONS) $(if $(ONE_SERVE),$(SERVE_LIBS)) $(LIBS)
	$(if $(filter all,$(ONE)),$(STRIP) $@)
$(LINKS): $(BUILD)/bin/vit$(EXE)
	ln -sf $(<F) $@

# The programs of a folder of their own have its files, too.
APART = $(filter-out $(LINKS),$(PROGRAMS))
$(filter %/vit-bench,$(APART)): $(call obj,vit/cli/bench/vit-bench.c $(BENCH))
$(filter %/vit-serve,$(APART)): $(call obj,vit/cli/serve/vit-serve.c $(SERVE_SRC)) \
  $(SERVE_PARTS:%=$(BUILD)/obj/%.o)
$(filter %/vit-verify,$(APART)): $(BUILD)/obj/verified.o
$(filter-out %/vit-bench %/vit-serve,$(APART)): $(BUILD)/bin/%: $(BUILD)/obj/vit/cli/%.o
$(filter %/vit-serve,$(APART)): LIBS += $(SERVE_LIBS)
$(APART): $(CLI_OBJ) $(BUILD)/lib/libvit.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(SECTIONS) $(LIBS)
# Programs find the models beside build; those of another directory find this link.
$(LINKS) $(APART): | $(if $(filter-out build,$(BUILD)),$(BUILD)/share/vit/models)
$(BUILD)/share/vit/models:
	@mkdir -p $(@D)
	ln -sfn $(CURDIR)/models $@
# Windows has no links worth the name.
programs: $(if $(EXE),$(BUILD)/bin/vit$(EXE),$(PROGRAMS))

# The options of a page are those that the program names. EMULATOR runs it where another processor's
# is built.
$(MAN): $(BUILD)/man/%.1: docs/man/%.1 scripts/man $(BUILD)/bin/%
	@mkdir -p $(@D)
	$(EMULATOR) $(BUILD)/bin/$* --help | ABSENT='$(ABSENT)' scripts/man docs/man/$*.1 > $@

$(COMPLETE): $(BUILD)/completions/%: scripts/completion $(PROGRAMS)
	@mkdir -p $(@D)
	$(EMULATOR) $(BUILD)/bin/$(basename $*) --help | \
	  scripts/completion $(patsubst .%,%,$(suffix $*)) $(basename $*) > $@

$(EXAMPLE_BIN): $(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(BUILD)/lib/libvit.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDFLAGS) $(SECTIONS) $(LIBS) $(shell pkg-config --libs stb)

# In tests, the library's calls of the system go through tests/support/fault.c, which can make
# them fail.
FAULT_CALLS = posix_memalign open read pread write fsync close rename unlink mmap opendir readdir
# Without what a debugger needs, test programs link four times as fast and take half of the space:
# `make TEST_STRIP= tests` keeps it, as does a build with SANITIZE.
TEST_STRIP ?= $(if $(SANITIZE),,-Wl,--strip-debug)
IN_TESTS = $(FAULT_CALLS:%=-Wl,--wrap=%) $(TEST_STRIP)
$(TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(call obj,$(HELP_SRC)) $(CLI_OBJ) \
    $(BUILD)/lib/libvit.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(SECTIONS) \
	  $(IN_TESTS) $(LIBS) $(shell pkg-config --libs cmocka)

# The folders of tests/corpus have inputs that failed once; one test gives each to its fuzz target.
CORPUS_SRC = $(filter-out $(if $(filter yes,$(SERVE)),,%_serve.c %_requests.c), \
  $(sort $(wildcard tests/fuzz/fuzz_*.c)))
CORPUS_OBJ = $(patsubst tests/fuzz/%.c,$(BUILD)/obj/corpus/%.o,$(CORPUS_SRC))
$(BUILD)/obj/corpus/%.o: tests/fuzz/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -DLLVMFuzzerTestOneInput=$*_input -DLLVMFuzzerInitialize=$*_begin \
	  -MMD -MP -MT '$$(BUILD)/obj/corpus/$*.o' -c -o $@ $<
$(BUILD)/tests/fuzz/corpus.inc: $(CORPUS_SRC) Makefile
	@mkdir -p $(@D)
	@printf 'TARGET(%s)\n' $(patsubst tests/fuzz/fuzz_%.c,%,$(CORPUS_SRC)) >$@
$(BUILD)/obj/tests/fuzz/test_corpus.o: EXTRA = -Wno-unused-parameter -I$(BUILD)
$(BUILD)/obj/tests/fuzz/test_corpus.o: $(BUILD)/tests/fuzz/corpus.inc
$(BUILD)/tests/serve/test_gate: $(call obj,vit/cli/serve/work/gate.c)
$(BUILD)/tests/fuzz/test_corpus: $(CORPUS_OBJ) $(if $(filter yes,$(SERVE)),$(UNSERVED))

# Tests and programs with the kernels of AVX-512 and AMX, whose instructions are emulated
# (tests/support/amx.h), for x86 processors that have AVX2: what is linked first takes the place of
# the library's. Unrolled and optimised, such kernels would take minutes to compile.
EMULATED_TESTS = $(if $(LESS),,$(EMULATED_BIN))
EMULATED_BIN = $(if $(X86),$(addprefix $(BUILD)/emulated/,test_bf16 test_attention_bf16 \
  test_int8 tiles vit-train))
EMULATED_OBJ = $(patsubst %,$(BUILD)/obj/emulated/kernels_%.o,avx512 avx512bf16 int8_avx512 \
  int8_avx512vnni bf16_amx int8_amx) $(BUILD)/obj/tests/emulated/cpu.o
$(BUILD)/obj/emulated/%.o: vit/kernels/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -O1 -g0 -Wno-psabi -mavx2 -mfma -include tests/support/amx.h -MMD -MP \
	  -MT '$$(BUILD)/obj/emulated/$*.o' -c -o $@ $<
PERMITTED = $(BUILD)/obj/tests/emulated/permitted.o
$(BUILD)/emulated/%: $(BUILD)/obj/tests/ops/%.o $(EMULATED_OBJ) $(PERMITTED) \
    $(call obj,$(HELP_SRC)) $(CLI_OBJ) $(BUILD)/lib/libvit.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -o $@ $^ $(LDFLAGS) $(SECTIONS) $(IN_TESTS) $(LIBS) \
	  $(shell pkg-config --libs cmocka)
$(BUILD)/emulated/tiles: $(BUILD)/obj/tests/emulated/tiles.o $(EMULATED_OBJ) \
    $(call obj,$(HELP_SRC)) $(CLI_OBJ) $(BUILD)/lib/libvit.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -o $@ $^ $(LDFLAGS) $(IN_TESTS) $(LIBS) \
	  $(shell pkg-config --libs cmocka)
$(BUILD)/emulated/vit-train: $(BUILD)/obj/vit/cli/vit-train.o $(EMULATED_OBJ) $(PERMITTED) \
    $(CLI_OBJ) $(BUILD)/lib/libvit.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -o $@ $^ $(LDFLAGS) $(SECTIONS) $(LIBS)

tests: $(TESTS) $(EMULATED_TESTS)

test: all tests
	BUILD=$(BUILD) tests/run $(if $(LESS),$(notdir $(CORE_TESTS:.c=)))

bench: all
	$(BUILD)/bin/vit-bench train --preset mnist
	$(BUILD)/bin/vit-bench infer --preset mnist

lint: analyse
	scripts/lint

analyse:
	scripts/analyse

debug:
	$(MAKE) BUILD=build/debug CFLAGS='-O2 -g -DVIT_POISON' test

# Checking the scope of every virtual lane takes gcc tens of minutes.
asan:
	$(MAKE) BUILD=build/asan CFLAGS='-O1 -g -fno-omit-frame-pointer' \
	  KERNEL_FLAGS='-O1 -fno-sanitize-address-use-after-scope' \
	  SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all' test

# A build of which only the folders of WATCH are compiled: all else is taken from the usual one.
watched = rm -rf build/$(1)/obj && mkdir -p build/$(1)/obj && cp -a build/flags build/$(1)/ && \
  (cd build/obj && tar cf - $(WATCH:%=--exclude=./%) .) | tar xf - -C build/$(1)/obj

# Threads are POSIX's, as on musl and macOS: ThreadSanitizer does not see the barriers of gcc's
# OpenMP, and would take what is behind each for a race. Kernels start no threads.
TSAN_FLOORS = vit/base vit/ops vit/model vit/api vit/train vit/search vit/teach vit/image \
  vit/tensors vit/cli/serve tests/ops
TESTED = $(shell sed -n 's/^\([a-z].*\): .*/\1/p' tests/threads.txt)
tsan: all
	$(MAKE) tsan-tests WATCH='$(or $(WATCH),$(TSAN_FLOORS))'
.PHONY: tsan-tests coverage-tests
tsan-tests:
	rm -f build/tsan/race.*
	$(call watched,tsan)
	$(MAKE) BUILD=build/tsan WATCH='$(WATCH)' LDFLAGS='$(LDFLAGS) -fsanitize=thread' \
	  WATCH_FLAGS='-fsanitize=thread -fno-openmp -O1 -fno-omit-frame-pointer' \
	  programs build/tsan/examples/draw_digit \
	  $(patsubst %.c,build/tsan/%,$(wildcard $(TESTED:%=tests/*/%.c)))
	BUILD=build/tsan UNBOXED=yes OMP_NUM_THREADS=4 TEST_SECONDS=300 \
	  TSAN_OPTIONS=halt_on_error=1:exitcode=66:log_path=$(CURDIR)/build/tsan/race \
	  tests/run $(TESTED); status=$$?; \
	  cat build/tsan/race.* 2>/dev/null && exit 1; exit $$status

# The tests of these folders in a build that counts. Programs leave their counts as they end, which
# the sandbox of vit-serve would not let them.
COVERED = $(shell sed -n 's/^\([a-z/]*\) [0-9]* [0-9]* .*/\1/p' tests/coverage.txt)
COVERED_TESTS = $(foreach floor,$(WATCH),$(shell sed -n 's|^$(floor) [0-9]* [0-9]* ||p' \
  tests/coverage.txt))
coverage: all
	$(MAKE) coverage-tests WATCH='$(or $(WATCH),$(COVERED))'
coverage-tests:
	$(call watched,coverage)
	$(MAKE) BUILD=build/coverage WATCH='$(WATCH)' LDFLAGS='$(LDFLAGS) --coverage -Wl,-u,__gcov_dump' \
	  WATCH_FLAGS='-O0 --coverage' programs build/coverage/examples/draw_digit \
	  $(patsubst %.c,build/coverage/%,$(wildcard $(COVERED_TESTS:%=tests/*/%.c)))
	BUILD=build/coverage UNBOXED=yes TEST_SECONDS=300 MUTATIONS=500 tests/run $(sort $(COVERED_TESTS))
	scripts/coverage.py build/coverage tests/coverage.txt $(WATCH)

# Kernels read no input, and checked by clang they take half an hour to compile: make asan has them.
# Run one: build/fuzz/fuzz_image -max_total_time=180 CORPUS SEEDS...
TARGET  = *
FUZZERS = $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(sort $(wildcard tests/fuzz/fuzz_$(TARGET).c)))
fuzz:
	$(MAKE) CC=clang BUILD=build/fuzz CFLAGS='-O1 -g -fno-omit-frame-pointer' \
	  KERNEL_FLAGS='-O3 -fno-sanitize=all' \
	  SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' fuzzers

fuzzers: $(FUZZERS)

$(BUILD)/fuzz_serve: $(patsubst %,$(BUILD)/obj/vit/cli/serve/%.o,answer/multipart answer/base64 \
  net/guard)
$(BUILD)/fuzz_requests: $(UNSERVED)
$(FUZZERS): $(BUILD)/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/lib/libvit.a
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(LIBS)

# The programs look for models in ../share/vit/models beside them (vit/cli/models/models.h).
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
MODELS  = $(wildcard models/*.safetensors models/*.json)
VERSION := $(shell sed -n 's/.*define VIT_VERSION "\(.*\)".*/\1/p' vit/vit.h)
# What programs that are linked with the library ask for: structures change with it
# (docs/stability.md).
ABI     := $(shell echo $(VERSION) | sed -e 's/^\(0\.[0-9]*\)\..*/\1/' -e t -e 's/\..*//')
OPENMP  = $(if $(findstring clang,$(CC)),-lomp,-lgomp)

AT_BIN    = $(DESTDIR)$(PREFIX)/bin
AT_MAN    = $(DESTDIR)$(PREFIX)/share/man/man1
AT_SHARE  = $(DESTDIR)$(PREFIX)/share/vit
AT_MODELS = $(AT_SHARE)/models
AT_HEADER = $(DESTDIR)$(PREFIX)/include/vit
AT_LIB    = $(DESTDIR)$(LIBDIR)
AT_CMAKE  = $(AT_LIB)/cmake/vit
# What a program that takes the static library needs besides.
CONFIG_LIBS = $(shell pkg-config --libs-only-l $(filter-out stb,$(PKGS)) $(CODEC_PKGS)) -lm \
  $(OPENMP)
NAMES     = $(notdir $(PROGRAMS))
# What a user of the library includes.
HEADERS   = $(filter-out $(ABSENT_HEADERS),vit/vit.h vit/precision.h vit/cluster.h vit/tensors.h \
  vit/maps.h vit/texts.h vit/few_shot.h vit/labels.h vit/zero_shot.h vit/reliance.h vit/reports.h)
AT_BASH   = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
AT_ZSH    = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
AT_FISH   = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

install: $(BUILD)/lib/libvit.a $(BUILD)/lib/libvit.so $(PROGRAMS) $(MAN) $(COMPLETE)
	install -d "$(AT_BIN)" "$(AT_MAN)" "$(AT_MODELS)" "$(AT_HEADER)" "$(AT_LIB)/pkgconfig"
	install -s --strip-program=$(STRIP) $(FILES) "$(AT_BIN)"
	for name in $(notdir $(LINKS)); do ln -sf vit "$(AT_BIN)/$$name"; done
	install -m 644 $(MAN) "$(AT_MAN)"
	install -d "$(AT_BASH)" "$(AT_ZSH)" "$(AT_FISH)"
	for name in $(NAMES); do from=$(BUILD)/completions/$$name; \
	  install -m 644 $$from.bash "$(AT_BASH)/$$name" && \
	  install -m 644 $$from.zsh "$(AT_ZSH)/_$$name" && \
	  install -m 644 $$from.fish "$(AT_FISH)" || exit 1; done
	$(if $(MODELS),install -m 644 $(MODELS) "$(AT_MODELS)")
	install -m 644 $(HEADERS) "$(AT_HEADER)"
	install -m 644 $(BUILD)/lib/libvit.a "$(AT_LIB)"
	install -s --strip-program=$(STRIP) -m 755 $(BUILD)/lib/libvit.so "$(AT_LIB)/libvit.so.$(ABI)"
	ln -sf libvit.so.$(ABI) "$(AT_LIB)/libvit.so"
	install -d "$(AT_CMAKE)"
	for file in vitConfig vitConfigVersion; do \
	  sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@ABI@|$(ABI)|g' -e 's|@OPENMP@|$(OPENMP)|' \
	    -e 's|@UP@|$(shell realpath -m --relative-to="$(LIBDIR)/cmake/vit" "$(PREFIX)")|' \
	    -e 's|@LIBDIR@|$(shell realpath -m --relative-to="$(PREFIX)" "$(LIBDIR)")|' \
	    -e 's|@PRIVATE@|$(CONFIG_LIBS)|' vit/$$file.cmake.in >"$(AT_CMAKE)/$$file.cmake" && \
	  chmod 644 "$(AT_CMAKE)/$$file.cmake" || exit 1; done
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	  -e 's|@OPENMP@|$(OPENMP)|' -e 's|@CODECS@|$(CODEC_LIBS)|' \
	  vit/libvit.pc.in >"$(AT_LIB)/pkgconfig/libvit.pc"
	chmod 644 "$(AT_LIB)/pkgconfig/libvit.pc"

uninstall:
	rm -f $(NAMES:%="$(AT_BASH)/%") $(NAMES:%="$(AT_ZSH)/_%") $(NAMES:%="$(AT_FISH)/%.fish")
	rm -f "$(AT_BIN)/vit" $(PROGRAMS:$(BUILD)/bin/%="$(AT_BIN)/%") \
	  $(MAN:$(BUILD)/man/%="$(AT_MAN)/%") \
	  $(patsubst models/%,"$(AT_MODELS)/%",$(MODELS)) $(HEADERS:vit/%="$(AT_HEADER)/%") \
	  $(patsubst %,"$(AT_LIB)/%",pkgconfig/libvit.pc libvit.a libvit.so libvit.so.$(ABI)) \
	  "$(AT_CMAKE)/vitConfig.cmake" "$(AT_CMAKE)/vitConfigVersion.cmake"
	for directory in "$(AT_MODELS)" "$(AT_SHARE)" "$(AT_HEADER)" "$(AT_CMAKE)"; do \
	  [ ! -d "$$directory" ] || rmdir --ignore-fail-on-non-empty "$$directory"; done

# Times in archives are the commit's, so that two builds of it are the same bytes.
dist:
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=vit-$(VERSION)/ HEAD | gzip -9n >$(BUILD)/vit-$(VERSION).tar.gz

# What the build has in it, from what it was linked with.
sbom:
	@mkdir -p $(BUILD)
	scripts/sbom.py $(VERSION) $(PKGS) $(CODEC_PKGS) $(if $(filter yes,$(SERVE)),libmicrohttpd) \
	  $(if $(filter -fopenmp,$(MACHINE)),openmp) >$(BUILD)/vit-$(VERSION).spdx.json

image:
	scripts/cross static programs
	scripts/image.py build/static/bin/vit $(VERSION) $(BUILD)/vit-$(VERSION)-image.tar \
	  $(filter %.safetensors,$(MODELS))

release:
	BUILD=$(BUILD) scripts/release $(if $(KEY),--key "$(KEY)") $(SYSTEMS)

wheel:
	scripts/wheel

deb: all
	scripts/deb $(BUILD) $(VERSION)

# Programs and models in one folder: for another system, which ARCHIVE names (scripts/cross).
archive: $(BUILD)/vit-$(VERSION)-$(ARCHIVE).tar.gz
$(BUILD)/vit-$(VERSION)-$(ARCHIVE).tar.gz: programs LICENSE $(MODELS)
	rm -rf $(BUILD)/archive
	install -d $(BUILD)/archive/bin $(BUILD)/archive/share/vit/models
	cp -P $(BUILD)/bin/vit* $(BUILD)/archive/bin
	install -m 644 LICENSE $(BUILD)/archive
	install -m 644 $(MODELS) $(BUILD)/archive/share/vit/models
	tar -c --sort=name --owner=0 --group=0 --numeric-owner --mode=go-w --mtime=@$(EPOCH) \
	  --transform='s,^\.,vit-$(VERSION),S' -C $(BUILD)/archive . | gzip -9n >$@
EPOCH = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct))

# make print-LIBS says what a variable is, for scripts.
ALL_OBJ = $(LIB_OBJ) $(CLI_OBJ) $(call obj,$(PROG_SRC) $(BENCH) $(SERVE_SRC))
print-%:
	@echo $($*)

clean:
	rm -rf $(BUILD) $(if $(filter build,$(BUILD)),docs/lecture.html)

.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD)/obj/ -name '*.d' 2>/dev/null)
