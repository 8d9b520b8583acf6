"""The version of the package, which pyproject.toml reads from here, too."""

__version__ = "0.2.0"
