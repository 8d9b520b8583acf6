"""Import everything that redis-py would only import when it first connects.

A module that is only half imported when the process forks stays so in the child. The modules here
are imported together with the one that imports this one, which no fork interrupts.
"""

import email.parser  # noqa: F401 - for the version of redis-py
import encodings.idna  # noqa: F401 - for host names
from contextlib import suppress
from importlib import metadata

# redis-py tells the server its version. What reading that imports differs from Python to Python,
# so it is read.
with suppress(metadata.PackageNotFoundError):
    metadata.version("redis")
