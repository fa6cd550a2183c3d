/* vit-serve: classifies pictures over HTTP. */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/models/models.h"
#include "vit/cli/parts/coverage.h"
#include "vit/cli/parts/program.h"
#include "vit/cli/parts/sandbox.h"
#include "vit/cli/serve/http.h"
#include "vit/cli/serve/net/check.h"
#include "vit/cli/serve/net/listen.h"
#include "vit/cli/serve/route.h"
#include "vit/cli/serve/work/access_log.h"
#include "vit/cli/serve/work/mapped.h"

static const char *const logs[] = {"none", "text", "json", NULL};
VIT_CHECK_ROWS(logs, SERVE_LOG_COUNT + 1);

typedef struct settings {
    vit_option_list models, banks, hosts, origins, proxies;
    vit_model_choice from; /* how models are opened */
    vit_coverage_choice sets;
    const char *host, *key_file, *index, *check;
    uint64_t port, top, threads;
    bool teach;
    const char *keep_teachings;
    vit_optional sandbox;
    uint64_t body, pixels, pictures, connections, per_address, queue, batch;
    double timeout, delay; /* seconds, milliseconds */
    int log;
} settings;

/* An option for a number from 1 to `most`. */
#define LIMIT(member, word, most, text) \
    { VIT_OPTION(COUNT, word, member, "N"), .help = text, .min = 1, .max = most }

static const vit_option options[] = {
    {.kind = VIT_OPTION_GROUP, .help = "The models"},
    {VIT_OPTION(LIST, "model", models, "MODEL"),
     .help = "a model to serve, as for vit-classify; NAME=MODEL gives\n"
             "it another name; may be given several times\n"
             "(default: all in $VIT_MODELS, beside the program and\n"
             "within it)"},
    VIT_LABELS_OPTION(settings),
    VIT_LABELS_FILE_OPTION(settings),
    VIT_TEMPLATE_OPTION(settings),
    VIT_EXIF_OPTION(settings),
    {VIT_OPTION(TEXT, "index", index, "INDEX"),
     .help = "an index of pictures, which vit-search build makes: it\n"
             "is searched at /search and /v1/search, as it is then"},
    {VIT_OPTION(LIST, "bank", banks, "BANK"),
     .help = "a bank of good pictures, which vit-anomaly build makes,\n"
             "for defects at /v1/anomaly; NAME=BANK gives it a name\n"
             "(default: the file's); may be given several times"},
    {.kind = VIT_OPTION_GROUP, .help = "Who may ask"},
    {VIT_OPTION(TEXT, "host", host, "ADDRESS"),
     .help = "the address to listen on; 0.0.0.0 is all of them\n"
             "(default: 127.0.0.1, this machine alone)"},
    {VIT_OPTION(COUNT, "port", port, "N"), .help = "0: any free port (default: 8080)",
     .max = 65535},
    {VIT_OPTION(TEXT, "key-file", key_file, "FILE"),
     .help = "answer only requests with Authorization: Bearer KEY,\n"
             "where KEY is a line of this file"},
    {VIT_OPTION(LIST, "allow-host", hosts, "NAME"),
     .help = "a name of this server, besides localhost and addresses;\n"
             "may be given several times"},
    {VIT_OPTION(LIST, "allow-origin", origins, "URL"),
     .help = "a site, such as https://example.org, whose pages may\n"
             "ask; may be given several times"},
    {VIT_OPTION(LIST, "trusted-proxy", proxies, "NET"),
     .help = "an address or net, such as 10.0.0.0/8, of a proxy before\n"
             "this server: limits and logs are then of the clients in\n"
             "its X-Forwarded-For; may be given several times"},
    {.kind = VIT_OPTION_GROUP, .help = "The answer"},
    LIMIT(top, "top", 1e6, "the N likeliest classes (default: 3)"),
    VIT_COVERAGE_OPTIONS(settings, sets, 0, 0, 0),
    {VIT_FLAG("teach", teach), .help = "let people teach classes of their own by pictures, in\n"
                                       "the page and at /v1/teach: at most 16 teachings of 2000\n"
                                       "pictures, kept in memory alone (docs/server.md)"},
    {VIT_OPTION(TEXT, "keep-teachings", keep_teachings, "DIR"),
     .help = "with --teach: keep teachings there, too, so that they\n"
             "survive a restart: features, names and small copies of\n"
             "the pictures, one file each. DIR is made, for its owner"},
    {.kind = VIT_OPTION_GROUP, .help = "Limits"},
    LIMIT(body, "max-body", 1e9, "bytes of a request (default: 16777216)"),
    LIMIT(pixels, "max-pixels", 1e9, "of a picture (default: 50000000)"),
    LIMIT(pictures, "max-pictures", 4096, "in a request (default: 64)"),
    LIMIT(queue, "max-queue", 1e6,
          "pictures that wait; more are refused with 503\n"
          "(default: 1024)"),
    LIMIT(connections, "max-connections", 10000,
          "open at once; more are refused with 503 (default: 256)"),
    LIMIT(per_address, "max-per-address", 10000,
          "open at once from one address; more are refused with\n"
          "429 (default: 128)"),
    {VIT_OPTION(NUMBER, "timeout", timeout, "SECONDS"),
     .help = "the longest that a request may take to arrive, to wait\n"
             "for its turn, and its client to read the answer\n"
             "(default: 30)",
     .max = 86400},
    {.kind = VIT_OPTION_GROUP, .help = "How"},
    LIMIT(batch, "batch", 4096,
          "pictures that wait together are computed together, at\n"
          "most N; changes no digit of an answer (default: 64)"),
    {VIT_OPTION(NUMBER, "delay", delay, "MS"),
     .help = "milliseconds that a picture waits for others, to be\n"
             "computed together (default: none)",
     .max = 10000},
    VIT_PRECISION_OPTION(settings),
    VIT_ARITHMETIC_OPTION(settings),
    VIT_THREADS_OPTION(settings, "changes no digit of an answer (default: all processors)"),
    {VIT_OPTION(CHOICE, "log", log, "HOW"),
     .help = "a line for each request on standard error: none, text or\n"
             "json (default: none)",
     .choices = logs},
    VIT_SANDBOX_OPTION(settings, sandbox, "those beside its models and index"),
    {VIT_OPTION(TEXT, "check", check, "URL"),
     .help = "serve nothing: ask the server at URL, such as\n"
             "http://127.0.0.1:8080, whether it answers; exit status 0\n"
             "if it does, else 1 (for the health check of a container)"},
};

