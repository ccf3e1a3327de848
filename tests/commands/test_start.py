"""Commands start without what they do not need: an instructor runs one after the other."""

import subprocess
import sys

PROGRAM = """
import sys
from click.testing import CliRunner
from course import commands
assert CliRunner().invoke(commands.course, ["grade", "--help"]).exit_code == 0
assert "torch" not in sys.modules
import nbgrader.apps
assert "jsonschema" in sys.modules
assert "lark" not in sys.modules
"""


def test_no_command_builds_a_grammar_and_help_imports_no_torch():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
