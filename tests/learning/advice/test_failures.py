"""Error templates: what differs from one occurrence to the next is taken out, in linear time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.runs.failures import (
    LONGEST_TEMPLATE,
    error_line,
    error_template,
    has_not_started,
    is_wanted_failure,
)


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("total price is 1286, but paid 1,320.50", "total price is <n>, but paid <n>"),
        ("No such file: '/srv/a b.py'", "No such file: <text>"),
        ("open /home/mia/x.py: denied", "open <path>: denied"),
        (r"open C:\Users\mia\x.py: denied", "open <path>: denied"),
        ("2024-05-05T10:00:01.5Z gone at 11:12", "<time> gone at <time>"),
        ("user mia_li_3668 has no order W4082615", "user <id> has no order <id>"),
        ("commit 4f9a1c7ea9 and 4f9a1c7e-11aa-22bb-33cc-123456789abc", "commit <id> and <id>"),
        ("\x1b[31mred\x1b[0m   text", "red text"),
        ("==== ERRORS ====\n!!!!!!! Interrupted: 1 error !!!!!!!", "Interrupted: <n> error"),
        ("", ""),
    ],
)
def test_variable_parts_become_placeholders(text, template):
    """Two occurrences of one error have one template."""
    assert error_template(text) == template


def test_a_long_line_is_cut_at_words_around_what_tells():
    """At its beginning, in its middle and at its end."""
    words = "deep down, " * 900
    assert error_line(f"Permission denied: {words}").startswith("Permission denied: deep down, ")
    for behind in ("", f" {words}"):
        said = error_line(f"{words}No module named cart{behind}")
        assert re.fullmatch(r"… (?:(?:deep )?down, )+No module named cart(?: .* …)?", said)
        assert LONGEST_TEMPLATE - len("deep down, ") < len(said) <= LONGEST_TEMPLATE


_PYTHON = """Traceback (most recent call last):
  File "/srv/a.py", line 3, in load
    raise KeyError("x")
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/a.py", line 9, in main
    load()
cart.errors.CartError: no cart for order 7
"""
_NODE = """/srv/a.js:3
  throw new TypeError("items is not a list");
  ^

TypeError: items is not a list
    at add (/srv/a.js:3:9)
    at Module._compile (node:internal/modules/cjs/loader:1554:14)

Node.js v22.1.0
"""
_JAVA = """Exception in thread "main" java.lang.RuntimeException: start failed
\tat shop.Main.main(Main.java:7)
Caused by: java.io.FileNotFoundException: shop.yml
\tat java.base/java.io.FileInputStream.open(FileInputStream.java:213)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (_PYTHON, "cart.errors.CartError: no cart for order 7"),
        (_NODE, "TypeError: items is not a list"),
        (_JAVA, "Caused by: java.io.FileNotFoundException: shop.yml"),
        ("$ vitest\nsh: 1: vitest: not found\nerror: script \"test\" exited with code 127",
         "sh: 1: vitest: not found"),
        ("Exit code 2\nerror: unrecognized subcommand 'run'\n\nUsage: rtk [OPTIONS]",
         "error: unrecognized subcommand 'run'"),
        ("remote: checking\nfatal: could not read Username\nhint: log in",
         "fatal: could not read Username"),
        ("Exit code 1\nbuilding\nsrc/a.ts(3,1): error TS2304: Cannot find name 'x'.\n3 warnings",
         "src/a.ts(3,1): error TS2304: Cannot find name 'x'."),
        ("### Error\nTimeoutError: page.click: Timeout 5000ms exceeded.\nCall log:\n- waiting",
         "TimeoutError: page.click: Timeout 5000ms exceeded."),
        ("✓ tells 404 when a page is not found\n✗ adds up: expected 2\nnpm ERR! code ELIFECYCLE",
         "✗ adds up: expected 2"),
        ("npm error code ENOENT\nnpm error path /srv/x", "npm error code ENOENT"),
        ('Exit code 1\nUnknown JSON field: "conclusion"\nAvailable fields:\n  bucket\n  link',
         'Unknown JSON field: "conclusion"'),
        ("Build\tpass\t40s\nE2E Tests\tfail\t2m13s\nlint\tpass\t4s", "E2E Tests fail 2m13s"),
        ("a.ts:3:1 lint/noEmpty\n  × Unexpected block.\n  145 │ new Error(x)\nFound 1 error.",
         "Found 1 error."),
        ("[FAILED] mdl --fix [FAILED]\n✖ mdl:\nplan.md:16 error MD001/heading Levels\nhusky - no",
         "plan.md:16 error MD001/heading Levels"),
        ("Exit code 1", "Exit code 1"),
        ("all is said\nat the end", "at the end"),
        ("\n \n", ""),
    ],
)  # fmt: skip
def test_the_line_that_tells_is_the_error(text, line):
    """The last exception of a stack trace, else what is missing, denied or unknown, else an error.

    What the program that ran it says of that, and hints, tell nothing.
    """
    assert error_line(text) == line


@given(
    st.text(max_size=300), st.sampled_from(["", "\nerror: ", "\nTraceback: \n at x\n", "\x1b[3"])
)
def test_any_text_has_one_short_line(text, part):
    """Whatever comes from outside."""
    line = error_line(f"{text}{part}{text * 5}")
    assert len(line) <= LONGEST_TEMPLATE
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("sh: 1: vitest: not found", True), ("bash: line 1: pytest: command not found", True),
        ("/usr/bin/python: No module named pytest", True),
        ("error: unrecognized subcommand <text>", True), ("npm error Missing script: <text>", True),
        ("docker: permission denied while trying to connect", True),
        ("<n> failed, <n> passed", False), ("AssertionError: assert <n> == <n>", False),
    ],
)  # fmt: skip
def test_a_check_that_did_not_start_found_nothing(error, expected):
    """The call failed; what found something ran."""
    assert has_not_started(error) == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("bash", '{"command":"cd /x && python reproduce.py"}', True),
        ("bash", '{"cmd":"./repro.sh --twice"}', True),
        ("bash", '{"cmd":"pytest tests/test_repro.py -x"}', True),
        ("shell:python reproduce_bug.py", "", True), ("run_reproduction", "", True),
        ("bash", '{"c":"python 复现.py"}', True), ("create", '{"path":"/x/repro.py"}', False),
        ("bash", '{"command":"python -c 1; cat reproduce.py"}', False),
        ("bash", '{"cmd":"make reproducible-build"}', False),
        ("bash", '{"cmd":"python src/reproject.py"}', False),
        ("bash", '{"command":"rm reproduce.py && npm test"}', False), ("npm test", "", False),
    ],
)  # fmt: skip
def test_a_script_that_reproduces_a_bug_is_meant_to_fail(tool, arguments, expected):
    """A person wanted to see it fail; but not who writes, reads or removes such a script."""
    assert is_wanted_failure(tool, arguments) == expected


@given(st.text(max_size=300), st.text("reproduce ./python", max_size=300))
def test_any_text_may_be_asked_about(text, arguments):
    """Whatever comes from outside."""
    assert is_wanted_failure(text, arguments) in (True, False)
    assert len(error_template(text)) <= LONGEST_TEMPLATE
