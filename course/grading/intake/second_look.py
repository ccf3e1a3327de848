"""A second look at answers that are to be written from scratch: at their text, where nothing can be switched off.

The watch in ``course.checks.scratch`` sees every call as it happens, under whatever name, but it works in the
student's process. This one sees less and cannot be reached from there.
"""

import ast
import functools

from course.grading.intake.names import chains, dotted, imported
from course.grading.intake.python_text import parse

# Parts of the names of ready-made attention in torch.
READY_MADE = ("scaled_dot_product", "multi_head_attention", "MultiheadAttention", "Transformer")


@functools.lru_cache(maxsize=64)  # an exercise has several tests, and each looks at the same answer
def ready_made(text, setup, name):
    """The ready-made attention, or the part of ``course``, that the answer called ``name`` calls in so many words.

    None where there is none. ``setup`` are the lesson's imports. Only the bodies of the answer's own function or class
    count, and of the functions of the same cell that they call.
    """
    tree = parse(text)
    if tree is None:
        return None
    names = imported(parse(setup) or ast.Module([], [])) | imported(tree)
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names = {alias: what for alias, what in names.items() if alias not in own}
    for definition in _reached(tree, name, names):
        for node in ast.walk(definition):
            what = dotted(node.func, names) if isinstance(node, ast.Call) else None
            if what and is_ready_made(what):
                return what
    return None


def is_ready_made(what):
    """Whether a dotted name is torch's ready-made attention or anything of ``course``."""
    if what.startswith("course."):
        return True
    return what.startswith("torch.") and any(part in what for part in READY_MADE)


def _reached(tree, name, names):
    """The definition of ``name`` and those of the same cell that it refers to, directly or by others."""
    definitions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    waiting, reached = [name], {}
    while waiting:
        current = waiting.pop()
        if current in definitions and current not in reached:
            reached[current] = definitions[current]
            waiting += [chain.partition(".")[0] for chain in chains(definitions[current], names)]
    return reached.values()
