"""Find the programs that a user can start."""

import shutil


def is_on_path(program: str) -> bool:
    """Return whether a shell would find the program."""
    return shutil.which(program) is not None
