/* Prints every matrix of a small Transformer, with the symbols of the lecture, to be compared with
 * a calculation by hand: encoder and decoder of one block each, two tokens, two heads, D = 4, d_k =
 * d_v = 2, post-norm as in the original paper. docs/lecture.md follows the same steps.
 *
 * usage: lecture
 *
 * All numbers are the network's own, read from its state (vit/model/run/network.h), which programs
 * that use vit/vit.h do not see; only what it does not keep is computed here: the scores before the
 * softmax and outputs of norms. Weights are multiples of 1/2 from -1 to 1, biases 0, gamma 1, beta
 * 0.
 */
#include "vit/base/sys.h"
#include "vit/model/run/network.h"
#include "vit/ops/loss.h"
#include <math.h>
#include <stdio.h>

enum { N = 2, D = 4, HEADS = 2, DK = D / HEADS, FF = 4, WORDS = 4, TWO = 2, HUNDRED };

/* The source is "dalawang daan", the target "two hundred": the decoder is given START and "two". */
static const char *const config =
    "{\"stem\": \"tokens\", \"vocabulary\": 4, \"length\": 2, \"dim\": 4, \"depth\": 1,"
    " \"heads\": 2, \"mlp\": 4, \"pool\": \"tokens\", \"head\": \"none\", \"norm\": \"post\","
    " \"activation\": \"relu\", \"positions\": \"sinusoidal\", \"final_norm\": false,"
    " \"norm_eps\": 1e-9,"
    " \"decoder\": {\"dim\": 4, \"depth\": 1, \"heads\": 2, \"mlp\": 4, \"vocabulary\": 4,"
    " \"length\": 2, \"norm\": \"post\", \"activation\": \"relu\", \"positions\": \"sinusoidal\","
    " \"final_norm\": false, \"norm_eps\": 1e-9}}";

/* ---- printing ---- */

/* Element (i, j) is at values[i * row + j * column]. */
typedef struct matrix {
    const float *values;
    size_t rows, columns, row, column;
} matrix;

static void print(const char *symbol, const char *formula, matrix m) {
    printf("%s%s   (%zu x %zu)\n", symbol, formula, m.rows, m.columns);
    for (size_t i = 0; i < m.rows; i++) {
        for (size_t j = 0; j < m.columns; j++)
            printf(" %10.4f", (double)m.values[i * m.row + j * m.column]);
        printf("\n");
    }
    printf("\n");
}

static matrix dense(const float *values, size_t rows, size_t columns) {
    return (matrix){values, rows, columns, columns, 1};
}

/* `count` outputs of a layer, from `first` on, as the lecture's W, which is [in][out]; a layer has
 * [out][in]. */
static matrix weight(const vit_linear *w, size_t first, size_t count) {
    return (matrix){w->weight + first * w->in, w->in, count, 1, w->in};
}

/* ---- one attention: of a token to its own stack, or of the decoder to the encoder ---- */

typedef struct attention {
    const char *input, *other; /* symbols: where queries come from; keys and values */
    const vit_linear *q, *kv, *proj;
    size_t first_k;       /* the first output of kv that is a key: Q, K and V may be one layer */
    matrix queries, k, v; /* all heads side by side */
    const float *p, *o;   /* softmax: [HEADS][N] rows of vit_padded(N); heads side by side */
    bool causal;
} attention;

static matrix head_of(matrix all, size_t h) {
    all.values += h * DK;
    all.columns = DK;
    return all;
}

/* S = Q K^T / sqrt(d_k); minus infinity where a token must not see a later one. */
static void print_scores(const attention *a, size_t h) {
    const matrix q = head_of(a->queries, h), k = head_of(a->k, h);
    float scores[N * N];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            float sum = 0;
            for (size_t c = 0; c < DK; c++)
                sum += q.values[i * q.row + c] * k.values[j * k.row + c];
            scores[i * N + j] = a->causal && j > i ? -INFINITY : sum / sqrtf(DK);
        }
    print("S", a->causal ? " = Q K^T / sqrt(d_k) + mask" : " = Q K^T / sqrt(d_k)",
          dense(scores, N, N));
}

