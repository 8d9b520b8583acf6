"""Masking: what one run's text may tell the agents of other runs."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.text.masking import LONGEST, masked

# Each with what must not be left of it.
PERSONAL = [
    ("You are Anya Garcia (anya_garcia_5901).", "You are {name} ({id})."),
    ("my name is Anya Garcia-Lopez, hello", "my name is {name}, hello"),
    ("Your user id is mia_li_3668; Mia wants a seat", "Your user id is {id}; {name} wants a seat"),
    ("write to mia.li+x@shop.example today", "write to {mail} today"),
    ("remove passenger Ethan from it", "remove passenger {name} from it"),
    ("Ms. Müller calls", "Ms. {name} calls"),
    ("upgrade it for Noah Muller and go", "upgrade it for {name} and go"),
    ("call +49 170 1234567 on May 20", "call {n} on May {n}"),
    ("see https://shop.example/orders?id=7 and /home/anya/notes", "see {url} and {path}"),
    ("cancel booking HXDUBJ, then IFOYYZ and 7H3KQ2", "cancel booking {id}, then {id} and {id}"),
    ("pay $1,250.50 with card 4421", "pay ${n} with card {n}"),
    ("我叫王小明,修复登录", "我叫{name},修复登录"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), PERSONAL)
def test_what_is_personal_is_masked(text, wanted):
    """Names, ids, addresses and numbers."""
    assert masked(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "Fly from New York to San Francisco on Monday", "Fix the login test", "You are reactive",
        "Repair src/cart.py: undefined: total", "The Login Page rejects sessions",
        "", "修复登录页面",
    ],
)  # fmt: skip
def test_what_a_task_is_about_stays(text):
    """Places, things and small letters."""
    assert masked(text) == text


@given(st.text(max_size=300))
def test_a_second_call_changes_nothing_and_no_digit_is_left(text):
    """Whatever the text."""
    once = masked(text)
    assert masked(once) == once
    assert not re.search(r"[0-9]", once)


@pytest.mark.parametrize(
    "piece", ["A", "Aa ", "a@", "a_1-", "1,", "You are ", "Ab Cd ", "/home/", "{id}"]
)
def test_a_long_text_is_cut(piece):
    """Only its beginning is read."""
    assert len(masked(piece * 1_000_000)) <= 2 * LONGEST
    assert masked(piece * 1_000_000) == masked((piece * LONGEST)[:LONGEST])
