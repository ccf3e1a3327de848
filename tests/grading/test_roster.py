"""A class list in any platform's columns, and who a name belongs to."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.grading.collect.layouts.handed import Person
from course.grading.collect.run import _made_id
from course.grading.roster import Ambiguous, Roster, Student, read_roster
from course.trouble import Trouble

HEADERS = {
    "plain": "student_id,last_name,first_name,email\nann,Lee,Ann,ann@uni.test\n",
    "canvas": 'Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"Lee, Ann",7,S7,ann,A\n',
    "moodle": "\ufeffIdentifier,Full name,Email address\nParticipant 7,Ann Lee,ann@uni.test\n",
    "gradescope": "First Name,Last Name,SID,Email\nAnn,Lee,ann,ann@uni.test\n",
    "blackboard": '"Last Name";"First Name";"Username";"Student ID"\nLee;Ann;ann;7\n',
    "blackboard, in UTF-16": '"Last Name"\t"First Name"\t"Username"\nLee\tAnn\tann\n',
    "a registrar's": '\ufeff"Student No.";"Surname";"Given names";"E-mail"\r\n"ann";"Lee";"Ann";"ann@uni.test"\r\n\r\n',
    "a German registrar's": "Matrikelnummer;Name;Vorname;E-Mail\r\nann;Lee;Ann;ann@uni.test\r\n",
    "classroom": "Last Name\tFirst Name\tEmail Address\nLee\tAnn\tann@uni.test\n",
}


@pytest.fixture
def roster(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "roster.csv"
        path.write_bytes(text.encode(encoding))
        return read_roster(path)

    return write


@pytest.mark.parametrize("platform", HEADERS)
def test_each_platforms_columns_are_understood(platform, roster):
    encoding = "utf-16" if "UTF-16" in platform else "utf-8"
    [student] = roster(HEADERS[platform], encoding).students.values()
    assert (student.student_id, student.first_name, student.last_name) == ("ann", "Ann", "Lee")


@pytest.mark.parametrize(
    "person",
    [
        Person("Seán O'Brien"),
        Person("O'BRIEN, Sean"),
        Person("O’Brien Seán"),
        Person(joined="obrienseán"),
        Person("someone else", email="SEAN@uni.test"),
        Person("someone else", ids=(("lms_id", "42"),)),
        Person(ids=(("student_id", "SEAN"),)),
    ],
)
def test_a_student_is_found_however_the_platform_writes_them(person):
    found = Roster([Student("sean", "Seán", "O'Brien", "sean@uni.test", ("42",)), Student("ann", "Ann", "Lee")])
    assert found.find(person) == "sean"


@pytest.mark.parametrize(
    ("known", "told"), [("Weiß", "WEISS"), ("Sørensen", "Sorensen"), ("Łukasz", "Lukasz"), ("Núñez", "nunez")]
)
def test_letters_are_compared_as_other_keyboards_write_them(known, told):
    assert Roster([Student("one", "Ann", known)]).find(Person(f"Ann {told}")) == "one"


def test_canvas_s_test_student_is_none(roster):
    rows = 'Student,ID,SIS User ID,SIS Login ID,Section\n"Lee, Ann",7,S7,ann,A\n"Student, Test",9,,test,A\n'
    assert list(roster(rows).students) == ["ann"]


def test_an_id_is_trusted_before_a_name():
    found = Roster([Student("ann", "Ann", "Lee"), Student("bob", "Bob", "Ray")])
    assert found.find(Person("Ann Lee", ids=(("student_id", "bob"),))) == "bob"


def test_a_stranger_is_nobody_and_twins_are_ambiguous():
    twins = Roster([Student("a1", "Ann", "Lee"), Student("a2", "Lee", "Ann")])
    assert twins.find(Person("Jane Doe")) is None
    with pytest.raises(Ambiguous, match="a1, a2"):
        twins.find(Person("Ann Lee"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column of student ids"),
        ("colour,shape\nred,round\n", "no column of student ids \\(its columns are colour, shape\\)"),
        ("student_id,name\n", "lists no student"),
        ("student_id\nann\nANN\n", "'ANN' twice; take one row out"),
        ("student_id,name\n1.23457E+11,Ann\n", "'1.23457E\\+11', which a spreadsheet has rounded"),
        ("PK\x03\x04", "workbook of a spreadsheet; save it as CSV"),
        ('student_id\n"' + "x" * 200_000, "is no CSV"),
    ],
)
def test_a_roster_that_is_none_is_one_sentence(text, message, roster):
    with pytest.raises(Trouble, match=message):
        roster(text)


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\r\nstudent_id;name\r\n007;Ann Lee\r\n",
        ",,\r\nstudent_id,name,\r\n,,\r\n007,Ann Lee,\r\n\r\n , ,\r\n",
        "\n\nstudent_id;name\n007;Ann Lee\n",
        "student_id\tname\r007\tAnn Lee\r",
    ],
    ids=["Excel's separator line", "blank rows", "blank lines first", "old Mac"],
)
def test_what_spreadsheets_leave_around_a_table_is_passed_over(text, roster):
    [student] = roster(text).students.values()
    assert (student.student_id, student.full_name()) == ("007", "Ann Lee")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Student number;Surname;Status;lms_id;E-mail\n007;Lee;withdrawn;5;ann@uni.test\n",
            "1 student; ids from Student number; names from Surname; e-mail from E-mail; numbers from lms_id; "
            "not read: Status",
        ),
        (
            "Kennung,E-Mail\n007,ann@uni.test\n",
            "1 student; ids from E-Mail, the part before the @, as no column is known to hold ids; no names; "
            "e-mail from E-Mail; not read: Kennung",
        ),
    ],
)
def test_a_roster_tells_what_each_column_was_read_as(text, told, roster):
    assert roster(text).source == f"roster.csv: {told}"


def test_a_missing_roster_is_one_sentence(tmp_path):
    with pytest.raises(Trouble, match="cannot be read"):
        read_roster(tmp_path / "missing.csv")


def test_a_spreadsheets_old_encoding_is_read(roster):
    [student] = roster("student_id,name\njorg,Jörg Müller\n", "cp1252").students.values()
    assert student.full_name() == "Jörg Müller"


@given(st.text(), st.text(string.printable), st.text())
def test_a_made_id_is_the_name_of_a_folder_or_nothing(name, student_id, joined):
    for person in (Person(name), Person(ids=(("student_id", student_id),)), Person(joined=joined, email=name)):
        made = _made_id(person)
        assert not {"/", "\\", "\0"} & set(made)
        assert not made.startswith(".")
