"""One version everywhere."""

import re

import yaml

import trackrecord
from tests.docs.documentation import ROOT, text_of


def _version() -> str:
    return trackrecord.__version__


def test_newest_version_is_the_projects():
    """The changelog begins with the version that the package has."""
    newest = re.search(r"^## \[([^\]]+)\]", text_of("CHANGELOG.md"), re.MULTILINE)
    assert newest[1] == _version()


def test_image_has_the_projects_version():
    """docker-compose.yml names the image after the version."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    for name in ("worker", "beat"):
        assert compose["services"][name]["image"] == f"trackrecord:{_version()}"
