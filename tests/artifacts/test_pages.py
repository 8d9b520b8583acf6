"""Parts of an artifact: by lines, by bytes, a page at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.artifacts.pages import Page, Range, page_of

ID = "cd" * 32
TEXT = b"one\ntwo\r\nthree\n\nfive"


def part(unit, start, last=None, data=TEXT):
    return page_of(ID, data, Range.checked(unit, start, last)).data


def test_by_lines():
    """Counted from 1, both ends included, line ends as they are."""
    assert part("lines", 1, 1) == b"one\n"
    assert part("lines", 2, 3) == b"two\r\nthree\n"
    assert part("lines", 4) == b"\nfive"
    assert part("lines", 5, 99) == b"five"
    assert part("lines", 6) == b""
    assert part("lines", 10**15 - 1) == b""


def test_by_bytes():
    """Counted from 0, both ends included."""
    assert part("bytes", 0, 2) == b"one"
    assert part("bytes", 16) == b"five"
    assert part("bytes", 3, 3) == b"\n"
    assert part("bytes", 99) == b""


@pytest.mark.parametrize(
    ("unit", "text"),
    [("lines", "0:5"), ("lines", "5:2"), ("lines", "5"), ("bytes", "-1:3"), ("bytes", "a:b"),
     ("lines", ""), ("bytes", "1:2:3"), ("lines", "1:" + "9" * 20)],
)  # fmt: skip
def test_what_is_no_range_is_refused(unit, text):
    """The message says how to write one."""
    with pytest.raises(ValueError, match=r"lines|bytes"):
        Range.parse(unit, text)


@given(
    data=st.binary(max_size=400) | st.text("ab\né你", max_size=200).map(str.encode),
    size=st.integers(1, 50),
    wanted=st.builds(Range, st.just("lines"), st.integers(1, 6), st.none() | st.integers(6, 9))
    | st.builds(Range, st.just("bytes"), st.integers(0, 60), st.none() | st.integers(60, 200)),
)
def test_page_by_page_is_the_whole(data, size, wanted):
    """Following each page gives what one page without a limit does, and no page is too large."""
    whole = page_of(ID, data, wanted)
    assert whole.following is None
    found = b""
    following: Range | None = wanted
    pages: list[Page] = []
    while following is not None:
        page = page_of(ID, data, following, size)
        assert len(page.data) <= size
        assert page.start == whole.start + len(found)
        assert page.size == len(data)
        found += page.data
        pages.append(page)
        following = page.following
        assert len(pages) <= len(data) + 1
    assert found == whole.data


def test_pages_of_lines_hold_whole_lines():
    """A page ends where a line ends; one line that is too long is gone on with by bytes."""
    data = b"aaaa\nbbbb\n" + b"c" * 30 + b"\nd\n"
    first = page_of(ID, data, Range("lines", 1), 12)
    assert first.data == b"aaaa\nbbbb\n"
    assert first.following == Range("lines", 3)
    second = page_of(ID, data, first.following, 12)
    assert second.data == b"c" * 12
    assert second.following == Range("bytes", 22, len(data) - 1)


@given(text=st.text(max_size=200), size=st.integers(4, 40))
def test_pages_of_text_are_text(text, size):
    """No page ends within a character."""
    data = text.encode()
    following: Range | None = Range("bytes", 0)
    while following is not None:
        page = page_of(ID, data, following, size)
        page.data.decode()
        following = page.following