static const vit_command command = {
    .name = "vit-serve",
    .usage = "usage: vit-serve [OPTION...]\n"
             "\n"
             "Classifies pictures over HTTP: for a browser at http://127.0.0.1:8080/, and for\n"
             "the clients of TorchServe, Hugging Face and KServe.\n"
             "\n"
             "  vit-serve\n"
             "      all named models, for this machine\n"
             "  curl -T seven.png http://127.0.0.1:8080/predictions/mnist\n"
             "      the same answer as that of vit-classify --json\n"
             "  vit-serve --model flowers=runs/best.safetensors --host 0.0.0.0 --key-file keys\n"
             "      one model, for all who can reach this machine and have a key\n",
    .operands = NULL,
    .notes = "The first line of standard output says where it listens. On SIGHUP the models\n"
             "are read again, without losing a request; on SIGTERM or SIGINT it answers the\n"
             "requests that have arrived, then ends; a second one ends it at once.\n"
             "Exit status: 0 ended by a signal, 1 a model or the port failed, 2 wrong "
             "usage;\nwith --check, 0 the server answers, 1 it does not.\n" VIT_CPU_NOTE
             "; in f32 the answer is the same with each.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

/* All parts of the running server. */
typedef struct parts {
    serve_server server;
    const char **model_names, **route_names; /* for the metrics */
    serve_listener *listener;
    serve_http *http;
    char own[48]; /* the directory of its own, in the sandbox; "": none */
} parts;

/* The number of connections that the limit of open files allows: each takes a descriptor. */
static size_t connections_within(const settings *s) {
    enum { OTHERS = 16 };
    struct rlimit limit;
    const size_t asked = (size_t)s->connections;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return asked;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) { /* macOS says "infinity", and refuses it */
            limit.rlim_cur = asked + OTHERS;
            if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
        }
    }
    const size_t most = limit.rlim_cur > OTHERS + 1 ? (size_t)limit.rlim_cur - OTHERS : 1;
    if (asked <= most) return asked;
    vit_say(&command, "files may be open: %zu, so at most %zu connections are taken at once",
            (size_t)limit.rlim_cur, most);
    return most;
}

