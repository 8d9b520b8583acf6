"""Versions of Redis and Valkey with a known vulnerability.

Before these patch releases whoever may run a script can run code in the server's process
(CVE-2025-49844), and some of them can be exhausted by a client without a password; in Valkey 9.0
such a client can end the server (CVE-2026-27623).
"""

import re
from typing import Final, NamedTuple

# What a distribution's changelog says of a package that it mended.
MENDING: Final = "CVE-2025-49844"

# The first patch release of each branch that is mended. A branch newer than all of these never had
# the vulnerability; any other one has no mended release.
_MENDED: Final = {
    "Redis": {(6, 2): 20, (7, 2): 11, (7, 4): 6, (8, 0): 4, (8, 2): 2},
    "Valkey": {(7, 2): 11, (8, 0): 6, (8, 1): 4, (9, 0): 3},
}
_VERSION: Final = re.compile(r"(Redis|Valkey) server v=(\d{1,4})\.(\d{1,4})\.(\d{1,4})")


class ServerVersion(NamedTuple):
    """The version of a server.

    Attributes:
        number: major, minor and patch.
        product: "Redis" or "Valkey".
    """

    number: tuple[int, int, int]
    product: str

    def __str__(self) -> str:
        return f"{self.product} {'.'.join(map(str, self.number))}"

    @property
    def is_vulnerable(self) -> bool:
        """Return whether its release is vulnerable; a distribution may have patched its copy."""
        *branch, patch = self.number
        mended = _MENDED[self.product]
        if tuple(branch) > max(mended):
            return False
        first = mended.get((branch[0], branch[1]))
        return first is None or patch < first


def read_version(text: str) -> ServerVersion | None:
    """Return the version that `redis-server --version` prints; None if it prints something else."""
    found = _VERSION.match(text)
    if found is None:
        return None
    return ServerVersion((int(found[2]), int(found[3]), int(found[4])), found[1])


def version_of_info(info: dict[str, object]) -> ServerVersion | None:
    """Return the version in a server's reply to INFO; None if it is missing."""
    for product in ("Valkey", "Redis"):
        if number := info.get(f"{product.lower()}_version"):
            return read_version(f"{product} server v={number}")
    return None
