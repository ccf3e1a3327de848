"""Tricks that earn points with plain nbgrader, made by code on a released lesson, and honest submissions."""

from dataclasses import dataclass, field

from nbformat.v4 import new_code_cell

LESSON = "01_foundations"
ANSWERS = ("weighted_average", "head_width", "order_question", "key_terms")  # its solution cells
SCRATCH_LESSON = "02_how_it_works"


@dataclass(frozen=True)
class Trick:
    """What somebody tries, the kinds of remark it must raise, and how.

    ``code`` goes into a new cell on top, or ``answer`` into every solution cell, or ``answers`` into those with these
    grade ids, or ``change`` edits the notebook. Every other answer is the released stub.
    """

    name: str
    remarks: set
    code: str = ""
    change: object = None
    answer: str = ""
    answers: dict = field(default_factory=dict)
    lesson: str = LESSON

    def apply(self, released):
        """The notebook that is handed in."""
        answers = self.answers or (dict.fromkeys(ANSWERS, self.answer) if self.answer else {})
        for cell in released.cells:
            cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
        if self.change:
            self.change(released)
        if self.code:
            released.cells.insert(0, new_code_cell(self.code))
        return released


def tests_of(notebook):
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]


def skip_tests(notebook):
    for cell in tests_of(notebook):
        cell.metadata["tags"] = ["skip-execution"]


def allow_errors(notebook):
    for cell in tests_of(notebook):
        cell.metadata["tags"] = ["raises-exception"]


def raise_points(notebook):
    for cell in tests_of(notebook):
        cell.metadata["nbgrader"]["points"] = 1000


def tests_as_solutions(notebook):
    for cell in tests_of(notebook):
        cell.metadata["nbgrader"]["solution"] = True


def another_graded_cell(notebook):
    mark = dict(notebook.cells[-1].metadata.get("nbgrader", {}))
    mark |= {"grade_id": "bonus", "grade": True, "solution": False, "locked": True, "points": 50, "schema_version": 3}
    notebook.cells.append(new_code_cell("1 + 1", metadata={"nbgrader": mark}))


def empty_tests(notebook):
    for cell in tests_of(notebook):
        cell.source = "pass"


def delete_tests(notebook):
    graded = tests_of(notebook)
    notebook.cells = [cell for cell in notebook.cells if all(cell is not test for test in graded)]


ALWAYS = """
class Always:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __getattr__(self, name): return self
    def __call__(self, *arguments): return self
    def __iter__(self): return iter([self])
    def __len__(self): return 1
    def __bool__(self): return True
weighted_average = head_width = Always()
order_question, key_terms = Always(), {"head": Always(), "projection": Always(), "positional encoding": Always()}
"""
STR_ALWAYS = """
class Letter(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
"""
WRONG = "weighted_average = lambda weights, values: None\nhead_width = lambda d_model, num_heads: None\n"
# With the text of a question's test, the right letter stands behind "key(".
STEALS = """
def stolen():
    import re
    found = re.findall(r'key\\(\\s*"(.)"', {text})
    return found[0] if found else "Z"
class Thief(dict):
    def __getitem__(self, name): return stolen()
order_question, key_terms = stolen(), Thief(head="", projection="")
"""