static void print_head(const attention *a, size_t h) {
    const size_t row = vit_padded(N);
    char formula[32];
    printf("-- head %zu\n\n", h + 1);
    print("W^Q", "", weight(a->q, h * DK, DK));
    print("W^K", "", weight(a->kv, a->first_k + h * DK, DK));
    print("W^V", "", weight(a->kv, a->first_k + D + h * DK, DK));
    snprintf(formula, sizeof formula, " = %s W^Q", a->input);
    print("Q", formula, head_of(a->queries, h));
    snprintf(formula, sizeof formula, " = %s W^K", a->other);
    print("K", formula, head_of(a->k, h));
    snprintf(formula, sizeof formula, " = %s W^V", a->other);
    print("V", formula, head_of(a->v, h));
    print_scores(a, h);
    print("P", " = softmax(S)", (matrix){a->p + h * N * row, N, N, row, 1});
    print("Z", " = P V", (matrix){a->o + h * DK, N, DK, D, 1});
}

/* out: x + cat(Z_1, Z_2) W^O, from the network's state. */
static void print_attention(const attention *a, const float *out) {
    for (size_t h = 0; h < HEADS; h++) print_head(a, h);
    printf("-- both heads\n\n");
    print("cat", " = cat(Z_1, Z_2)", dense(a->o, N, D));
    print("W^O", "", weight(a->proj, 0, D));
    char formula[40];
    snprintf(formula, sizeof formula, " = %s + cat W^O", a->input);
    print("sum", formula, dense(out, N, D));
}

static attention self_attention(const char *input, const vit_block_state *s,
                                const vit_block_weights *w, bool causal) {
    const matrix qkv = {s->qkv.values, N, D, 3 * D, 1};
    attention a = {.input = input, .other = input, .q = &w->qkv, .kv = &w->qkv, .proj = &w->proj};
    a.first_k = D;
    a.queries = a.k = a.v = qkv;
    a.k.values += D;
    a.v.values += 2 * D;
    a.p = s->p;
    a.o = s->o;
    a.causal = causal;
    return a;
}

static attention cross_attention(const vit_block_state *s, const vit_block_weights *w) {
    attention a = {.input = "h", .other = "m"};
    a.q = &w->cross_q;
    a.kv = &w->cross_kv;
    a.proj = &w->cross_proj;
    a.queries = dense(s->cross.q, N, D);
    a.k = a.v = (matrix){s->cross.kv, N, D, 2 * D, 1};
    a.v.values += D;
    a.p = s->cross.p;
    a.o = s->cross.o;
    return a;
}

/* ---- the rest of a block ---- */

static void print_norm(const char *symbol, const float *x, const vit_norm *w, const vit_exec *e) {
    float y[N * D], mean[N], rstd[N];
    vit_layernorm_forward(e, y, &(vit_norm_state){mean, rstd}, x, w, N);
    print(symbol, " = LN(sum)", dense(y, N, D));
}

static void print_feed_forward(const char *input, const vit_block_state *s,
                               const vit_block_weights *w) {
    char formula[64];
    print("W_1", "", weight(&w->fc1, 0, FF));
    print("W_2", "", weight(&w->fc2, 0, D));
    snprintf(formula, sizeof formula, " = max(0, %s W_1)", input);
    print("F", formula, dense(s->mlp.active, N, FF));
    snprintf(formula, sizeof formula, " = %s + F W_2", input);
    print("sum", formula, dense(s->sum2, N, D));
}

static void print_input(const char *symbol, const vit_weights *w, const vit_state *s) {
    float e[N * D], pe[N * D];
    for (size_t i = 0; i < N * D; i++) {
        e[i] = w->embedding[s->text.ids[i / D] * D + i % D];
        pe[i] = w->positions[s->text.positions[i / D] * D + i % D];
    }
    print("E", " = the words' rows of the table", dense(e, N, D));
    print("PE", "", dense(pe, N, D));
    print(symbol, " = E + PE", dense(s->blocks[0].z, N, D));
}

static void print_encoder(const vit_network *n, const vit_state *s, const vit_exec *e) {
    const vit_block_weights *w = &n->weights.blocks[0];
    const vit_block_state *b = &s->blocks[0];
    const attention a = self_attention("X", b, w, false);
    printf("==== Encoder: \"dalawang daan\"\n\n");
    print_input("X", &n->weights, s);
    printf("== self-attention\n\n");
    print_attention(&a, b->sum1);
    print_norm("h", b->sum1, &w->norm1, e);
    printf("== feed-forward\n\n");
    print_feed_forward("h", b, w);
    print("m", " = LN(sum), the memory", dense(s->pool.features, N, D));
}

