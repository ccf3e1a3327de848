"""Hints for exceptions that no answer of the bank raises the same way everywhere."""

import pytest
from ipykernel.kernelbase import StdinNotImplementedError

from course.checks.exceptions import hint_for


@pytest.mark.parametrize("error", [EOFError("EOF when reading a line"), StdinNotImplementedError("no input here")])
def test_a_question_to_the_student_is_taken_out(error):
    assert "Take out input()" in hint_for(error)


def test_a_name_without_self_is_told_from_a_name_that_nobody_made():
    class Layer:
        def __init__(self):
            self.scale = 2.0

        def known(self):
            return scale  # noqa: F821

        def unknown(self):
            return factor  # noqa: F821

    with pytest.raises(NameError) as known:
        Layer().known()
    with pytest.raises(NameError) as unknown:
        Layer().unknown()
    assert "Write self.scale" in hint_for(known.value)
    assert "self." not in hint_for(unknown.value)
