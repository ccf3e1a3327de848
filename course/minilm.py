"""A real language model's first attention layer: the slice of all-MiniLM-L6-v2 that ships with the course.

The model has 6 layers of 12 heads at width 384. ``scripts/make_minilm_slice.py`` made the slice;
``course/data/minilm_slice.json`` says from what, and under which licence.
"""

import functools
import hashlib
import io
import json
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from torch import nn

WIDTH, NUM_HEADS = 384, 12
NORM_EPS = 1e-12  # BERT's
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
CHECKPOINT_NAMES = dict(zip(PROJECTIONS, ("self.query", "self.key", "self.value", "output.dense"), strict=True))
INSTALL_AGAIN = "install the course package again"
DATA = Path(str(resources.files("course"))) / "data"


class DataError(RuntimeError):
    """A data file of the course is missing or damaged."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, its T tokens with [CLS] and [SEP], and the model's attention maps (6, 12, T, T)."""

    text: str
    tokens: list
    maps: torch.Tensor


@dataclass(frozen=True)
class MiniLM:
    """The slice: embeddings of a few hundred words and 64 positions, layer 0's attention, and sentences."""

    words: list
    sentences: tuple
    arrays: dict

    @property
    def position_vectors(self):
        """The learned position vectors (64, 384)."""
        return self.arrays["position_embeddings"]

    def sentence(self, start):
        """The sentence whose text starts so, in any case. ValueError when none or several do."""
        found = [s for s in self.sentences if s.text.lower().startswith(start.lower())]
        if len(found) != 1:
            texts = "; ".join(s.text for s in self.sentences)
            raise ValueError(f"{len(found)} sentences start with {start!r}, one is wanted: {texts}")
        return found[0]

    def tokenise(self, text):
        """Lower-case tokens of the text between [CLS] and [SEP]. ValueError for a word outside the slice."""
        tokens = re.findall(r"\w+|[^\w\s]", text.lower())
        return ["[CLS]", *self.known(tokens), "[SEP]"]

    def known(self, tokens):
        """The tokens, if the slice has them all; ValueError when it lacks one, TypeError for text in their place."""
        if isinstance(tokens, str):
            raise TypeError(f"tokens is the text {tokens!r}: cut it with tokenise first")
        unknown = [token for token in tokens if token not in self.words]
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: not among the {len(self.words)} words of the slice, take others")
        return tokens

    def embed(self, tokens, positions=True):
        """Tokens -> what layer 0 receives, x (1, T, 384); ``positions=False`` leaves the position vectors out."""
        if len(tokens) > len(self.position_vectors):
            raise ValueError(f"{len(tokens)} tokens: the slice has positions for {len(self.position_vectors)}")
        rows = [self.words.index(token) for token in self.known(tokens)]
        x = self.arrays["word_embeddings"][rows] + self.arrays["segment_embedding"]
        if positions:
            x = x + self.position_vectors[: len(tokens)]
        norm = (self.arrays["embedding_norm.weight"], self.arrays["embedding_norm.bias"])
        return nn.functional.layer_norm(x, (WIDTH,), *norm, eps=NORM_EPS)[None]

    def checkpoint(self):
        """Layer 0's attention weights by the names of the model's own file, below encoder.layer.0.attention; copies."""
        return {
            f"{theirs}.{part}": self.arrays[f"{ours}.{part}"].clone()
            for ours, theirs in CHECKPOINT_NAMES.items()
            for part in ("weight", "bias")
        }

    def load_into(self, layer):
        """Copy the model's layer 0 into an attention layer with q_proj, k_proj, v_proj and out_proj; return it.

        ValueError when the layer's projections are not 384 wide or have no bias.
        """
        for name in PROJECTIONS:
            shape, bias = tuple(getattr(layer, name).weight.shape), getattr(layer, name).bias
            if shape != (WIDTH, WIDTH) or bias is None:
                came = f"{shape} with {'no' if bias is None else 'a'} bias"
                raise ValueError(f"{name} is {came}, but the model has ({WIDTH}, {WIDTH}) with a bias")
        with torch.no_grad():
            for name in PROJECTIONS:
                getattr(layer, name).weight.copy_(self.arrays[f"{name}.weight"])
                getattr(layer, name).bias.copy_(self.arrays[f"{name}.bias"])
        return layer


def similarity_by_distance(vectors):
    """Mean cosine of the pairs of vectors (T, d) that stand 0, 1, ... T-1 positions apart: (T,)."""
    directions = nn.functional.normalize(torch.as_tensor(vectors), dim=-1)
    cosines = directions @ directions.T
    return torch.stack([cosines.diagonal(distance).mean() for distance in range(len(cosines))])


def load_minilm(folder=DATA):
    """Read the slice, once. ``DataError`` when a file is missing or is not the one that the course shipped."""
    return read_slice(Path(folder))


@functools.cache
def read_slice(folder):
    """``load_minilm`` for a folder that is a Path."""
    contents, provenance = (read_file(folder / f"minilm_slice.{suffix}") for suffix in ("npz", "json"))
    try:
        expected = json.loads(provenance)["sha256"]
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{folder / 'minilm_slice.json'} is damaged and holds no checksum; {INSTALL_AGAIN}") from None
    if hashlib.sha256(contents).hexdigest() != expected:
        raise DataError(f"{folder / 'minilm_slice.npz'} is damaged, its checksum differs; {INSTALL_AGAIN}")
    with np.load(io.BytesIO(contents)) as archive:
        arrays = dict(archive)
    tensors = {name: torch.from_numpy(a).float() for name, a in arrays.items() if a.dtype == np.float16}
    sentences = tuple(
        Sentence(str(text), arrays[f"tokens_{number}"].tolist(), tensors.pop(f"maps_{number}"))
        for number, text in enumerate(arrays["sentences"])
    )
    return MiniLM(arrays["words"].tolist(), sentences, tensors)


def read_file(path):
    """The bytes of a data file. ``DataError`` when there is none."""
    try:
        return path.read_bytes()
    except OSError:
        raise DataError(f"{path} is missing; {INSTALL_AGAIN}") from None
