"""Secrets are replaced wherever they stand."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.secrets.kinds import HEX_MARKER, KINDS, MARKER
from tests.support.secret_texts import HARMLESS, PARTS, SECRET_TEXTS
from trackrecord.learning.text.redaction import redacted, redacted_beginning, redacted_value

_ALNUM = string.ascii_letters + string.digits
AROUND = st.text(alphabet="ab \n.,é中'\"", max_size=30)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(
    st.text(_ALNUM, min_size=7, max_size=7), st.text("0123456789abcdef", min_size=7, max_size=7),
    AROUND, AROUND, st.integers(1, 80),
)  # fmt: skip
def test_no_secret_is_left(
    kind: str, letters: str, digits: str, before: str, after: str, most: int
):
    """Whatever it is and stands around it; a cut leaves no part of it, either."""
    # Marked, so that no word of the text around it is taken for it.
    secret, number = f"ZQ7{letters}", f"777{digits}"
    text = KINDS[kind].replace(MARKER, secret).replace(HEX_MARKER, number)
    whole = redacted(f"{before} {text} {after}")
    cut = redacted_beginning(f"run it {text} now", most)
    assert len(cut) <= most
    for left in (whole, cut):
        assert not [part for part in (secret, number, MARKER.upper()) if part[:6] in left]


@given(st.text(alphabet=_ALNUM + " -_=", min_size=1, max_size=20))
def test_a_member_with_a_telling_name_loses_its_value(secret: str):
    """Also in nested arguments, and whatever the value looks like."""
    value = {"a": [{"api_key": secret, "Password": 1234567}], "auth": secret}
    kept = redacted_value(value, 300)
    assert kept == {"a": [{"api_key": "<secret>", "Password": "<secret>"}], "auth": "<secret>"}


@pytest.mark.parametrize("before", ["", "run it: ", "a\n"])
@pytest.mark.parametrize("kind", SECRET_TEXTS)
def test_nothing_is_left_of_a_kind_of_secret(kind: str, before: str):
    """Of 109 kinds: options of programs, files, headers, phrases in ten languages, keys."""
    if before == "run it: " and kind in ("pgpass", "netrc"):
        before = ""  # lines of files
    left = redacted(f"{before}{SECRET_TEXTS[kind]}\nnow")
    assert not [part for part in PARTS if part[:6] in left]
    assert redacted(left) == left


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str):
    """Tests, hashes, paths, names of variables, and sentences about passwords are learnt from."""
    assert redacted(text) == text
