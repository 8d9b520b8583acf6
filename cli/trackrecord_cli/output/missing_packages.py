"""The message about a missing package that the command line needs."""


def is_ours(error: ModuleNotFoundError) -> bool:
    """Return whether a module of trackrecord itself is missing, which is a defect."""
    return error.name is None or error.name.startswith("trackrecord")


def explain_missing(error: ModuleNotFoundError) -> str:
    """Return what to do about a package that is not installed."""
    return (
        f"the command line needs {error.name}, which is not installed: "
        "pip install 'trackrecord[worker]'"
    )
