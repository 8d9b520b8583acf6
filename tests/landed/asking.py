"""The lists that every state of the store answers."""

from typing import Final

PROJECT: Final = "shop"
# What stands for the user's home in files that were installed there.
USER_HOME: Final = "/home/zoe"

# The commands; each is asked for its JSON.
LISTS: Final = (
    ("projects",), ("runs", "list", "--limit", "1000"), ("patterns", "list"),
    ("patterns", "list", "--state", "deprecated"), ("competences", "list"), ("memories", "list"),
    ("lessons", "list", "--everything"), ("commands", "list", "--everything"),
    ("criteria", "list"), ("effect",), ("token", "list"),
)  # fmt: skip
# Those that Redis answers, from what a worker has put there.
CACHED: Final = (("rankings",), ("rankings", "--task", "Fix the price of item 3"), ("status",))
