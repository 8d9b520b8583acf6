"""Each format of recorded runs is told of where it can be given."""

import pytest

from trackrecord_producers.importers.register import FORMATS


@pytest.mark.parametrize("command", ["import", "evaluate"])
def test_the_help_names_each_format(trackrecord, command):
    """Whoever adds one tells of it."""
    said = trackrecord(command, "--help").out
    assert [name for name in FORMATS if name not in said] == []
