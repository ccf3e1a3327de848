"""What a cell's text says as Python, found without running it."""

import ast
import io
import re
import tokenize
import warnings
from functools import lru_cache

from IPython.core.inputtransformer2 import find_end_of_continued_line

LONGEST = 50_000  # characters of a cell that are parsed; no answer is near it
TRANSPARENT = re.compile(r"\s*%%(time|timeit|capture|prun)\b.*\n?")  # cell magics whose body is ordinary Python
BINDING = re.compile(r"^(?:async\s+def|def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
AS_A_NOTEBOOK = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
COMMAND = re.compile(r"\s*(?:[!%](?!=)|[?,;]|/(?![/=]))")  # how IPython's commands begin
BETWEEN_STATEMENTS = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
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
    source = _WithoutCommands(text)
    return ("".join(source.given), left_out + source.left_out) if source.is_read() else (text, left_out)


class _WithoutCommands:
    """A cell's lines as the tokenizer asks for them, a command's replaced; ``given`` and ``left_out`` once it is read.

    Only the tokenizer knows whether a line begins a statement, as a command does, or goes on with a string or a
    bracket. It is asked on the way, in one pass: a cell can have thousands of commands.
    """

    def __init__(self, text):
        self.lines = io.StringIO(text).readlines()
        self.row, self.given, self.left_out = 0, [], []
        self.ended = 0  # lines given after which a new statement can begin

    def is_read(self):
        """Whether the tokenizer gets to the end, be it that of a string or a bracket left open."""
        if not any(map(COMMAND.match, self.lines)):
            self.given = self.lines
            return True
        begins = True
        try:
            for token in tokenize.generate_tokens(self.next_line):
                if token.type not in BETWEEN_STATEMENTS:
                    begins = token.type == tokenize.NEWLINE
                if begins and token.type in (tokenize.NEWLINE, tokenize.NL):
                    self.ended = token.start[0]
        except tokenize.TokenError:
            self.given += self.lines[self.row :]
        except SyntaxError:  # a dedent that fits nothing; the kernel will say so
            return False
        return True

    def next_line(self):
        if self.row >= len(self.lines):
            return ""
        line, end = self.lines[self.row], self.row
        if self.ended == len(self.given) and COMMAND.match(line):
            end = find_end_of_continued_line(self.lines, self.row)
            written = "".join(self.lines[self.row : end + 1]).strip()
            if written.startswith("%time "):
                end = self.row
            else:
                self.left_out.append(written)
                blanks = line[: len(line) - len(line.lstrip())]
                line = blanks + LEFT_OUT + " ".join(written.splitlines()) + "\n"
        self.row = end + 1
        self.given.append(line)
        return line


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
            return compile(without_magics(text)[0], "<cell>", "exec", AS_A_NOTEBOOK)
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
