"""A Vision Transformer as vit trained it, in plain PyTorch. Beside this file lie config.json (the
network under "model", how pictures are prepared, the labels) and model.safetensors (its weights).

    from model import VisionTransformer
    model = VisionTransformer.load("DIRECTORY")        # or VisionTransformer(config["model"])
    logits = model(model.normalize(pixels))            # pixels: [batch, channels, height, width],
    print(model.labels[logits[0].argmax()])            # 0 .. 255, resized as "preprocessing" says
"""
import json
import math
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_quick": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": F.silu,
    "relu": F.relu,
}


class VisionTransformer(nn.Module):
    def __init__(self, config):
        """config: the object under "model" in config.json; what it leaves out is as in a plain
        ViT."""
        super().__init__()
        defaults = {
            "stem": "linear", "patch_order": "conv", "positions": "learned", "norm": "pre",
            "activation": "gelu", "qkv_bias": True, "attention_scale": "head_dim",
            "norm_eps": 1e-06, "final_norm": True, "pool": "class", "head": "linear",
            "init": "timm", "head_dim": 0, "registers": 0, "patch_bias": True,
            "patch_norm": False, "prefix_positions": True, "norm_pre": False, "gated": False,
            "qk_norm": False, "layer_scale": False, "norm_before_pool": False,
            "pool_prefix": False, "head_bias": True, "projection": 0,
            "key_bias": True, "attention_norm": False, "mlp_norm": False, "pool_heads": 0,
            "pool_mlp": 0, "pool_plain": False,
            "rope": "none", "rope_base": 10000, "rope_halves": False, "rope_columns_first": False,
            "rope_offset": 0, "rope_reference": 0, "rope_rounded": False,
            "rope_class": False,
            "relative": "none", "relative_mlp": 0, "rms_norm": False, "proj_bias": True,
            "embed_norm": False}
        sizes = ("image", "channels", "patch", "dim", "depth", "heads", "mlp", "classes")
        for key in config:
            if key not in (*defaults, *sizes, "class_token"):
                raise ValueError(f'"{key}" is not known')
        self.config = c = {**defaults, **config}
        own = c["pool"] in ("mean", "map", "seq", "max", "mean_max", "prr", "prefix_mean")
        c.setdefault("class_token", not own)
        c["head_dim"] = c["head_dim"] or c["dim"] // c["heads"]
        self.labels, self.preprocessing = None, []
        dim, double = c["dim"], c["pool"] in ("class_mean", "class_dist")
        self.norms_tokens = c["final_norm"] and (
            double or c["pool"] == "seq" or (c["norm_before_pool"] and c["pool"] != "class"))
        self.make_tokens(dim)
        self.choice("stem", "make_")(dim)
        self.choice("rope", "make_")()
        self.choice("relative", "make_")()
        if c["norm_pre"]:
            self.norm_pre = self.layer_norm(dim)
        self.blocks = nn.ModuleList(self.make_block(dim) for _ in range(c["depth"]))
        if c["pool"] == "map":
            self.attn_pool = self.make_map(dim)
        elif c["pool"] == "seq":
            self.attention_pool = nn.Linear(dim, 1, bias=False)
        if c["final_norm"]:
            pools = c["pool"] in ("mean", "map", "max", "mean_max", "prr", "prefix_mean")
            after = pools and not self.norms_tokens
            self.final_norm = "fc_norm" if after else "norm"
            setattr(self, self.final_norm, self.layer_norm(dim))
        self.head = self.choice("head")(2 * dim if double else dim)

    def choice(self, key, prefix=""):
        """The method that is named after the key and its value, such as pool_class."""
        value = self.config[key]
        method = getattr(self, f"{prefix}{key}_{value}", None)
        if not method:
            raise ValueError(f'"{key}" "{value}" is not known')
        return method

    # ---- parameters ----

    def head_linear(self, features):
        return nn.Linear(features, self.config["classes"], self.config["head_bias"])

    def head_projection(self, features):
        return self.head_linear(features)

    def head_tanh(self, features):
        self.pre_logits = nn.Linear(features, features)
        return self.head_linear(features)

    def head_cosine(self, features):
        c = self.config
        if c["projection"]:
            self.head_proj = nn.Linear(features, c["projection"], False)
        return nn.Linear(c["projection"] or features, c["classes"], c["head_bias"])

    def head_mlp(self, features):
        c = self.config
        return nn.Sequential(nn.Linear(features, c["mlp"]), nn.GELU(),
                             nn.Linear(c["mlp"], c["classes"], c["head_bias"]))

    @staticmethod
    def head_none(features):
        return nn.Identity()

    def layer_norm(self, size):
        kind = nn.RMSNorm if self.config["rms_norm"] else nn.LayerNorm
        return kind(size, eps=self.config["norm_eps"])

    def make_tokens(self, dim):
        """The tokens before the patches, and the positions."""
        c = self.config
        counts = {"cls_token": int(c["class_token"]), "dist_token": int(c["pool"] == "class_dist"),
                  "reg_token": c["registers"]}
        self.prefix = [name for name, count in counts.items() if count > 0]
        for name in self.prefix:
            self.register_parameter(name, nn.Parameter(torch.zeros(1, counts[name], dim)))
        self.prefix_count = sum(counts.values())
        rows, columns = (side // c["patch"] for side in c["image"])
        self.choice("positions")(self.prefix_count if c["prefix_positions"] else 0, rows, columns)

    def positions_learned(self, before, rows, columns):
        table = torch.zeros(1, before + rows * columns, self.config["dim"])
        self.pos_embed = nn.Parameter(table)

    def positions_none(self, before, rows, columns):
        self.pos_embed = 0  # nothing is added

    def fix_positions(self, table):
        self.register_buffer("pos_embed", table[None].float(), persistent=False)

    @staticmethod
    def angles(positions, dim):
        """[positions, dim / 2 rounded up]: p * 10000^(-2i / dim), in double precision."""
        i = torch.arange((dim + 1) // 2, dtype=torch.float64)
        return torch.arange(positions, dtype=torch.float64)[:, None] * 10000 ** (-2 * i / dim)

    def positions_sinusoidal(self, before, rows, columns):
        dim = self.config["dim"]
        a = self.angles(before + rows * columns, dim)
        self.fix_positions(torch.stack([a.sin(), a.cos()], dim=2).flatten(1)[:, :dim])

    def positions_sinusoidal_halves(self, before, rows, columns):
        half = self.config["dim"] // 2
        i = torch.arange(half, dtype=torch.float64)
        tokens = torch.arange(before + rows * columns, dtype=torch.float64)
        a = tokens[:, None] * 10000 ** (-i / max(half - 1, 1))
        self.fix_positions(F.pad(torch.cat([a.sin(), a.cos()], dim=1), (0, self.config["dim"] % 2)))

    def positions_sincos2d(self, before, rows, columns):
        half = self.config["dim"] // 2
        y, x = (torch.cat([a.sin(), a.cos()], dim=1)
                for a in (self.angles(rows, half), self.angles(columns, half)))
        grid = torch.cat([y.repeat_interleave(columns, 0), x.repeat(rows, 1)], dim=1)
        self.fix_positions(torch.cat([grid.new_zeros(before, 2 * half), grid]))

    def make_rope_none(self):
        pass

    def coordinates(self, of_cell):
        """[N, 2], of each patch that of its row and that of its column, in the angles' order."""
        sides = (side // self.config["patch"] for side in self.config["image"])
        y, x = (of_cell(torch.arange(n).float() + self.config["rope_offset"], n) for n in sides)
        grid = torch.cartesian_prod(y, x)
        return grid.flip(1) if self.config["rope_columns_first"] else grid

    def fix_angles(self, grid):
        c, q = self.config, self.config["head_dim"] // 4
        period = float(c["rope_base"]) ** (torch.arange(q).float() / q)
        if c["rope_rounded"]:
            period = period.bfloat16().float()
        angles = (grid[:, :, None] / period).flatten(1)[None]
        self.register_buffer("rope_angles", angles, persistent=False)  # [1, N, head_dim / 2]
        if c["rope_class"]:
            self.rope = nn.ParameterDict({"class": nn.Parameter(torch.zeros(1, 2 * q))})

    def make_rope_axial(self):
        scaled = self.config["rope_reference"]
        self.fix_angles(self.coordinates(lambda t, n: t / n * scaled if scaled else t))

    def make_rope_centered(self):
        self.fix_angles(2 * math.pi * self.coordinates(lambda t, n: 2 * (t + 0.5) / n - 1))

    def make_rope_mixed(self):
        c = self.config
        shape = (2, c["depth"], c["heads"], c["head_dim"] // 2)
        self.rope = nn.ParameterDict({"freqs": nn.Parameter(torch.zeros(shape))})
        grid = self.coordinates(lambda t, n: t - c["rope_offset"])
        self.register_buffer("rope_grid", grid, persistent=False)

    def make_relative_none(self):
        pass

    def make_relative_blocks(self):
        """[tokens, tokens]: the row of the table for each query and key"""
        rows, columns = (side // self.config["patch"] for side in self.config["image"])
        places = torch.cartesian_prod(torch.arange(rows), torch.arange(columns))
        apart = places[:, None] - places[None] + torch.tensor([rows - 1, columns - 1])
        index = apart[..., 0] * (2 * columns - 1) + apart[..., 1]
        self.distances = (2 * rows - 1) * (2 * columns - 1)
        places = torch.cartesian_prod(torch.arange(2 * rows - 1) - rows + 1,
                                      torch.arange(2 * columns - 1) - columns + 1)
        self.register_buffer("places", places.sign() * (1 + places.abs()).log(), persistent=False)
        if self.prefix_count:
            index = F.pad(index, (1, 0, 1, 0))
            index[0], index[:, 0], index[0, 0] = (self.distances + i for i in range(3))
            self.distances += 3
        self.register_buffer("relative_index", index, persistent=False)

    def make_relative_shared(self):
        self.make_relative_blocks()
        if self.config["relative_mlp"]:
            self.shared_rel_pos = self.relative_table()
        else:
            self.rel_pos_bias = nn.ParameterDict(
                {"relative_position_bias_table": self.relative_table()})

    def relative_table(self):
        """The table, or the MLP that makes it."""
        width, heads = self.config["relative_mlp"], self.config["heads"]
        if not width:
            return nn.Parameter(torch.zeros(self.distances, heads))
        mlp = {"fc1": nn.Linear(2, width), "fc2": nn.Linear(width, heads)}
        return nn.ModuleDict({"mlp": nn.ModuleDict(mlp)})

    def make_stem_linear(self, dim):
        c = self.config
        inputs = c["patch"] * c["patch"] * c["channels"]
        parts = {"proj": self.choice("patch_order", "make_")(inputs, dim)}
        if c["patch_norm"]:
            parts["norm"] = self.layer_norm(inputs)
        if c["patch_norm"] or c["embed_norm"]:
            parts["norm_after"] = self.layer_norm(dim)
        self.patch_embed = nn.ModuleDict(parts)

    def make_patch_order_pixel(self, inputs, dim):
        return nn.Linear(inputs, dim, self.config["patch_bias"])

    def make_patch_order_conv(self, inputs, dim):
        c = self.config
        return nn.Conv2d(c["channels"], dim, c["patch"], c["patch"], bias=c["patch_bias"])

    def conv_widths(self, dim):
        count = int(math.log2(self.config["patch"]))
        return [self.config["channels"]] + [dim >> (count - 1 - i) for i in range(count)]

    def make_stem_conv(self, dim):
        widths = self.conv_widths(dim)
        layers = [layer for inputs, out in zip(widths, widths[1:]) for layer in
                  (nn.Conv2d(inputs, out, 3, stride=2, padding=1), nn.GELU())]
        self.stem = nn.Sequential(*layers, nn.Conv2d(dim, dim, 1))

    def make_stem_cct(self, dim):
        widths = self.conv_widths(dim)
        self.tokenizer = nn.ModuleList(
            nn.ParameterDict({"weight": nn.Parameter(torch.zeros(out, 3, 3, inputs))})
            for inputs, out in zip(widths, widths[1:]))

    def make_block(self, dim):
        c = self.config
        wide = c["heads"] * c["head_dim"]
        attn = {"qkv": nn.Linear(dim, 3 * wide, c["qkv_bias"]),
                "proj": nn.Linear(wide, dim, c["proj_bias"])}
        if c["qk_norm"]:
            attn |= {"q_norm": self.layer_norm(c["head_dim"]),
                     "k_norm": self.layer_norm(c["head_dim"])}
        if c["attention_norm"]:
            attn["norm"] = self.layer_norm(wide)
        attn = nn.ModuleDict(attn)
        if c["relative"] == "blocks" and c["relative_mlp"]:
            attn["rel_pos"] = self.relative_table()
        elif c["relative"] == "blocks":
            attn.register_parameter("relative_position_bias_table", self.relative_table())
        fc1 = nn.Linear(dim, c["mlp"] * (1 + c["gated"]), c["proj_bias"])
        block = {"norm1": self.layer_norm(dim), "attn": attn,
                 "mlp": nn.ModuleDict({"fc1": fc1,
                                       "fc2": nn.Linear(c["mlp"], dim, c["proj_bias"])})}
        if c["norm"] != "parallel":
            block["norm2"] = self.layer_norm(dim)
        if c["mlp_norm"]:
            block["mlp"]["norm"] = self.layer_norm(c["mlp"])
        if c["layer_scale"]:
            block |= {name: nn.ParameterDict({"gamma": nn.Parameter(torch.ones(dim))})
                      for name in ("ls1", "ls2")[:1 if c["norm"] == "parallel" else 2]}
        return nn.ModuleDict(block)

    def make_map(self, dim):
        mlp = self.config["pool_mlp"] or self.config["mlp"]
        plain = self.config["pool_plain"]
        pool = nn.ModuleDict({
            "kv": nn.Linear(dim, 2 * dim, not plain or self.config["qkv_bias"]),
            "proj": nn.Linear(dim, dim)})
        if not plain:
            pool |= {"q": nn.Linear(dim, dim), "norm": self.layer_norm(dim),
                     "mlp": nn.ModuleDict({"fc1": nn.Linear(dim, mlp), "fc2": nn.Linear(mlp, dim)})}
        pool.register_parameter("latent", nn.Parameter(torch.zeros(1, 1, dim)))
        return pool

    # ---- forward ----

    def stem_linear(self, x):
        return self.choice("patch_order")(x)

    def patch_order_conv(self, x):
        return self.patch_embed["proj"](x).flatten(2).transpose(1, 2)

    def patch_order_pixel(self, x):
        b, channels, height, width = x.shape
        p, norms = self.config["patch"], self.config["patch_norm"]
        z = x.reshape(b, channels, height // p, p, width // p, p).permute(0, 2, 4, 3, 5, 1)
        z = z.reshape(b, -1, p * p * channels)
        z = self.patch_embed["norm"](z) if norms else z
        z = self.patch_embed["proj"](z)
        return self.patch_embed["norm_after"](z) if norms else z

    def stem_conv(self, x):
        return self.stem(x).flatten(2).transpose(1, 2)

    def stem_cct(self, x):
        for layer in self.tokenizer:
            x = F.conv2d(x, layer["weight"].permute(0, 3, 1, 2), padding=1).relu()
            x = F.max_pool2d(x, 3, stride=2, padding=1)
        return x.flatten(2).transpose(1, 2)

    def embed(self, x):
        """[batch, channels, height, width] -> [batch, tokens, dim]"""
        c, z = self.config, self.choice("stem")(x)
        prefix = [getattr(self, name).expand(len(x), -1, -1) for name in self.prefix]
        if c["prefix_positions"]:
            z = torch.cat([*prefix, z], dim=1) + self.pos_embed
        else:
            z = torch.cat([*prefix, z + self.pos_embed], dim=1)
        return self.norm_pre(z) if c["norm_pre"] else z

    def heads(self, x, count=0):
        """[batch, tokens, heads * d] -> [batch, heads, tokens, d]"""
        return x.unflatten(2, (count or self.config["heads"], -1)).transpose(1, 2)

    def rope_none(self, i):
        return None

    def rope_axial(self, i):
        return self.rope_angles

    rope_centered = rope_axial

    def rope_mixed(self, i):
        """[heads, N, head_dim / 2], of block i"""
        f = self.rope["freqs"][:, i, :, None]
        return self.rope_grid[:, :1] * f[0] + self.rope_grid[:, 1:] * f[1]

    def turn(self, x, angles):
        """x: [batch, heads, tokens, d], of which the patches, the last ones, are turned; and the
        first one, the class token, where it has angles."""
        if self.config["rope_class"]:
            others = angles.new_zeros(1, self.prefix_count - 1, angles.shape[2])
            angles = torch.cat([self.rope["class"][None], others, angles], dim=1)
        before = x[:, :, :-angles.shape[1]]
        x = x[:, :, before.shape[2]:]
        halves = self.config["rope_halves"]
        a, b = x.chunk(2, dim=3) if halves else (x[..., ::2], x[..., 1::2])
        pair = [a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()]
        x = torch.cat(pair, dim=3) if halves else torch.stack(pair, dim=4).flatten(3)
        return torch.cat([before, x], dim=2)

    def relative_none(self, attn):
        return 0

    def relative_blocks(self, attn):
        """[heads, tokens, tokens]"""
        if self.config["relative_mlp"]:
            return self.relative_made(attn["rel_pos"]["mlp"])
        return attn.relative_position_bias_table[self.relative_index].permute(2, 0, 1)

    def relative_shared(self, attn):
        if self.config["relative_mlp"]:
            return self.relative_made(self.shared_rel_pos["mlp"])
        table = self.rel_pos_bias["relative_position_bias_table"]
        return table[self.relative_index].permute(2, 0, 1)

    def relative_made(self, mlp):
        table = mlp["fc2"](F.relu(mlp["fc1"](self.places)))
        table = F.pad(table, (0, 0, 0, self.distances - len(table)))
        return table[self.relative_index].permute(2, 0, 1)

    def attention(self, block, x, angles):
        c, attn = self.config, block["attn"]
        q, k, v = (self.heads(part) for part in attn["qkv"](x).chunk(3, dim=2))
        if c["qk_norm"]:
            q, k = attn["q_norm"](q), attn["k_norm"](k)
        if angles is not None:
            q, k = self.turn(q, angles), self.turn(k, angles)
        scaled_by = self.choice("attention_scale")()
        scores = q @ k.transpose(2, 3) * scaled_by ** -0.5 + self.choice("relative")(attn)
        o = torch.softmax(scores, dim=3) @ v
        o = o.transpose(1, 2).flatten(2)
        y = attn["proj"](attn["norm"](o) if c["attention_norm"] else o)
        return y * block["ls1"]["gamma"] if c["layer_scale"] else y

    def attention_scale_head_dim(self):
        return self.config["head_dim"]

    def attention_scale_dim(self):
        return self.config["dim"]

    def mlp(self, block, x):
        c, hidden = self.config, block["mlp"]["fc1"](x)
        f = ACTIVATIONS[c["activation"]]
        if c["gated"]:
            gate, value = hidden.chunk(2, dim=2)
            hidden = f(gate) * value
        else:
            hidden = f(hidden)
        hidden = block["mlp"]["norm"](hidden) if c["mlp_norm"] else hidden
        y = block["mlp"]["fc2"](hidden)
        scale = "ls1" if c["norm"] == "parallel" else "ls2"
        return y * block[scale]["gamma"] if c["layer_scale"] else y

    def block_norm_pre(self, block, z, angles):
        z = z + self.attention(block, block["norm1"](z), angles)
        return z + self.mlp(block, block["norm2"](z))

    def block_norm_post(self, block, z, angles):
        z = block["norm1"](z + self.attention(block, z, angles))
        return block["norm2"](z + self.mlp(block, z))

    def block_norm_res_post(self, block, z, angles):
        z = z + block["norm1"](self.attention(block, z, angles))
        return z + block["norm2"](self.mlp(block, z))

    def block_norm_parallel(self, block, z, angles):
        x = block["norm1"](z)
        return z + self.attention(block, x, angles) + self.mlp(block, x)

    def pool_class(self, z, patches):
        return z[:, 0]

    def pool_mean(self, z, patches):
        return patches.mean(dim=1)

    def pool_class_mean(self, z, patches):
        return torch.cat([z[:, 0], patches.mean(dim=1)], dim=1)

    def pool_class_dist(self, z, patches):
        return z[:, :2].flatten(1)

    def pool_seq(self, z, patches):
        p = torch.softmax(self.attention_pool(patches), dim=1)
        return (p.transpose(1, 2) @ patches)[:, 0]

    def pool_max(self, z, patches):
        return patches.amax(dim=1)

    def pool_mean_max(self, z, patches):
        return (patches.mean(dim=1) + patches.amax(dim=1)) / 2

    def pool_prefix_mean(self, z, patches):
        return z[:, :self.prefix_count].mean(dim=1)

    def pool_prr(self, z, patches):
        """Attention of the tokens among each other, without weights."""
        x = self.heads(z, self.config["pool_heads"])
        p = torch.softmax(x @ x.transpose(2, 3) * x.shape[3] ** -0.5, dim=3)
        z = (p @ x).transpose(1, 2).flatten(2)
        return z[:, 0] if self.config["class_token"] else z.mean(dim=1)

    def pool_map(self, z, patches):
        """One learned query's attention over the patches, and an MLP."""
        pool, plain = self.attn_pool, self.config["pool_plain"]
        count = self.config["pool_heads"]
        q = self.heads(pool.latent if plain else pool["q"](pool.latent), count)
        k, v = (self.heads(part, count) for part in pool["kv"](patches).chunk(2, dim=2))
        o = torch.softmax(q @ k.transpose(2, 3) * q.shape[3] ** -0.5, dim=3) @ v
        y = pool["proj"](o.transpose(1, 2).flatten(2))
        if plain:
            return y[:, 0]
        hidden = ACTIVATIONS[self.config["activation"]](pool["mlp"]["fc1"](pool["norm"](y)))
        return (y + pool["mlp"]["fc2"](hidden))[:, 0]

    def features(self, x):
        """What the head sees: [batch, dim], or twice that."""
        c, z = self.config, self.embed(x)
        for i, block in enumerate(self.blocks):
            z = self.choice("norm", "block_")(block, z, self.choice("rope")(i))
        z = getattr(self, self.final_norm)(z) if self.norms_tokens else z
        patches = z if c["pool_prefix"] else z[:, self.prefix_count:]
        pooled = self.choice("pool")(z, patches)
        if c["final_norm"] and not self.norms_tokens:
            pooled = getattr(self, self.final_norm)(pooled)
        return pooled

    def forward(self, x):
        """x: [batch, channels, height, width], normalised -> logits, [batch, classes]"""
        x = self.features(x)
        if self.config["head"] == "tanh":
            x = torch.tanh(self.pre_logits(x))
        if self.config["head"] == "cosine":
            x = self.head_proj(x) if self.config["projection"] else x
            x = x / x.norm(dim=-1, keepdim=True)
        return self.head(x)

    # ---- files ----

    def normalize(self, pixels):
        """0 .. 255 -> what the network takes: (pixels / 255 - mean) / std, channel by channel."""
        last = self.preprocessing[-1]
        mean, std = (torch.tensor(last[key]).view(-1, 1, 1) for key in ("mean", "std"))
        return (pixels.float() / 255 - mean) / std

    @staticmethod
    def read_safetensors(path):
        """The tensors of a file, as float32."""
        types = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
        data = bytearray(pathlib.Path(path).read_bytes())
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + size])
        header.pop("__metadata__", None)
        tensors = {}
        for name, entry in header.items():
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            flat = torch.frombuffer(data[begin:end], dtype=types[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"]).float()
        return tensors

    @classmethod
    def load(cls, directory=None):
        """The model of a directory (of this file's own), ready to classify."""
        directory = pathlib.Path(directory or pathlib.Path(__file__).parent)
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        model = cls(config["model"])
        model.load_state_dict(cls.read_safetensors(directory / "model.safetensors"))
        model.preprocessing = config["preprocessing"]
        model.labels = config.get("labels")
        return model.eval()
