"""How many outcomes a batch holds."""

from hypothesis import given
from hypothesis import strategies as st

from trackrecord_worker.learning.drain import BatchSize
from trackrecord_worker.learning.entries import Entry

MIB = 1024 * 1024


def _entries(count: int, size: int) -> list[Entry]:
    return [(b"1-1", {b"v": b"1", b"body": b"x" * size})] * count


def test_the_first_batch_fits_whatever_it_holds():
    """Nothing is known of the outcomes yet: each may be as large as is allowed."""
    assert BatchSize(2000, 64 * MIB, MIB).next == 64


def test_small_outcomes_come_in_full_batches_after_a_few():
    """Growing step by step, to the setting and no further."""
    size = BatchSize(2000, 64 * MIB, MIB)
    seen = []
    for _ in range(5):
        seen.append(size.next)
        size.note(_entries(size.next, 700))
    assert seen == [64, 256, 1024, 2000, 2000]


def test_large_outcomes_come_in_smaller_batches_at_once():
    """The next batch holds as many as fit, if they are as large as those."""
    size = BatchSize(2000, 64 * MIB, 4 * MIB)
    for _ in range(5):
        size.note(_entries(size.next, 700))
    size.note(_entries(3, 2 * MIB))
    assert size.next == 32


@given(
    most=st.integers(1, 10_000),
    most_bytes=st.integers(1, 64 * MIB),
    bodies=st.lists(st.tuples(st.integers(1, 20), st.integers(0, 10_000)), max_size=20),
)
def test_it_stays_within_its_bounds(most, most_bytes, bodies):
    """Whatever comes: at least one, at most the setting, and what would have fitted last time."""
    size = BatchSize(most, most_bytes, MIB)
    for count, length in bodies:
        size.note(_entries(count, length))
        assert 1 <= size.next <= most
        assert size.next == 1 or size.next * length <= most_bytes
