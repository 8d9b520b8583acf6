"""Error templates: what differs from one occurrence to the next is taken out, in linear time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.failures import LONGEST_TEMPLATE, error_template, is_wanted_failure


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("total price is 1286, but paid 1,320.50", "total price is <n>, but paid <n>"),
        ("No such file: '/srv/a b.py'", "No such file: <text>"),
        ("open /home/mia/x.py: denied", "open <path>: denied"),
        (r"open C:\Users\mia\x.py: denied", "open <path>: denied"),
        ("2024-05-05T10:00:01.5Z gone at 11:12", "<time> gone at <time>"),
        ("user mia_li_3668 has no order W4082615", "user <id> has no order <id>"),
        ("GET https://api.example/v1?k=1 said 503", "GET <url> said <n>"),
        ("ask bob.b+x@mail.example.com", "ask <mail>"),
        ("commit 4f9a1c7ea9 and 4f9a1c7e-11aa-22bb-33cc-123456789abc", "commit <id> and <id>"),
        ("seats 1, 2, 3", "seats <n>"),
        ("\x1b[31mred\x1b[0m\n\n  text", "red text"),
        ("==== ERRORS ====\n!!!!!!! Interrupted: 1 error !!!!!!!", "ERRORS Interrupted: <n> error"),
        ("", ""),
    ],
)
def test_variable_parts_become_placeholders(text, template):
    """Two occurrences of one error have one template."""
    assert error_template(text) == template


def test_a_long_error_keeps_its_end():
    """The name of an exception stands last in a traceback."""
    said = error_template("Traceback: " + "deep down, " * 900 + "ModuleNotFoundError: No module")
    assert said.startswith("… ")
    assert said.endswith("ModuleNotFoundError: No module")
    assert len(said) == LONGEST_TEMPLATE


@given(st.text(max_size=300))
def test_any_text_has_a_short_template(text):
    """Whatever comes from outside."""
    assert len(error_template(text)) <= LONGEST_TEMPLATE


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", '{"command":"cd /x && python reproduce.py"}'),
        ("bash", '{"cmd":"./repro.sh --twice"}'),
        ("bash", '{"cmd":"pytest tests/test_repro.py -x"}'),
        ("shell:python reproduce_bug.py", ""),
        ("run_reproduction", ""),
        ("bash", '{"c":"python 复现.py"}'),
    ],
)
def test_a_script_that_reproduces_a_bug_is_meant_to_fail(tool, arguments):
    """A person wanted to see it fail."""
    assert is_wanted_failure(tool, arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create", '{"path":"/x/repro.py"}'),
        ("bash", '{"command":"python -c 1; cat reproduce.py"}'),
        ("bash", '{"cmd":"make reproducible-build"}'),
        ("bash", '{"cmd":"python src/reproject.py"}'),
        ("bash", '{"command":"rm reproduce.py && npm test"}'),
        ("npm test", ""),
    ],
)
def test_any_other_call_is_not_meant_to_fail(tool, arguments):
    """Writing, reading or removing such a script included."""
    assert not is_wanted_failure(tool, arguments)


@given(st.text(max_size=300), st.text("reproduce ./python", max_size=300))
def test_any_call_may_be_asked_about(tool, arguments):
    """Whatever comes from outside."""
    assert is_wanted_failure(tool, arguments) in (True, False)
