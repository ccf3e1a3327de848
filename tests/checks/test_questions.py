"""A letter is read kindly; what is no letter, or none that is offered, gets a sentence."""

import numpy as np
import pytest

from course.checks import CheckFailed, Question

REASONS = {"A": "because a", "B": "because b", "C": "because c"}


def ask(value, item=None, keyed=True):
    namespace = {"Question": Question, "item": item}
    if value is not KeyError:
        namespace["choice"] = value
    exec("question = Question('choice', letters='ABC', item=item)", namespace)
    if keyed:
        namespace["question"].key("B", REASONS)
    namespace["question"].run()


def message(*arguments, **keywords):
    with pytest.raises(CheckFailed) as raised:
        ask(*arguments, **keywords)
    return str(raised.value)


@pytest.mark.parametrize("value", ["B", "b", " b ", "B.", "(b)", "**B**", "Ｂ", "В", "Β"])
def test_right_letter_in_any_dress(value, capsys):
    ask(value)
    assert capsys.readouterr().out == "choice: B is right. because b\n"


@pytest.mark.parametrize("value", ["A", "c)"])
def test_wrong_letter_gets_its_own_reason(value):
    text = message(value)
    assert f"because {value[0].lower()}" in text and "because b" not in text
    assert "✗" in text


@pytest.mark.parametrize("value", ["", "   ", None, ...])
def test_no_answer_yet(value):
    assert "choice has no answer yet." in message(value)


@pytest.mark.parametrize("value", ["D", "AB", "B, C", "ABC", "none", "1", 2, ["B"], {"B"}, np.array(["B", "B"]), "."])
def test_what_is_not_offered_is_refused(value):
    assert "wanted one of the letters A, B, C" in message(value)


def test_missing_name():
    assert "choice is not defined." in message(KeyError)


def test_visible_check_says_only_that_an_answer_was_given(capsys):
    ask("C", keyed=False)
    assert capsys.readouterr().out == "choice: you answered C. The reason comes with the grade.\n"


def test_items_of_a_dict(capsys):
    ask({"head": "b", "other": ""}, item="head")
    assert "choice, head: B is right" in capsys.readouterr().out
    assert "choice['other'] has no answer yet" in message({"head": "b", "other": ""}, item="other")
    assert "choice['head'] is missing" in message({"heads": "B"}, item="head")
    assert "choice is a list, wanted a dict" in message(["B"], item="head")


@pytest.mark.parametrize("key", ["two words", "two_words", "Two Words", "two-words "])
def test_key_of_a_dict_in_any_dress(key, capsys):
    ask({"head": "A", key: "B"}, item="two words")
    assert "choice, two words: B is right" in capsys.readouterr().out


def test_two_keys_that_look_alike_are_none():
    assert "choice['two words'] is missing" in message({"two_words": "B", "Two Words": "B"}, item="two words")


@pytest.mark.parametrize(("right", "reasons"), [("D", REASONS), ("A", {"A": "because a"})])
def test_key_has_a_reason_for_each_letter(right, reasons):
    question = Question("choice", letters="ABC")
    with pytest.raises(ValueError, match="wanted one for each of"):
        question.key(right, reasons)


LONG_TEXTS = {
    "letters": "B" * 10**6,
    "marks that Unicode puts in order, which takes the square of their number": "B"
    + "\u0300" * 10**6
    + "\u0327" * 10**6,
}


@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS)
def test_a_long_text_is_no_letter_and_no_term(text):
    assert f"choice is a text of {len(text)} characters, wanted one of the letters A, B, C." in message(text)
    assert "choice['head'] is missing" in message({text: "A"}, item="head")