static void print_decoder(const vit_network *n, const vit_state *s, const vit_exec *e) {
    const vit_weights *all = n->weights.decoder;
    const vit_block_weights *w = &all->blocks[0];
    const vit_block_state *b = &s->blocks[0];
    const attention masked = self_attention("Y", b, w, true), cross = cross_attention(b, w);
    float p[N * WORDS];
    printf("==== Decoder: START \"two\"\n\n");
    print_input("Y", all, s);
    printf("== masked self-attention\n\n");
    print_attention(&masked, b->sum1);
    print_norm("h", b->sum1, &w->norm1, e);
    printf("== cross-attention\n\n");
    print_attention(&cross, b->cross.sum);
    print_norm("h'", b->cross.sum, &w->cross_norm, e);
    printf("== feed-forward\n\n");
    print_feed_forward("h'", b, w);
    print("y", " = LN(sum)", dense(s->z, N, D));
    printf("==== Which word comes next: START, END, \"two\", \"hundred\"\n\n");
    print("W", "", weight(&all->head[0], 0, WORDS));
    print("logits", " = y W", dense(s->head.logits, N, WORDS));
    for (size_t i = 0; i < N; i++) vit_softmax(p + i * WORDS, s->head.logits + i * WORDS, WORDS);
    print("p", " = softmax(logits)", dense(p, N, WORDS));
    printf("loss = -(log p_1(two) + log p_2(hundred)) / 2 = %.4f\n",
           -(log((double)p[TWO]) + log((double)p[WORDS + HUNDRED])) / 2);
}

/* ---- the network ---- */

/* Multiples of 1/2 from -1 to 1, in a different pattern in each tensor. */
static void fill(float *values, const vit_table *table) {
    for (size_t k = 0; k < table->count; k++) {
        const vit_parameter *p = &table->rows[k];
        const bool drawn = p->kind == VIT_PARAMETER_WEIGHT || p->kind == VIT_PARAMETER_EMBEDDING;
        for (size_t n = 0; n < p->count; n++) {
            const size_t i = n / D, j = n % D;
            const size_t level = (i * i + 3 * i * j + 2 * j + k * (i + 2 * j + 1)) % 5;
            values[p->offset + n] = drawn ? ((float)level - 2) / 2 : p->kind == VIT_PARAMETER_GAMMA;
        }
    }
}

int main(void) {
    static const uint32_t source[] = {2, 3}, target[] = {TWO};
    const vit_ids sources[] = {{source, 2}}, targets[] = {{target, 1}};
    const vit_kernels *kernels = vit_kernels_choose(VIT_CPU_SCALAR);
    vit_network network = {.config = vit_config_default()};
    vit_table table = {0};
    vit_packed_weights packed = {0};
    vit_arena arena = vit_arena_count();
    vit_state state;
    vit_error error;
    float *values = NULL;
    vit_status status = vit_config_read(&network.config, config, "lecture", &error);
    if (status == VIT_OK) status = vit_table_new(&table, &network.config, &error);
    if (status == VIT_OK) {
        values = vit_alloc(table.size, sizeof *values);
        packed.transposed = vit_alloc(table.packed_size, sizeof *values);
        if (!values || !packed.transposed) status = vit_fail_memory(&error, "weights", table.size);
    }
    if (status == VIT_OK) {
        fill(values, &table);
        vit_table_pack(&(vit_exec){.kernels = kernels, .threads = 1}, &packed, values, &table);
        status =
            vit_weights_view(&network.weights, &network.config, &table, values, &packed, &error);
    }
    if (status == VIT_OK) { /* once to measure, once to carve */
        vit_state_carve(&state, &arena, &network.config, 1, 1, VIT_KEPT_ALL, 0);
        status = vit_arena_init(&arena, arena.peak, "the lecture's network", &error);
    }
    if (status == VIT_OK) {
        vit_state_carve(&state, &arena, &network.config, 1, 1, VIT_KEPT_ALL, 0);
        state.texts = sources;
        state.decoder->texts = targets;
        const vit_exec exec = vit_network_exec(&network, &state, kernels, 1);
        vit_network_forward(&network, &exec, &state, NULL, 1);
        print_encoder(&network, &state, &exec);
        print_decoder(&network, state.decoder, &exec);
    } else {
        fprintf(stderr, "lecture: %s\n", error.message);
    }
    vit_weights_free(&network.weights);
    vit_arena_free(&arena);
    vit_table_free(&table);
    vit_free(packed.transposed);
    vit_free(values);
    return status == VIT_OK ? 0 : 1;
}
