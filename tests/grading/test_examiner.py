"""The trusted side of an exam takes nothing for granted that a student's process sends."""

import json

import pytest

from course.grading.examiner import Student, StudentGone, run_test

SETUP = "from course.checks import Exam, Question, averages, heads, layers"
TESTS = {
    "numbers": "Exam('f', heads.widths(cases=[(8, 2, 4)])).run()",
    "error": "Exam('f', heads.refuses_uneven(cases=[(8, 3)])).run()",
    "question": "q = Question('f', letters='AB')\nq.key('A', {'A': 'yes', 'B': 'no'})\nq.run()",
    "item": "q = Question('f', letters='AB', item='x')\nq.key('A', {'A': 'yes', 'B': 'no'})\nq.run()",
}
ARRAY = {"array": ["<f8", [1], "AAAAAAAA8D8="], "fortran": False, "scalar": False}
REPLIES = {
    "nothing": "",
    "no JSON": "}{",
    "null": "null",
    "an empty dict": '{"dict": []}',
    "another kind": json.dumps({"dict": [["verdict", "passed"]]}),
    "a failure without texts": json.dumps({"dict": [["failure", {"list": []}]]}),
    "a failure that is a number": json.dumps({"dict": [["failure", 7]]}),
    "two kinds at once": json.dumps({"dict": [["result", 4], ["layer", 0]]}),
    "a key that cannot be one": json.dumps({"dict": [[{"list": []}, 4]]}),
    "an unknown type": json.dumps({"dict": [["result", {"code": "print()"}]]}),
    "an object": json.dumps({"dict": [["result", {"opaque": "Always"}]]}),
    "an array in the place of a number": json.dumps({"dict": [["result", ARRAY]]}),
    "an array of objects": json.dumps({"dict": [["result", {**ARRAY, "array": ["|O", [1], "AAAAAAAAAAA="]}]]}),
    "an array of another size": json.dumps({"dict": [["result", {**ARRAY, "array": ["<f8", [10**9], "AA=="]}]]}),
    "a tensor with strides of terabytes": json.dumps(
        {"dict": [["result", {"tensor": ["<f4", [2], "AAAAAAAAAAA="], "grad": False, "strides": [10**13]}]]}
    ),
    "a probe of gigabytes": json.dumps(
        {
            "dict": [
                [
                    "result",
                    {
                        "probe": "OrderProbe",
                        "training": True,
                        "state": {"dict": [["weight", {**ARRAY, "array": ["<f4", [10**6, 0], ""]}]]},
                    },
                ]
            ]
        }
    ),
    "an exception that is none": json.dumps({"dict": [["result", {"raised": ["print"], "text": "x"}]]}),
    "an array of objects of another size": json.dumps({"dict": [["result", {"objects": [[10**9], [1]]}]]}),
    "a long number": json.dumps({"dict": [["result", 0]]}).replace("0", "9" * 10000),
    "half a surrogate pair": json.dumps({"dict": [["failure", {"list": ["\ud800", "\ud800", False]}]]}),
    "deep nesting": '{"list": [' * 5000 + "]}" * 5000,
}


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_that_is_none_fails_the_exam_and_nothing_else(test, reply):
    outcome = run_test(TESTS[test], SETUP, Student(lambda request: REPLIES[reply]))
    assert outcome.failure is not None
    assert not outcome.proved


@pytest.mark.parametrize("test", TESTS)
def test_a_process_that_is_gone_is_said_to_be(test):
    def ask(request):
        raise StudentGone("it reached the time limit of 5 s")

    outcome = run_test(TESTS[test], SETUP, Student(ask))
    assert "gave no result: it reached the time limit of 5 s" in str(outcome.failure)
