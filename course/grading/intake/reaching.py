"""Answers whose text reaches for things that no exercise needs: frames, hooks, the notebook's machinery, the examiner.

None of it earns points, for tests run in a process that no answer can reach. It is told so that a person looks at it:
some of it can make a student's own process lie about what only that process knows.
"""

import ast
import functools
import re

from course.grading.intake.assignment import Owner
from course.grading.intake.names import chains, dotted, imported
from course.grading.intake.python_text import parse
from course.grading.intake.second_look import is_ready_made
from course.grading.intake.verdicts import SHOWN, Remark
from course.grading.wording import listed

# What a remark says, by its kind. A name ending in a dot stands for all below it, one that starts with a dot for an
# attribute of anything, and the rest for themselves. A string that reads like one of them counts too: getattr takes it.
WATCHED = {
    "frames": (
        "looks at the calls around it",
        ("sys._getframe", "inspect.currentframe", "inspect.stack", "inspect.trace", "inspect.getouterframes"),
        ("inspect.getinnerframes", ".f_back", ".f_globals", ".f_locals", ".f_builtins", ".gi_frame", ".tb_frame"),
    ),
    "memory": (
        "looks for objects that it was not given",
        ("gc.", "ctypes.", ".__subclasses__", ".__globals__", ".__closure__", ".__code__", ".__builtins__"),
        ("sys.modules", "globals", "builtins."),
    ),
    "hooks": (
        "hooks into how Python or torch runs",
        ("sys.settrace", "sys.setprofile", "sys.getprofile", "sys.addaudithook", "sys.meta_path", "sys.path_hooks"),
        ("sys.monitoring.", "threading.settrace", "threading.setprofile", "torch.utils._python_dispatch.", "atexit."),
        ("sys.displayhook", "sys.excepthook", "torch.overrides.", "signal.", ".__torch_function__", "torch.library."),
    ),
    "notebook": (
        "reaches into the notebook's own machinery",
        ("get_ipython", "ipykernel.", "IPython.core.", "IPython.get_ipython", "In", "_ih", "__main__"),
        (".ast_transformers", ".input_transformers_cleanup", ".input_transformers_post", ".do_execute", ".run_cell"),
        (".showtraceback", ".user_ns"),
    ),
    "examiner": (
        "reaches for the examiner",
        ("__student__", "__servant__", ".__student__", ".__servant__", "course.grading.", "course.checks.wire."),
        ("course.checks.calls.", "course.checks.candidate.", "course.checks.compare.", "course.checks.exam."),
        ("course.checks.failure.", "course.checks.frames.", "course.checks.layer.", "course.checks.notebook."),
        ("course.checks.questions.", "course.checks.scratch.", "course.checks.servant.", "course.checks.state."),
    ),
    "text as code": (
        "runs text as code",
        ("exec", "eval", "compile", "__import__", "importlib.", "marshal.", "pickle.", "runpy.", "codeop."),
        ("code.InteractiveInterpreter", "code.InteractiveConsole", "types.FunctionType", "types.CodeType"),
    ),
    "outside": (
        "reaches for files, processes or the network",
        ("open", "io.open", "os.listdir", "os.walk", "os.scandir", "os.open", "os.read", "os.write", "os.system"),
        ("os.popen", "os.fork", "os.kill", "os._exit", "os.execv", "os.dup2", "os.close", "subprocess.", "socket."),
        ("shutil.", "glob.", "urllib.", "requests.", "http.", "multiprocessing.", "threading.Thread"),
        ("threading.Timer", "_thread.", "concurrent.futures.", "asyncio.to_thread", ".run_in_executor"),
        (".read_text", ".read_bytes", ".iterdir", ".rglob"),
    ),
}
COMPARING = {
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__", "__instancecheck__", "__class__"),
    *("__torch_function__", "__torch_dispatch__", "__array_function__", "__array_ufunc__", "__getattribute__"),
}
WORD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?: ?[(\[])?")
IMPORTED = re.compile(r"\bfrom +([\w.]+) +import +\(?([\w, ]+)")
MAY_BE_SET = ("matplotlib.", "torch.backends.", "warnings.", "os.environ", "sys.stdout", "sys.stderr", "pandas.")


def find_reaching(assignment, notebook):
    """Remarks on the student's cells of a rebuilt notebook. What the source's own cells do is no news."""
    slots = {assignment.graded.cells[slot.index].id: slot for slot in assignment.slots}
    own = tuple(cell.source for cell in assignment.graded.cells if cell.cell_type == "code")
    names, known = _of_source(own)
    remarks = []
    for cell in notebook.cells:
        slot = slots.get(cell.id)
        if cell.cell_type != "code" or cell.source in own or (slot is not None and slot.owner is not Owner.SOLUTION):
            continue
        where = slot.grade_id if slot else ""
        tree = parse(cell.source)
        if tree is None:
            remarks += _remarks([pair for pair in _found_in_words(cell.source) if pair not in known], where)
            continue
        names_here = names | imported(tree)
        found = [pair for pair in _found(tree, names_here) if pair not in known]
        if slot is not None and _is_from_scratch(assignment, slot):
            found += [("ready made", chain) for chain in chains(tree, names_here) if is_ready_made(chain)]
        remarks += _remarks(found, where)
    return remarks


@functools.lru_cache(maxsize=16)
def _of_source(texts):
    """({name: what it stands for}, {(kind, name)}) of the source's code cells, the same for a whole class."""
    trees = [tree for tree in map(parse, texts) if tree]
    names = {}
    for tree in trees:
        names |= imported(tree)
    return names, {pair for tree in trees for pair in _found(tree, names)}


def _is_from_scratch(assignment, slot):
    """Whether the tests of an exercise forbid ready-made attention."""
    return any("from_scratch=True" in assignment.graded.cells[s.index].source for s in assignment.exercise_of(slot))


def _remarks(found, where):
    """One remark for each kind of find in one cell."""
    remarks = []
    for kind in dict.fromkeys(kind for kind, _ in found):
        what = dict.fromkeys(name for other, name in found if other == kind)
        remarks.append(Remark(kind, f"The code {SAID[kind]}: {listed(what, most=SHOWN)}.", where))
    return remarks


def _found(tree, names):
    """(kind, name) of everything in a tree that is watched."""
    found = [(kind, chain) for chain in _mentioned(tree, names) for kind in _kinds(chain)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in COMPARING:
            found.append(("comparing", node.name))
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
            found += [("replacing", name) for target in targets if (name := _module_part(target, names))]
        if isinstance(node, ast.Call) and dotted(node.func, names) in ("setattr", "delattr") and node.args:
            found += [("replacing", name) for name in [_module_part(ast.Attribute(node.args[0], "…"), names)] if name]
    return found


def _found_in_words(text):
    """(kind, name) of what is watched in a text that is not Python or too long to be parsed: IPython may run it.

    A word counts where it stands in a chain, is called or indexed, or has an underscore: prose holds the others, too.
    """
    words = [word.rstrip("([ ") for word in WORD.findall(text) if re.search(r"[.(\[_]", word)]
    words += [f"{module}.{name}" for module, names in IMPORTED.findall(text) for name in re.split(r"[\s,]+", names)]
    attributes = [f".{part}" for word in words for part in word.split(".")[1:]]
    return [(kind, chain) for chain in dict.fromkeys(words + attributes) for kind in _kinds(chain)]


def _mentioned(tree, names):
    """Chains of names that start with an import or stand alone, attributes and short strings with a dot, imports."""
    roots = {root.partition(".")[0] for root in names.values()}
    yield from (chain for chain in chains(tree, names) if "." not in chain or chain.partition(".")[0] in roots)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield f".{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield f".{node.value}"
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@functools.lru_cache(maxsize=4096)
def _kinds(chain):
    """The kinds of WATCHED that a chain of names is one of."""
    return [kind for kind in WATCHED if _is_watched(chain, kind)]


def _is_watched(chain, kind):
    watched = (name for group in WATCHED[kind][1:] for name in group)
    return any(chain == name or (name.endswith(".") and f"{chain}.".startswith(name)) for name in watched)


def _module_part(target, names):
    """The name that an assignment gives another meaning in a module, ``np.testing.assert_equal``; or None."""
    if isinstance(target, ast.Tuple | ast.List):
        return next(filter(None, (_module_part(part, names) for part in target.elts)), None)
    while isinstance(target, ast.Subscript):
        target = target.value
    root = target
    while isinstance(root, ast.Attribute):
        root = root.value
    if root is target or not isinstance(root, ast.Name) or root.id not in names:
        return None
    name = dotted(target, names)
    return None if name.startswith(MAY_BE_SET) else name


SAID = {
    **{kind: entry[0] for kind, entry in WATCHED.items()},
    "comparing": "says itself how its values compare",
    "replacing": "replaces parts of a library",
    "ready made": "names what is to be written from scratch here",
}
