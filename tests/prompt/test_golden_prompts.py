"""The prompts of both calls, byte for byte."""

import pytest

from tests.prompt.golden import cases, golden

ON_FILE = golden()


@pytest.fixture(scope="module")
def prompts():
    """The prompts as they are now, by the name of their case."""
    return dict(cases())


@pytest.mark.parametrize("case", sorted(ON_FILE))
def test_the_same_bytes(case, prompts):
    """Prompt caches live on them: what changes a prompt is to be seen in its golden file."""
    assert prompts[case] + "\n" == ON_FILE[case]


def test_every_case_is_on_file(prompts):
    """One that is not would be compared with nothing."""
    assert prompts.keys() == ON_FILE.keys()
