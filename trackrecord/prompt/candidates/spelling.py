"""Names in camelCase, as they are written in this language."""

import re

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(name: str) -> str:
    """As in halfLifeHours → half_life_hours; what is written so already stays."""
    return name if name.islower() else _HUMP.sub("_", name).lower()
