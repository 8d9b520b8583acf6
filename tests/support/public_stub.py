"""The stub that tells type checkers the public names, made of what `trackrecord` lists.

`python -m tests.support.public_stub` writes it anew.
"""

import sys
from pathlib import Path
from subprocess import run
from typing import Final

import trackrecord

PATH: Final = Path(trackrecord.__file__).with_suffix(".pyi")


def stub() -> str:
    """Return the text of the stub."""
    public = [(home, f"{name} as {name}") for name, home in trackrecord._HOMES.items()]
    names = sorted([*public, ("trackrecord.process.async_calls", "awaited")])
    lines = [
        "# Made by `python -m tests.support.public_stub`.",
        *(f"from {home} import {name}" for home, name in names),
        "",
        "__version__: str",
        "",
        *(f"{form} = awaited({call})" for form, call in sorted(trackrecord._FORMS.items())),
    ]
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PATH), "-"]
    return run(command, input="\n".join(lines), capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    PATH.write_text(stub(), encoding="utf-8")
