"""What the documents name is there as they name it: options, modules, files, settings and their defaults, figures."""

import importlib
import importlib.util
import re
import tomllib

import yaml
from nbgrader.apps.nbgraderapp import NbGraderApp
from nbgrader.preprocessors import Execute

import course
from course import commands
from course.checks import frames
from course.grading.many import cluster, pool, store
from course.grading.sandbox import kernel
from course.grading.sandbox.execute import SandboxedExecute
from course.grading.sandbox.provisioner import SandboxProvisioner
from tests.judging.lesson import ROOT, lesson_names
from tests.judging.outline import announcements, graded_points

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in DOCUMENTS}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# What a run makes and git ignores.
MADE = ("submitted", "autograded", "feedback", "exports", "reports", "my_work", "demo", ".venv")


def code_in(text):
    """Each line of the blocks of code in a text, and each piece of code within its prose."""
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line.partition(" # ")[0].strip() for block in blocks for line in block.splitlines()]
    return [*lines, *(" ".join(piece.split()) for piece in re.findall(r"`([^`]+)`", prose))]


CODE = [(name, piece) for name, text in TEXTS.items() for piece in code_in(text)]


def options_of(command):
    return {option for parameter in command.params for option in parameter.opts} | {"--help"}


OPTIONS = {name: options_of(commands.course.get_command(None, name)) for name in commands.course.list_commands(None)}
USED = {
    (name, piece, found[1], option)
    for name, piece in CODE
    if (found := re.match(r"(?:\S*/|python -m )?course ([a-z]+)\b", piece))
    for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", piece)
}


def test_every_option_of_a_course_command_exists():
    assert len(USED) >= 8
    assert [use for use in USED if use[3] not in OPTIONS[use[2]]] == []


def test_every_option_that_stands_alone_belongs_to_a_course_command():
    alone = {piece.split()[0] for _, piece in CODE if re.match(r"--[a-z]", piece)}
    of_others = {"--no-deps", "--protocol", "--memory-limit", "--price"}  # pip's, Dask's and our simulation's
    assert {"--keep", "--due", "--roster"} <= alone
    assert alone - set().union(*OPTIONS.values()) - of_others == set()


def test_every_choice_of_an_option_exists():
    chosen = {
        (command, option, value)
        for _, piece in CODE
        for option, value in re.findall(r"(--for|--keep) ([a-z-]+)", piece)
        for command in (["export"] if option == "--for" else ["collect"])
    }
    assert len(chosen) >= 5
    for command, option, value in chosen:
        [parameter] = [p for p in commands.course.get_command(None, command).params if option in p.opts]
        assert value in parameter.type.choices, f"{command} {option} {value}"


def test_every_nbgrader_command_exists():
    named = {words[1] for _, piece in CODE if (words := piece.split())[:1] == ["nbgrader"] and len(words) > 1}
    assert {"autograde", "generate_assignment", "generate_feedback", "export"} <= named
    assert named <= set(NbGraderApp.subcommands)


def test_every_module_that_is_run_exists():
    named = {module for _, piece in CODE for module in re.findall(r"python -m ((?:bench|course|tests)\b[\w.]*)", piece)}
    assert {"bench.grading", "tests.grading.tables"} <= named
    assert [module for module in named if importlib.util.find_spec(module) is None] == []


def test_every_part_of_the_package_exists():
    named = {name for _, piece in CODE for name in re.findall(r"(?<![\w.])course(?:\.\w+)+", piece)}
    assert {"course.plots", "course.grading.export.plugins.CanvasExporter"} <= named
    for name in named:
        module, _, part = name.rpartition(".")
        assert hasattr(importlib.import_module(module), part) or importlib.util.find_spec(name), name


def test_every_file_exists():
    folders = "|".join(path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
    of_ours = re.compile(rf"(?:{folders})/[\w./-]+|[\w-]+\.(?:py|toml|yml|txt|cfg)")
    named = {piece for _, piece in CODE if of_ours.fullmatch(piece) and not piece.startswith(MADE)}
    named -= {name for name in named if "NN_" in name}  # stands for any lesson
    assert {"bench/grading_times.csv", "tests/lessons/test_paths.py", "nbgrader_config.py"} <= named
    of_others = {"submission_metadata.yml"}  # Gradescope's
    assert [
        name for name in named - of_others if not any((place / name).exists() for place in (ROOT, ROOT / "course"))
    ] == []


def test_every_extra_exists_and_the_environments_bring_what_they_should():
    extras = set(PROJECT["project"]["optional-dependencies"])
    named = {extra for text in TEXTS.values() for extra in re.findall(r"\.\[(\w+)\]", text)}
    assert {"lab", "dev", "grading", "cluster"} <= named <= extras
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert conda["name"] == "attention-course"  # that README activates
    assert "-e .[grading]" in conda["dependencies"][-1]["pip"]
    assert "-e '.[lab]'" in (ROOT / ".devcontainer" / "devcontainer.json").read_text()


def test_one_version_of_python_and_one_of_the_course():
    least = PROJECT["project"]["requires-python"].removeprefix(">=")
    named = {version for text in TEXTS.values() for version in re.findall(r"Python (\d\.\d+) or newer", text)}
    assert named == {least}
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == course.__version__
    assert f"\n## {course.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()


def size(number):
    return f"{number // 2**20} MiB"


def test_limits_are_those_of_the_settings():
    rows = re.findall(r"^\| `c\.(\w+)\.(\w+)` \| ([^|]+?) \|", TEXTS["grading.md"], re.MULTILINE)
    classes = {"Execute": Execute, "SandboxProvisioner": SandboxProvisioner, "SandboxedExecute": SandboxedExecute}
    assert len(rows) >= 7
    for owner, name, told in rows:
        default = classes[owner].class_traits()[name].default()
        assert told in (f"{default} s", size(default), str(default)), f"c.{owner}.{name}"
    assert f"a flood of {kernel.FLOOD} times as much" in TEXTS["grading.md"]


def test_other_figures_of_grading_are_those_of_the_code():
    text = " ".join(TEXTS["grading.md"].split())
    words = {2: "two", 3: "three", 5: "five"}
    assert f"{size(frames.LARGEST)} a value" in text
    assert f"tries {words[store.TRIES]} times" in text
    assert f"a grader ends {words[cluster.TRIES]} times" in text
    assert f"{words[pool.AHEAD].capitalize()} submissions for each thread are out at a time" in text


def test_figures_of_the_guide_are_those_of_the_lessons():
    text = " ".join(TEXTS["instructors.md"].split())
    questions = [item for name in lesson_names()[:4] for item in announcements(name) if item.name.endswith("_question")]
    questions += [item for item in announcements("01_foundations") if item.name == "key_terms"]
    exercise_2 = [item for item in announcements("03_practice") if item.name.endswith("positional_encoding")][:2]
    assert f"`best_practice_question`, {sum(item.points for item in questions)} points together" in text
    assert {item.minutes for item in questions} == {2, 3, 4} and "two to four minutes each" in text
    points, minutes = (sum(getattr(item, what) for item in exercise_2) for what in ("points", "minutes"))
    assert f"Exercise 2 of lesson 3, {points} points in {minutes} minutes" in text
    core = sum(sum(graded_points(name).values()) for name in lesson_names()[:4])
    assert f"The core is {core} points" in text and f"the core: {core} points" in " ".join(TEXTS["README.md"].split())
