"""Signatures are typed by people: any order, with blanks, with a + inside a name."""

from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.competences.episodes.signatures import signature_of, tools_of

NAMES = st.frozensets(st.text(alphabet="ab+\\ ", min_size=1, max_size=4).map(str.strip), max_size=4)


@given(NAMES)
def test_the_tools_of_a_signature_are_those_it_was_made_of(names):
    """Whatever stands in a name."""
    tools = tuple(sorted(name for name in names if name))
    assert tools_of(signature_of(tools)) == tools


def test_a_signature_may_be_typed_carelessly():
    """Blanks, another order, a tool twice, nothing at all."""
    assert tools_of(" test + edit+test++") == ("edit", "test")
    assert tools_of("") == ()
