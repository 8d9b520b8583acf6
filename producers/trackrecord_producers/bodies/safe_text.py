"""Convert agents' values to text that can travel; agents' own objects describe themselves here."""

from traceback import walk_tb

_FRAMES = 20
_FILE_PARTS = 2


def describe(value: object, longest: int) -> str:
    """Return a value as text of at most `longest` characters; never raises."""
    try:
        text = str(value)
    except Exception:  # noqa: BLE001 - the agent's own objects describe themselves here
        text = type(value).__qualname__
    # An invalid character (a lone surrogate, a NUL) would cost the whole outcome.
    text = text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text if len(text) <= longest else text[: longest - 1] + "…"


def describe_error(error: object, longest: int) -> str:
    """Describe a value; an exception gets the name of its class in front."""
    if not isinstance(error, BaseException):
        return describe(error, longest)
    name, text = type(error).__qualname__, describe(error, longest)
    return describe(f"{name}: {text}" if text and text != name else name, longest)


def where(error: BaseException) -> str:
    """Return where an error was raised, innermost call first: "app/auth.py:42 in check".

    The calls around it follow, as in "app/auth.py:42 in check < app/run.py:7 in main".

    Short names of files: a text for a prompt shows the beginning, and needs no folder of a machine.
    """
    frames = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
    steps = []
    for code, line in reversed(frames[-_FRAMES:]):
        file = "/".join(code.co_filename.replace("\\", "/").split("/")[-_FILE_PARTS:])
        steps.append(f"{file}:{line} in {code.co_name}")
    return " < ".join(steps)
