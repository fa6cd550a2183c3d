#!/usr/bin/env python3
"""What scripts/check-parity runs: the cases of tests/fixtures/make_published.py, and ViT-B/16.

Weights are random. The bound is 2e-5 of the largest logit.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests/fixtures"))
import make_published  # noqa: E402
import published_models as published  # noqa: E402

BOUND = 2e-5


def large():
    """ViT-B/16 at 224, 1000 classes, once a library."""
    b16 = dict(img_size=224, patch_size=16, embed_dim=768, depth=12, num_heads=12)
    return {
        "ViT-B/16, 224": lambda: published.timm_case("vit_base_patch16_224", 101, classes=1000,
                                                     **b16),
        "ViT-B/16, 224, bfloat16": lambda: published.timm_case(
            "vit_base_patch16_224", 102, published.torch.bfloat16, classes=1000, **b16),
        "HF ViT-B/16, 224": lambda: published.hf_case(
            published.hf_vit(hidden_size=768, num_hidden_layers=12, num_attention_heads=12,
                             intermediate_size=3072, image_size=224, patch_size=16,
                             **published.hf_labels(1000)),
            103, 4, published.hf_processor(224), (224, 224)),
        "vit_b_16": lambda: published.torchvision_case(
            104, 224, 256, patch_size=16, num_layers=12, num_heads=12, hidden_dim=768,
            mlp_dim=3072, num_classes=1000),
    }


def answer(directory, arguments, picture):
    program = ROOT / "build/bin/vit-classify"
    if "--embed" not in arguments:
        arguments = ["--json", "--logits", *arguments]
    run = subprocess.run([program, "--model", directory, *arguments, picture],
                         capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"check-parity: {directory}: {run.stderr.strip()}")
    answer = json.loads(run.stdout)
    return answer["logits"] if "logits" in answer else answer["embedding"]


def measure(name, build, root, picture):
    """(library, largest difference as a share of the largest logit, the same top class)"""
    case = build()
    directory = make_published.make(name.replace("/", "-"), case, root)
    got, want = answer(directory, case.get("arguments", []), picture), case["logits"].tolist()
    largest = max(abs(x) for x in want)
    share = max(abs(a - b) for a, b in zip(got, want, strict=True)) / largest
    same = max(range(len(got)), key=got.__getitem__) == max(range(len(want)), key=want.__getitem__)
    for file in directory.iterdir():
        file.unlink()
    return case["library"], share, same


def write(lines):
    path = ROOT / "docs/weights.md"
    begin, end = "<!-- parity -->\n", "<!-- end of parity -->\n"
    text = path.read_text()
    head, rest = text.split(begin)
    path.write_text(head + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def main(arguments):
    published.torch.set_num_threads(2)
    published.transformers.logging.set_verbosity_error()
    found, good = {}, True
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        picture = root / "picture.png"
        published.picture().save(picture)
        cases = make_published.cases() | ({} if "--quick" in arguments else large())
        for name, build in cases.items():
            library, share, same = measure(name, build, root, picture)
            good = good and share <= BOUND and same
            found.setdefault(library, []).append(share)
            print(f"| {library} | {name} | {share:.1e} | {'same' if same else 'OTHER'} |",
                  flush=True)
    if "--write" in arguments and good:
        write(["| library | networks | largest difference |", "|---|---|---|",
               *(f"| {library} | {len(shares)} | {max(shares):.1e} |"
                 for library, shares in found.items())])
    print("within the bound" if good else "NOT within the bound")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