static vit_status name_parts(parts *p, vit_error *error) {
    const size_t count = serve_models_count(p->server.models);
    p->model_names = vit_alloc(count, sizeof *p->model_names);
    p->route_names = vit_alloc(serve_route_count + 1, sizeof *p->route_names);
    if (!p->model_names || !p->route_names)
        return vit_fail_memory(error, "names", count * sizeof *p->model_names);
    for (size_t i = 0; i < count; i++) p->model_names[i] = serve_models_name(p->server.models, i);
    for (size_t i = 0; i < serve_route_count; i++) p->route_names[i] = serve_routes[i].path;
    p->route_names[serve_route_count] = "other";
    return serve_metrics_new(&p->server.metrics, p->model_names, count, p->route_names,
                             serve_route_count + 1, error);
}

/* Says of each model if it answers in another precision than was asked for. */
static void say_precisions(const serve_server *server, const settings *s) {
    for (size_t i = 0; i < serve_models_count(server->models); i++) {
        serve_model *m = serve_model_take_at(server->models, i);
        vit_say_precision(&command, &s->from, m->name, &m->info);
        serve_model_release(server->models, m);
    }
}

static void set_limits(serve_server *server, const settings *s) {
    server->body = (size_t)s->body;
    server->bodies = (size_t)s->body > 8 << 20 ? 16 * (size_t)s->body : (size_t)128 << 20;
    server->pixels = (size_t)s->pixels;
    server->pictures = (size_t)s->pictures;
    server->top = (size_t)s->top;
    server->tests = s->sets.unknown > 0;
    server->timeout = s->timeout;
    server->log = (serve_log)s->log;
    server->started = vit_clock();
    serve_gate_init(&server->gate, (size_t)vit_threads_default(), s->timeout);
}

/* For serve_queue_options.asking: connections that may bring pictures soon. Those that wait for a
 * map that takes long will not. */
static size_t asking(void *context) {
    serve_server *server = context;
    const size_t all = serve_connections_asking(server->connections);
    const size_t others = serve_queue_jobs(server->aside);
    return all > others ? all - others : 0;
}

/* What is being learnt when the server ends is of use to nobody: it is told to no client, and what
 * is kept of a teaching are its pictures. */
static bool goes_on(void *server) {
    return !atomic_load(&((serve_server *)server)->stopping);
}

static vit_status begin_teaching(serve_server *server, const settings *s, vit_error *error) {
    const serve_teachings_options limits = {.directory = s->keep_teachings,
                                            .most = 16,
                                            .pictures = 2000,
                                            .most_pixels = (size_t)s->pixels,
                                            .idle = 600,
                                            .goes_on = goes_on,
                                            .user = server,
                                            .threads = (int)s->threads,
                                            .cpu = vit_chosen_cpu(),
                                            .precision = vit_chosen_precision(&s->from),
                                            .bf16 = (vit_bf16)s->from.bf16};
    return serve_teachings_new(&server->teachings, &limits, error);
}

/* ---- the sandbox ---- */

static void read_named(vit_sandbox *box, const char *text) {
    vit_sandbox_read_model(box, serve_named_file(text));
}

static void read_directory(const char *directory, void *box) {
    vit_sandbox_read(box, directory, false);
}

/* Makes a directory for the files of teachings, the only one that can be written to. */
static void write_own(vit_sandbox *box, parts *p) {
    const char *temporary = getenv("TMPDIR");
    const bool fits = temporary && *temporary && strlen(temporary) < 20;
    const char *place = fits ? temporary : "/tmp";
    if (box->rules < 0) return;
    snprintf(p->own, sizeof p->own, "%s/vit-serve-XXXXXX", place);
    if (!mkdtemp(p->own)) {
        p->own[0] = '\0';
        return;
    }
    setenv("TMPDIR", p->own, 1);
    vit_sandbox_write(box, p->own);
    vit_sandbox_clear(box, place);
}

/* Before a model is read, and a thread started. Models and index may be replaced while the server
 * runs. */
static vit_status enter_sandbox(vit_sandbox *box, parts *p, const settings *s, vit_error *error) {
    vit_model_list all = {0};
    vit_sandbox_open(box, &s->sandbox);
    for (size_t i = 0; i < s->models.count; i++) read_named(box, s->models.values[i]);
    if (s->models.count == 0) vit_show_model_directories(read_directory, box);
    if (s->models.count == 0 && vit_list_models(&all, NULL) == VIT_OK)
        for (size_t i = 0; i < all.count; i++) vit_sandbox_read_model(box, all.models[i].path);
    vit_free_model_list(&all);
    vit_sandbox_read_choice(box, &s->from);
    vit_sandbox_read(box, s->sets.calibration, true);
    vit_sandbox_read(box, s->index, true);
    for (size_t i = 0; i < p->server.banks.count; i++)
        if (*p->server.banks.banks[i].info.model)
            vit_sandbox_read_model(box, p->server.banks.banks[i].info.model);
    if (p->server.index) serve_indexed_directories(p->server.index, read_directory, box);
    if (s->teach) write_own(box, p);
    if (s->keep_teachings && vit_path_look(s->keep_teachings) == VIT_PATH_NONE)
        mkdir(s->keep_teachings, 0700); /* work/teachings.c says why it is not there then */
    vit_sandbox_write(box, s->keep_teachings);
    vit_sandbox_read(box, "/dev/urandom", false);
    return vit_sandbox_enter(box, &command, error);
}

