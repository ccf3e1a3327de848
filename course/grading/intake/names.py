"""What the names in an answer's text stand for, found without running it."""

import ast


def imported(tree):
    """{name: what it stands for} for the imports anywhere in a syntax tree, "F": "torch.nn.functional"."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module or ''}.{alias.name}" for alias in node.names}
    return names


def dotted(node, names):
    """What an expression names, "torch.nn.functional.softmax" for ``F.softmax``; None where it is no chain of names."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def chains(tree, names):
    """Every chain of names in a tree as ``dotted`` gives it, without the parts of longer ones."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)]
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return [chain for chain in (dotted(node, names) for node in nodes if id(node) not in inner) if chain]
