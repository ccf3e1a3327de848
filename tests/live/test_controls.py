import pytest

from course.live.controls import control
from course.live.parameters import Parameter


def test_a_parameter_of_an_unknown_kind_is_named():
    with pytest.raises(TypeError, match="no control for Parameter"):
        control(Parameter())
