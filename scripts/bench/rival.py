"""One rival in a process of its own: started by peers.py.

usage: rival.py train|infer MODEL BATCH MODE THREADS DIRECTORY

MODE: eager, compile (PyTorch), ort (ONNX Runtime), openvino, zentorch (PyTorch with AMD's back
end); with -bf16 for bfloat16, openvino-int8 quantised by NNCF. Says {"ready": "PyTorch 2.13.0"} or
{"failed": why}. Then every line of standard input is a number of
seconds to measure for, answered by {"ms": median, "mib": largest resident memory so far}.

A training step is what its user writes: forward, cross-entropy, backward, clipping of the gradient
norm at 1, fused AdamW, zeroing the gradients, on one batch that stays the same. An answer is the
network on one batch that is prepared already. DIRECTORY holds exported networks.
"""
import contextlib
import fcntl
import json
import os
import statistics
import subprocess
import sys
import time

MODELS = {  # image, patch, channels, dim, depth, heads, mlp, classes
    "p14-d128": (28, 14, 1, 128, 6, 8, 256, 10),
    "p7-d64": (28, 7, 1, 64, 6, 8, 128, 10),
    "p4-d64": (28, 4, 1, 64, 6, 4, 128, 10),
    "cifar-d192": (32, 4, 3, 192, 9, 3, 384, 10),
    "cifar-d384": (32, 4, 3, 384, 7, 6, 1536, 10),
    "vit-ti16": (224, 16, 3, 192, 12, 3, 768, 1000),
    "vit-s16": (224, 16, 3, 384, 12, 6, 1536, 1000),
    "vit-b16": (224, 16, 3, 768, 12, 12, 3072, 1000),
}