static vit_status begin(parts *p, const settings *s, vit_error *error) {
    serve_server *server = &p->server;
    vit_sandbox box;
    const char *labels;
    vit_status status = vit_chosen_labels(&labels, &s->from, error);
    if (status != VIT_OK) return status;
    const serve_models_options models = {.named = &s->models,
                                         .labels = labels,
                                         .templates = &s->from.templates,
                                         .exif_orientation =
                                             (vit_orientation)s->from.exif_orientation,
                                         .command = &command,
                                         .sets = &s->sets,
                                         .threads = (int)s->threads,
                                         .cpu = vit_chosen_cpu(),
                                         .precision = vit_chosen_precision(&s->from),
                                         .bf16 = (vit_bf16)s->from.bf16};
    const serve_connections_options connections = {.most = connections_within(s),
                                                   .per_address = (size_t)s->per_address,
                                                   .timeout = s->timeout,
                                                   .proxies = &server->proxies};
    const serve_queue_options queue = {.most = (size_t)s->queue,
                                       .batch = (size_t)s->batch,
                                       .delay = s->delay / 1000,
                                       .timeout = s->timeout,
                                       .asking = asking,
                                       .context = server};
    const serve_queue_options aside = {
        .most = 1, .batch = 1, .timeout = s->timeout, .yields = true};
    const serve_banks_options banks = {.named = &s->banks,
                                       .models = &s->models,
                                       .from = &s->from,
                                       .threads = s->threads,
                                       .cpu = vit_chosen_cpu()};
    set_limits(server, s);
    serve_guard_maps();
    status = serve_guard_allow(&server->guard, &s->hosts, &s->origins, error);
    if (status == VIT_OK) status = serve_proxies_read(&server->proxies, &s->proxies, error);
    if (status == VIT_OK && s->index) status = serve_indexed_open(&server->index, s->index, error);
    if (status == VIT_OK) status = serve_banks_open(&server->banks, &banks, error);
    if (status != VIT_OK) return status;
    if (s->key_file) status = serve_guard_load_keys(&server->guard, s->key_file, error);
    if (status == VIT_OK) status = enter_sandbox(&box, p, s, error);
    if (status == VIT_OK) status = serve_models_open(&server->models, &models, error);
    if (status == VIT_OK) status = serve_banks_load(&server->banks, &banks, error);
    if (status == VIT_OK && s->teach) status = begin_teaching(server, s, error);
    if (status == VIT_OK) say_precisions(server, s);
    if (status == VIT_OK) status = name_parts(p, error);
    if (status == VIT_OK) status = serve_connections_new(&server->connections, &connections, error);
    if (status == VIT_OK) status = serve_listen(&p->listener, s->host, (unsigned)s->port, error);
    if (status == VIT_OK)
        status = serve_queue_start(&server->queue, &queue, server->metrics, error);
    if (status == VIT_OK)
        status = serve_queue_start(&server->aside, &aside, server->metrics, error);
    if (status == VIT_OK) status = serve_http_start(&p->http, server, error);
    if (status == VIT_OK)
        status = serve_listener_start(p->listener, server->connections, server->metrics,
                                      serve_http_take, p->http, error);
    return status == VIT_OK ? vit_sandbox_seal(&box, &command, error) : status;
}

static void end(parts *p) {
    serve_http_stop(p->http);
    serve_listener_free(p->listener);
    serve_queue_stop(p->server.queue);
    serve_queue_stop(p->server.aside);
    serve_connections_free(p->server.connections);
    serve_metrics_free(p->server.metrics);
    serve_teachings_free(p->server.teachings, p->server.models);
    serve_models_free(p->server.models);
    serve_indexed_free(p->server.index);
    serve_banks_free(&p->server.banks);
    serve_guard_free(&p->server.guard);
    serve_proxies_free(&p->server.proxies);
    serve_gate_destroy(&p->server.gate);
    vit_free(p->model_names);
    vit_free(p->route_names);
    if (p->own[0] != '\0') vit_remove_directory(p->own, NULL);
}

