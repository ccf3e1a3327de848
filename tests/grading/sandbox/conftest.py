"""Kernels in the sandbox, and notebooks made by code."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import determine_grade
from traitlets.config import Config

from course.grading.sandbox.execute import SandboxedExecute
from course.grading.sandbox.kernel import ConfinedKernelManager, Kernel
from tests.grading.conftest import nbgrader_mark

MIB = 1024**2


def small_limits():
    """Limits that are reached within a second."""
    config = Config()
    config.Execute.timeout = 2
    config.SandboxProvisioner.memory = 320 * MIB
    config.SandboxProvisioner.file_size = 2 * MIB
    config.SandboxProvisioner.scratch = 4 * MIB
    config.SandboxProvisioner.processes = 48
    config.SandboxedExecute.output_limit = 64 * 1024
    return config


@pytest.fixture(scope="session")
def config():
    return small_limits()


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    """A course as an instructor has it, with one submission in the place where nbgrader executes it."""
    root = tmp_path_factory.mktemp("course")
    submission = root / "autograded" / "ada" / "01_foundations"
    for folder in (submission, root / "source" / "01_foundations", root / "autograded" / "bob" / "01_foundations"):
        folder.mkdir(parents=True)
    (root / "source" / "01_foundations" / "01_foundations.ipynb").write_text("SECRET")
    (root / "autograded" / "bob" / "01_foundations" / "01_foundations.ipynb").write_text("SECRET")
    (root / "gradebook.db").write_text("SECRET")
    (submission / "01_foundations.ipynb").write_text("SECRET")
    (submission / "numpy.py").write_text("raise SystemExit")
    (submission / "torch").mkdir()
    (submission / "torch" / "__init__.py").write_text("raise SystemExit")
    (submission / "table.csv").write_text("1,2")
    (submission / "link.csv").symlink_to(root / "gradebook.db")
    return submission


@pytest.fixture(scope="session")
def shared_kernel(sandbox, config, shared_folder):
    """One kernel for all tests that leave it as they found it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN_OF_THE_INSTRUCTOR", "SECRET")
        kernel = Kernel(ConfinedKernelManager, shared_folder, config=config).start()
    yield kernel
    kernel.stop()


@pytest.fixture(scope="session")
def inside(shared_kernel):
    """Run code in the shared kernel; what it prints, or the name of the error that ends it."""

    def run(source):
        result = shared_kernel.run(source, time_limit=20, output_limit=10**6)
        assert result.alive, result.ending
        errors = [output.ename for output in result.outputs.kept if output.output_type == "error"]
        return errors[0] if errors else "".join(output.get("text", "") for output in result.outputs.kept).strip()

    return run


@pytest.fixture(scope="session")
def mortal_kernel(sandbox, config):
    kernel = Kernel(ConfinedKernelManager, config=config).start()
    yield kernel
    kernel.stop()


@pytest.fixture
def own_kernel(mortal_kernel):
    """A kernel for tests that harm it; started anew for the next one where it did not survive."""
    return mortal_kernel if mortal_kernel.is_alive() else mortal_kernel.restart()


def solution(name, source):
    return new_code_cell(source, metadata=nbgrader_mark(name, solution=True))


def check(name, source):
    return new_code_cell(source, metadata=nbgrader_mark(f"test_{name}", grade=True, locked=True, points=2))


class Graded:
    """A graded notebook and what to ask of it."""

    def __init__(self, notebook):
        self.notebook = notebook
        self.cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}

    def points(self, name):
        return determine_grade(self.cells[f"test_{name}"])[0]

    def text(self, name):
        """Everything that the cell shows."""
        shown = self.cells[name].outputs
        return "\n".join(o.get("text") or o.get("evalue") or str(o.get("data", "")) for o in shown)


@pytest.fixture(scope="session")
def grade(sandbox, config, shared_folder):
    """Grade a notebook of exercises {name: (solution, test)} as nbgrader's Autograde would."""

    def run(exercises, execute=SandboxedExecute, **options):
        cells = [cell for name, (a, t) in exercises.items() for cell in (solution(name, a), check(name, t))]
        preprocessor = execute(config=config, **options)
        notebook, _ = preprocessor.preprocess(new_notebook(cells=cells), {"metadata": {"path": str(shared_folder)}})
        return Graded(notebook)

    return run
