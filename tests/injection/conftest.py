"""The question of all tests of this folder: one trackrecord that has learnt the whole corpus."""

from pathlib import Path

import pytest

from tests.injection.taught import InjectedFleet, learning_everything
from tests.support.folder_scope import shared_in

_HERE = Path(__file__).parent
_KEY = pytest.StashKey[InjectedFleet]()


@pytest.fixture(scope="module")
def learnt(request: pytest.FixtureRequest) -> InjectedFleet:
    """A trackrecord that has learnt the whole corpus by each path."""
    return shared_in(_HERE, request, _KEY, learning_everything)