/* ---- signals ---- */

/* Blocks the signals that the main thread waits for, in all threads. One that the program was
 * started to ignore stays ignored, except SIGHUP. */
static sigset_t hold_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    struct sigaction inherited;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const bool is_asked = numbers[i] == SIGHUP;
        if (is_asked ||
            (sigaction(numbers[i], NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN))
            sigaddset(&set, numbers[i]);
    }
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return set;
}

/* Reads all models again, and reports each. */
static void reload(parts *p) {
    for (size_t i = 0; i < serve_models_count(p->server.models); i++) {
        vit_error error;
        const char *name = serve_models_name(p->server.models, i);
        const bool fine = serve_model_reload(p->server.models, i, &error) == VIT_OK;
        serve_metrics_reload(p->server.metrics, fine);
        if (fine)
            serve_log_say("%s was read again", name);
        else
            serve_log_say("%s stays as it was: %s", name, error.message);
    }
}

/* Answers the requests that have arrived, then closes all connections. One that is arriving has a
 * moment more, and a client `timeout` to read its answer; maps that take long are cancelled after
 * some seconds. A second signal has its default effect: it ends the program. */
static void wind_up(parts *p, const sigset_t *signals, double timeout) {
    static const double patience = 5, grace = 0.3; /* for maps, for requests that are arriving */
    const double begun = vit_clock();
    signal(SIGHUP, SIG_IGN);
    pthread_sigmask(SIG_UNBLOCK, signals, NULL);
    atomic_store(&p->server.stopping, true);
    serve_queue_hurry(p->server.queue);
    serve_listener_close(p->listener);
    while (serve_connections_count(p->server.connections) > 0 &&
           vit_clock() < begun + 2 * timeout) { /* to wait for its turn, and to be read */
        const double since = vit_clock() - begun;
        if (since > patience) atomic_store(&p->server.impatient, true);
        serve_connections_close(p->server.connections,
                                since > grace ? SERVE_END_LATE : SERVE_END_IDLE);
        vit_nap(0.005);
    }
    atomic_store(&p->server.impatient, true);
    serve_connections_close(p->server.connections, SERVE_END_ALL);
}

/* Everybody may ask a server that listens to other machines without a key. */
static void warn_of_openness(const settings *s) {
    const bool is_local = strcmp(s->host, "localhost") == 0 || strcmp(s->host, "::1") == 0 ||
                          strncmp(s->host, "127.", 4) == 0;
    if (!is_local && !s->key_file)
        vit_say(&command,
                "all who can reach %s may ask this server: --key-file FILE asks them for a key",
                s->host);
}

static int check_server(const char *url) {
    vit_error error;
    if (serve_check(url, &error) == VIT_OK) return 0;
    vit_say_error(&command, &error);
    return 1;
}

static void wait_for_signals(parts *p, const sigset_t *signals, double timeout) {
    for (;;) {
        int number;
        if (sigwait(signals, &number) != 0) continue;
        if (number == SIGHUP) {
            reload(p);
        } else {
            wind_up(p, signals, timeout);
            return;
        }
    }
}

int main(int argc, char **argv) {
    settings s = {.host = "127.0.0.1",
                  .port = 8080,
                  .top = 3,
                  .body = 16 << 20,
                  .pixels = 50000000,
                  .pictures = 64,
                  .queue = 1024,
                  .connections = 256,
                  .per_address = 128,
                  .timeout = 30,
                  .batch = 64};
    parts p = {0};
    vit_error error;
    int exit_status;
    if (!vit_program_start(&command, &s, &argc, argv, &exit_status)) return exit_status;
    const char *wrong = vit_coverage_contradiction(&s.sets);
    if (!wrong && s.sets.calibration && s.models.count != 1)
        wrong = "--calibration FILE is of one --model; others have theirs beside them";
    if (wrong) return vit_say_usage(&command, "%s", wrong);
    const sigset_t signals = hold_signals();
    if (s.keep_teachings && !s.teach)
        return vit_say_usage(&command, "--keep-teachings is for --teach");
    if (s.check) return vit_program_end(&command, check_server(s.check));
    if (begin(&p, &s, &error) == VIT_OK) {
        warn_of_openness(&s);
        printf("listening on %s\n", serve_listener_url(p.listener));
        fflush(stdout);
        wait_for_signals(&p, &signals, s.timeout);
    } else {
        exit_status = vit_say_error(&command, &error);
    }
    end(&p);
    return vit_program_end(&command, exit_status);
}
