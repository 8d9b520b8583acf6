"""The prompts of both calls and of `patterns list`, byte for byte."""

import pytest
from golden import cases, golden

PROMPTS = dict(cases())
ON_FILE = golden()


@pytest.mark.parametrize("case", sorted(PROMPTS.keys() | ON_FILE.keys()))
def test_the_same_bytes(case):
    """Prompt caches live on them: what changes a prompt is to be seen in its golden file."""
    assert PROMPTS[case] + "\n" == ON_FILE[case]
