"""One sentence and one set of toy queries and keys, of which the explorers show a part.

The numbers are made, not trained, so that heads differ in what they look at: every feature mixes
which word it is with where it stands, the early features by quick waves, the late ones by slow ones.
Explorers slice them, first rows and first columns, so moving a slider never draws new numbers.
"""

from functools import cache

import torch

from course.encoding import sinusoidal_encoding

TEXT = (
    "the cat sat on the mat because the mat was warm and the dog lay by the door because it was tired "
    "when the rain came the cat went to the door and the dog went to the mat so the cat sat by the dog "
    "and it was warm and they slept until the sun came up and the rain was gone again"
)
WORDS = tuple(TEXT.split())
MAX_TOKENS = len(WORDS)  # 64
MAX_WIDTH = 256


@cache
def word_vectors():
    """A vector for each word of the text, (64, 256), float32: equal words have equal vectors."""
    generator = torch.Generator().manual_seed(0)
    vocabulary = sorted(set(WORDS))
    vectors = torch.randn(len(vocabulary), MAX_WIDTH, generator=generator)
    return vectors[[vocabulary.index(word) for word in WORDS]]


@cache
def queries_and_keys():
    """Q and K, each (64, 256): words plus positions, each with a little noise of its own so that they differ."""
    generator = torch.Generator().manual_seed(1)
    x = word_vectors() + torch.as_tensor(sinusoidal_encoding(MAX_TOKENS, MAX_WIDTH), dtype=torch.float32)
    return tuple(0.7 * x + 0.3 * torch.randn(x.shape, generator=generator) for _ in range(2))
