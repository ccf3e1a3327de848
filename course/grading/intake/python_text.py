"""What a cell's text says as Python, found without running it."""

import ast
import re
import warnings
from functools import lru_cache

from IPython.core.inputtransformer2 import EscapedCommand, find_end_of_continued_line, make_tokens_by_line

LONGEST = 50_000  # characters of a cell that are parsed; no answer is near it
TRANSPARENT = re.compile(r"\s*%%(time|timeit|capture|prun)\b.*\n?")  # cell magics whose body is ordinary Python
BINDING = re.compile(r"^(?:async\s+def|def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
LEFT_OUT = "pass  # left out while grading: "


def same_text(one, other):
    """Whether two texts differ in nothing but blanks at the ends of lines and around the whole."""
    return tidy(one) == tidy(other)


def tidy(text):
    """The text without blanks at the ends of lines and without empty lines around it."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).strip("\n")


def without_magics(text):
    """Text with shell commands and magics turned into ``pass``, and the list of what was left out.

    Nothing graded depends on them, and ``!pip install`` or ``%timeit`` would cost minutes or fail in the sandbox.
    ``%time`` stays because it runs its statement; timing magics on top of a cell go and their body stays.
    """
    left_out = []
    head = TRANSPARENT.match(text)
    if head:
        left_out.append(head.group().strip())
        text = text[head.end() :]
    if text.lstrip().startswith("%%") or len(text) > LONGEST:
        return text, left_out
    lines = text.splitlines(keepends=True)
    done = 0
    while command := _next_command(lines, done):
        row, column = command.start_line, command.start_col
        end = find_end_of_continued_line(lines, row)
        written = "".join(lines[row : end + 1]).strip()
        if not written.startswith("%time "):
            left_out.append(written)
            lines[row : end + 1] = [lines[row][:column] + LEFT_OUT + written.replace("\n", " ") + "\n"]
            end = row
        done = end + 1
    return "".join(lines), left_out


def _next_command(lines, start):
    """IPython's finder of the first escaped command in lines, from row start on; None when there is none."""
    if not any(line.lstrip()[:1] in "%!?/,;" for line in lines[start:] if line.strip()):
        return None
    try:
        by_line = make_tokens_by_line(lines)
    except SyntaxError:  # a dedent that fits nothing; the kernel will say so
        return None
    return EscapedCommand.find([line for line in by_line if line and line[0].start[0] > start])


@lru_cache(maxsize=4096)  # matching asks about the same cell several times
def is_python(text):
    """Whether a cell's text is Python as it stands, magics left out."""
    return parse(text) is not None


def parse(text):
    """The syntax tree of a cell's text, magics left out; None where it is not Python."""
    if len(text) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a student's "\d" is no business of the grader's log
            return ast.parse(without_magics(text)[0])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=4096)
def bound_names(text):
    """Names that the text defines or assigns at its top level, also where it is not quite Python."""
    tree = parse(text)
    if tree is None:
        return frozenset(name for found in BINDING.findall(text[:LONGEST]) for name in found if name)
    return frozenset(_bound(tree.body))


def _bound(nodes):
    """Names that statements bind, also inside ``if``, ``try``, ``with`` and loops."""
    waiting = list(nodes)  # not recursive: a thousand ``elif`` nest a thousand deep
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (name for target in targets for name in _names(target, ast.Store))
        else:
            for part in ("body", "handlers", "orelse", "finalbody"):
                inner = getattr(node, part, ())
                waiting += inner if isinstance(inner, list) else ()


def builds_on(text, names):
    """Whether a cell needs one of the names before it binds it: ``class A(A)``, ``f = cached(f)``, ``d["k"] = 1``."""
    tree, bound = parse(text), set()
    for node in tree.body if tree else ():
        if any(name in names and name not in bound for part in _run_at_once(node) for name in _names(part, ast.Load)):
            return True
        bound.update(_bound([node]))
    return False


def _run_at_once(node):
    """The parts of a statement that run when it is reached; the body of a function or a class's methods run later."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [*node.decorator_list, node.args]
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    return [node]


def _names(node, context):
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)]


def is_unanswered(text, released):
    """Whether a solution cell is still a stub: the released one, nothing, or definitions whose bodies do nothing."""
    if same_text(text, released):
        return True
    tree = parse(text)
    return tree is not None and all(map(_does_nothing, tree.body))


def _does_nothing(node):
    """Whether a statement is a docstring, ``pass``, ``...``, ``raise NotImplementedError`` or a definition of such."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return all(map(_does_nothing, node.body))
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Raise) and node.exc is not None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return isinstance(node, ast.Pass)
