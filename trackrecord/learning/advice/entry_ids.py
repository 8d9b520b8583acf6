"""The prefixes of entry ids in exposures, which differ from the lists of each kind.

An entry of another kind, a pattern or a competence record, has one id everywhere.
"""

from typing import Final

LESSON: Final = "lesson:"
FAILING: Final = "failing:"
PROCEDURE: Final = "procedure:"
MEMORY: Final = "memory:"

# The last one is of an earlier version.
PREFIXES: Final = (LESSON, FAILING, PROCEDURE, MEMORY, "task:")