def network(model):
    """The plain Vision Transformer, timm's, as PyTorch's own documentation would write it."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Block(nn.Module):
        def __init__(self, dim, heads, mlp):
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(dim, 1e-6), nn.LayerNorm(dim, 1e-6)
            self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
            self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)

        def forward(self, x):
            b, t, d = x.shape
            qkv = self.qkv(self.norm1(x)).reshape(b, t, 3, self.heads, d // self.heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            heads = F.scaled_dot_product_attention(q, k, v)
            x = x + self.proj(heads.transpose(1, 2).reshape(b, t, d))
            return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))

    class Network(nn.Module):
        def __init__(self, image, patch, channels, dim, depth, heads, mlp, classes):
            super().__init__()
            patches = (image // patch) ** 2
            self.patches = nn.Conv2d(channels, dim, patch, patch)
            self.token = nn.Parameter(torch.zeros(1, 1, dim))
            self.positions = nn.Parameter(torch.randn(1, patches + 1, dim) * 0.02)
            self.blocks = nn.Sequential(*(Block(dim, heads, mlp) for _ in range(depth)))
            self.norm, self.head = nn.LayerNorm(dim, 1e-6), nn.Linear(dim, classes)

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
            return self.head(self.norm(self.blocks(x))[:, 0])

    torch.manual_seed(0)
    return Network(*MODELS[model])


def pictures(model, batch):
    import torch

    image, _, channels, *_ = MODELS[model]
    return torch.randn(batch, channels, image, image)


def training(model, batch, mode):
    import torch
    import torch.nn.functional as F

    net = network(model).train()
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.05, fused=True)
    x, y = pictures(model, batch), torch.randint(0, MODELS[model][-1], (batch,))
    forward = torch.compile(net) if mode.startswith("compile") else net

    def step():
        with torch.autocast("cpu", torch.bfloat16, enabled=mode.endswith("bf16")):
            loss = F.cross_entropy(forward(x).float(), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=False)

    return step


def answering(model, batch, mode):
    import torch

    net, x = network(model).eval(), pictures(model, batch)
    if mode.endswith("bf16"):
        net, x = net.bfloat16(), x.bfloat16()
    forward = torch.compile(net) if mode.startswith("compile") else net

    return lambda: forward(x)


def answering_zentorch(model, batch, mode):
    import torch
    import zentorch

    net, x = network(model).eval(), pictures(model, batch)
    forward = torch.compile(net, backend=zentorch.__name__)

    def answer():
        with torch.autocast("cpu", torch.bfloat16, enabled=mode.endswith("bf16")):
            return forward(x)

    return answer


def torch_work(kind, model, batch, mode, threads, stack):
    import torch

    torch.set_num_threads(threads)
    if kind == "infer":
        stack.enter_context(torch.inference_mode())
    if mode.startswith("zentorch"):
        return answering_zentorch(model, batch, mode), f"zentorch {version('zentorch')}"
    work = {"train": training, "infer": answering}[kind](model, batch, mode)
    return work, f"PyTorch {torch.__version__}"


def version(package):
    from importlib import metadata

    return metadata.version(package)


def export(model, batch, path):
    import torch

    torch.onnx.export(network(model).eval(), (pictures(model, batch),), path, input_names=["x"],
                      output_names=["y"], opset_version=17, dynamo=False)


def exported(model, batch, directory):
    """The network's ONNX file; made in another process, so that PyTorch's memory does not count, by
    the first of the rivals that start together and need it."""
    path = os.path.join(directory, f"{model}-{batch}.onnx")
    with open(path + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path):
            command = [sys.executable, "-W", "ignore", __file__, "export", model, str(batch), path]
            subprocess.run(command, check=True, capture_output=True)
    return path


def noise(model, batch):
    import numpy

    image, _, channels, *_ = MODELS[model]
    return numpy.random.randn(batch, channels, image, image).astype(numpy.float32)


def ort_work(model, batch, threads, directory):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    session = onnxruntime.InferenceSession(exported(model, batch, directory), options,
                                           providers=["CPUExecutionProvider"])
    x = noise(model, batch)
    return lambda: session.run(None, {"x": x}), f"ONNX Runtime {onnxruntime.__version__}"


def quantised(network, model, batch):
    import nncf

    nncf.set_log_level(40)
    batches = max(1, 8 // batch)
    samples = nncf.Dataset([noise(model, batch) for _ in range(batches)])
    return nncf.quantize(network, samples, preset=nncf.QuantizationPreset.MIXED,
                         model_type=nncf.ModelType.TRANSFORMER, subset_size=batches)


def openvino_work(model, batch, mode, threads, directory):
    import openvino

    core = openvino.Core()
    network = core.read_model(exported(model, batch, directory))
    if mode.endswith("int8"):
        network = quantised(network, model, batch)
    hints = {"INFERENCE_PRECISION_HINT": "bf16" if mode.endswith("bf16") else "f32",
             "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads}
    request = core.compile_model(network, "CPU", hints).create_infer_request()
    x = noise(model, batch)
    return lambda: request.infer([x]), f"OpenVINO {version('openvino')}"


def median_ms(work, seconds):
    work()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def resident_mib():
    with open("/proc/self/status") as status:
        kib = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    return kib / 1024


def say(**answer):
    print(json.dumps(answer), file=answers, flush=True)


answers = sys.stdout


def serve(kind, model, batch, mode, threads, directory, stack):
    try:
        if mode == "ort":
            work, name = ort_work(model, batch, threads, directory)
        elif mode.startswith("openvino"):
            work, name = openvino_work(model, batch, mode, threads, directory)
        else:
            work, name = torch_work(kind, model, batch, mode, threads, stack)
        work()  # compiles, allocates
        work()
    except Exception as error:  # whatever a framework may throw: it is then out of the comparison
        return say(failed=" ".join(str(error).split())[:200])
    say(ready=name)
    for line in sys.stdin:
        say(ms=median_ms(work, float(line)), mib=resident_mib())


def main():
    kind, model, batch, mode = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    if kind == "export":
        return export(model, batch, mode)
    global answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints is no answer
    with contextlib.ExitStack() as stack:
        serve(kind, model, batch, mode, int(sys.argv[5]), sys.argv[6], stack)


if __name__ == "__main__":
    main()
