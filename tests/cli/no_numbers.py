"""A model whose weights are numbers and whose answers are none: MODEL OUT. For a black picture it
answers still, as the mean that is taken off is 0."""
import json
import struct
import sys

data = open(sys.argv[1], "rb").read()
start = 8 + struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:start])
values = bytearray(data[start:])
stems = ("patch_embed.proj.weight", "tokenizer.0.weight")
begin, end = next(header[name] for name in stems if name in header)["data_offsets"]
numbers = struct.unpack("<%df" % ((end - begin) // 4), values[begin:end])
values[begin:end] = struct.pack("<%df" % len(numbers), *(1e30 * x for x in numbers))
header["__metadata__"]["vit.preprocessing"] = json.dumps([
    {"op": "composite", "background": [0, 0, 0]}, {"op": "grey"},
    {"op": "resize", "height": 28, "width": 28, "filter": "bilinear"},
    {"op": "normalize", "mean": [0], "std": [1]}])
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + values)
