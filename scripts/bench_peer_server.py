"""The rivals of scripts/bench-serve: POST /predict with a picture, by FastAPI and PyTorch.

usage: python bench_peer_server.py plain|batch MNIST_DIR|vit-b PORT
MNIST_DIR is what `vit-convert --layout pytorch` writes.
"""
import asyncio
import contextlib
import io
import sys

import numpy as np
import torch
import uvicorn
from fastapi import FastAPI, Request
from PIL import Image

kind, what, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
app = FastAPI()
waiting = asyncio.Queue()


def load():
    """The model, the side of its pictures and their mode."""
    if what == "vit-b":
        import timm
        torch.manual_seed(0)
        return timm.create_model("vit_base_patch16_224").eval(), 224, "RGB"
    torch.set_num_threads(1)  # faster for so small a network
    sys.path.insert(0, what)
    from model import VisionTransformer
    return VisionTransformer.load(what), 28, "L"


model, side, mode = load()


def prepare(body):
    image = Image.open(io.BytesIO(body)).convert(mode)
    if image.size != (side, side):
        image = image.resize((side, side), Image.BICUBIC)
    pixels = np.asarray(image, dtype=np.float32).reshape(side, side, -1).transpose(2, 0, 1)
    return torch.from_numpy((pixels / 255 - 0.5) / 0.5)


def answer(batch):
    with torch.inference_mode():
        shares = model(torch.stack(batch)).softmax(-1)
    values, indices = shares.topk(3)
    return [[{"label": str(i), "score": v} for v, i in zip(*row)]
            for row in zip(values.tolist(), indices.tolist())]


@app.post("/predict")
async def predict(request: Request):
    picture = prepare(await request.body())
    if kind == "plain":
        return answer([picture])[0]
    future = asyncio.get_running_loop().create_future()
    await waiting.put((picture, future))
    return await future


async def compute():
    """What waits is computed together, in a thread beside."""
    while True:
        batch = [await waiting.get()]
        while len(batch) < 64 and not waiting.empty():
            batch.append(waiting.get_nowait())
        answers = await asyncio.to_thread(answer, [p for p, _ in batch])
        for (_, future), a in zip(batch, answers):
            if not future.cancelled():
                future.set_result(a)


@contextlib.asynccontextmanager
async def lifespan(_):
    task = asyncio.create_task(compute())
    yield
    task.cancel()


app.router.lifespan_context = lifespan
uvicorn.run(app, port=port, log_level="error")