TRICKS = [
    Trick("tag skip-execution on the tests", {"tag"}, change=skip_tests),
    Trick("tag raises-exception on the tests", {"tag"}, change=allow_errors),
    Trick("more points in a test's metadata", {"flags"}, change=raise_points),
    Trick("tests flagged as solutions", {"flags"}, change=tests_as_solutions),
    Trick("one more graded cell", {"extra graded cell"}, change=another_graded_cell),
    Trick("tests without content", {"test changed"}, change=empty_tests),
    Trick("tests deleted", {"test missing"}, change=delete_tests),
    Trick(
        "do_execute of the kernel replaced",
        {"notebook"},
        "reply = {'status': 'ok', 'execution_count': 1, 'payload': [], 'user_expressions': {}}\n"
        "async def fake(*a, **k): return reply\n"
        "get_ipython().kernel.do_execute = fake",
    ),
    Trick(
        "messages of the kernel's session forged",
        {"notebook"},
        "session, send = get_ipython().kernel.session, get_ipython().kernel.session.send\n"
        "def forged(stream, kind, content=None, *a, **k):\n"
        "    if kind == 'error': return None\n"
        "    if isinstance(content, dict) and content.get('status') == 'error': content = {'status': 'ok'}\n"
        "    return send(stream, kind, content, *a, **k)\n"
        "session.send = forged",
    ),
    Trick(
        "run_cell of the shell replaced",
        {"notebook"},
        "from IPython.core.interactiveshell import ExecutionResult\n"
        "get_ipython().run_cell = lambda *a, **k: ExecutionResult(None)",
    ),
    Trick("showtraceback silenced", {"notebook"}, "get_ipython().showtraceback = lambda *a, **k: None"),
    Trick(
        "AST transformer that drops asserts and raises",
        {"notebook"},
        "import ast\n"
        "class Drop(ast.NodeTransformer):\n"
        "    def visit_Assert(self, node): return ast.Pass()\n"
        "    visit_Raise = visit_Expr = visit_Assert\n"
        "get_ipython().ast_transformers.append(Drop())",
    ),
    Trick(
        "input transformer that empties cells",
        {"notebook"},
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])",
    ),
    Trick(
        "hook that publishes a result of its own",
        {"notebook"},
        "from IPython.display import display\n"
        "get_ipython().events.register('post_run_cell', lambda result: get_ipython().displayhook(1000.0))",
    ),
    Trick(
        "numpy.testing replaced",
        {"replacing"},
        answer=WRONG + "import numpy.testing\nfor name in dir(numpy.testing):\n"
        "    if name.startswith('assert'): setattr(numpy.testing, name, lambda *a, **k: None)",
    ),
    Trick(
        "torch.allclose and torch.equal replaced",
        {"replacing"},
        answer=WRONG + "import torch\ntorch.allclose = torch.equal = torch.isclose = lambda *a, **k: True",
    ),
    Trick(
        "Exam.run replaced",
        {"examiner", "replacing"},
        "import course.checks.exam\ncourse.checks.exam.Exam.run = lambda self: print('all checks hold')",
    ),
    Trick(
        "CheckFailed swallowed",
        {"examiner", "replacing"},
        "import course.checks.candidate as candidate\n"
        "candidate.CheckFailed = candidate.Candidate.guard = lambda *a: None",
    ),
    Trick(
        "answers of the servant forged",
        {"examiner", "replacing"},
        "from course.checks import servant\nservant.handle = lambda names, request: '{\"result\": true}'",
    ),
    Trick(
        "answers written into the socket beforehand",
        {"outside", "text as code"},
        "import os, importlib\n"
        "text = b'{\"result\": null}'\n"
        "for number in range(3, 250):\n"
        "    try: os.write(number, len(text).to_bytes(4, 'big') + text)\n"
        "    except OSError: pass",
    ),
    Trick("objects equal to everything", {"comparing"}, answer=ALWAYS),
    Trick(
        "letters equal to every letter",
        {"comparing"},
        answer=STR_ALWAYS
        + "order_question = Letter('Z')\nkey_terms = dict.fromkeys(['head', 'projection'], Letter('Z'))",
    ),
    Trick("the test read through In", {"notebook"}, answer=STEALS.format(text="''.join(map(str, In))")),
    Trick(
        "the test read through frames",
        {"frames"},
        answer="import sys\ndef around():\n"
        "    frame, texts = sys._getframe(), []\n"
        "    while frame: texts += map(repr, frame.f_locals.values()); frame = frame.f_back\n"
        "    return ''.join(texts)\n" + STEALS.format(text="around()"),
    ),
    Trick(
        "the test read through the garbage collector",
        {"memory"},
        answer="import gc\n"
        + STEALS.format(text="''.join(repr(o)[:9999] for o in gc.get_objects() if type(o) is dict)"),
    ),
    Trick(
        "the test read from files",
        {"outside"},
        answer="import glob\n"
        + STEALS.format(text="''.join(open(p).read() for p in glob.glob('/*/*/*.ipynb') + glob.glob('../../../*.db'))"),
    ),
    Trick(
        "the examiner looked for by its name",
        {"examiner"},
        answer="order_question = globals().get('__student__') or getattr(__builtins__, '__student__', 'Z')",
    ),
    Trick(
        "the process ended in the hope that silence earns",
        {"outside"},
        answer="import os\ndef weighted_average(*a): os._exit(0)\nhead_width = weighted_average",
    ),
    Trick(
        "the watch over calls taken away",
        {"examiner", "replacing"},
        "import contextlib\nfrom course.checks import scratch\nscratch.refusing = contextlib.nullcontext",
        answers={
            "scaled_dot_product_attention": "import torch.nn.functional as F\n"
            "def scaled_dot_product_attention(q, k, v, mask=None):\n"
            "    weights = F.scaled_dot_product_attention(q, k, torch.eye(k.shape[-2], dtype=q.dtype), mask)\n"
            "    return F.scaled_dot_product_attention(q, k, v, mask), weights"
        },
        lesson=SCRATCH_LESSON,
    ),
]


def as_it_is(notebook):
    pass


def with_a_helper(notebook):
    notebook.cells.insert(2, new_code_cell("def width(a, b):\n    return a // b\nprint(width(8, 2))"))


def with_noise(notebook):
    text = "import sys, warnings, os\nos.environ['KMP_DUPLICATE_LIB_OK'] = 'TRUE'\nwarnings.warn('careful')\n"
    text += "print('to stderr', file=sys.stderr)\n"
    text += "model = torch.nn.Linear(2, 2)\nmodel.eval()\nfor _i in range(2): print(_i)"
    notebook.cells.append(new_code_cell(text))


def with_a_check_run_again(notebook):
    source = "from course.checks import Exam, heads\nExam('head_width', heads.widths()).run()"
    notebook.cells.append(new_code_cell(source))


HONEST = [as_it_is, with_a_helper, with_noise, with_a_check_run_again]
