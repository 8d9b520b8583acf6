"""Artifacts on disk: whole, once, apart, for a while, and nothing else is touched."""

import os
import stat
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackrecord.artifacts.folder import TEMPORARY
from trackrecord.artifacts.store import ArtifactStore, prune_artifacts
from trackrecord.errors import ArtifactDamaged, InvalidArtifactId, UnknownId
from trackrecord.process.folders import folder_name

DAY = 86_400.0


def files(home: Path) -> list[Path]:
    """The artifacts' files of all projects."""
    return sorted(p for p in (home / "artifacts").glob("*/*") if not p.name.startswith("."))


@given(data=st.binary(max_size=5000))
@settings(max_examples=60)
def test_what_was_stored_comes_back_byte_for_byte(tmp_path_factory, data):
    """Any bytes, under the SHA-256 of the content."""
    store = ArtifactStore(tmp_path_factory.mktemp("home"), "p", retention_s=DAY)
    artifact_id = store.put(data)
    assert artifact_id == sha256(data).hexdigest()
    assert store.get(artifact_id) == data


def test_only_the_user_can_read_them(store, tmp_path):
    """0700 and 0600, whatever the umask."""
    before = os.umask(0)
    try:
        store.put(b"secret")
    finally:
        os.umask(before)
    (file,) = files(tmp_path / "home")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for folder in (file.parent, file.parent.parent, tmp_path / "home"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "artifact_id",
    ["", "a" * 63, "a" * 65, "A" * 64, "g" * 64, "a" * 64 + "\n", "../" + "a" * 61, "/" + "a" * 63,
     "a" * 63 + "/", "a" * 63 + "\0", "٠" * 64, "." * 64, None, b"a" * 64],
)  # fmt: skip
def test_an_id_that_is_none_is_refused_before_any_path_is_built(store, artifact_id, monkeypatch):
    """Nothing on the disk is even looked at."""
    store.put(b"x")

    def opened(*_args, **_kwargs):
        pytest.fail("a path was built")

    monkeypatch.setattr(os, "open", opened)
    with pytest.raises(InvalidArtifactId, match="64 digits"):
        store.get(artifact_id)


HOSTILE = ["../../etc", "/etc/passwd", "a\0b", "..", ".", "", "A", "a", "ﬁ", "x" * 128, "\ud800",
           "con", "a/b", "a-b", "a b"]  # fmt: skip


def test_projects_are_kept_apart_whatever_their_names(tmp_path):
    """None reads another's, and none reaches out of the folder; names differ without case, too."""
    ids = {}
    for project in HOSTILE:
        store = ArtifactStore(tmp_path / "home", project, retention_s=DAY)
        ids[project] = store.put(project.encode("utf-8", "surrogatepass") + b"!")
    assert len({folder_name(project).lower() for project in HOSTILE}) == len(HOSTILE)
    assert all(file.parent.parent == tmp_path / "home" / "artifacts"
               for file in files(tmp_path / "home"))  # fmt: skip
    assert len(files(tmp_path / "home")) == len(HOSTILE)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    for project in HOSTILE:
        store = ArtifactStore(tmp_path / "home", project, retention_s=DAY)
        for other, artifact_id in ids.items():
            if other != project:
                with pytest.raises(UnknownId):
                    store.get(artifact_id)


@pytest.mark.parametrize("damage", [lambda d: d[:-1], lambda d: b"", lambda d: b"X" + d[1:],
                                    lambda d: d + b"x"])  # fmt: skip
def test_a_damaged_artifact_is_told_by_its_digest(store, tmp_path, damage):
    """Truncated, changed or longer: the error names it; storing it again heals it."""
    artifact_id = store.put(b"0123456789")
    (file,) = files(tmp_path / "home")
    file.write_bytes(damage(b"0123456789"))
    with pytest.raises(ArtifactDamaged, match=artifact_id):
        store.get(artifact_id)
    assert store.put(b"0123456789") == artifact_id
    assert store.get(artifact_id) == b"0123456789"


def test_a_symbolic_link_in_the_place_of_an_artifact_is_refused(store, tmp_path):
    """Neither read nor written through; storing replaces the link itself."""
    artifact_id = store.put(b"content")
    (file,) = files(tmp_path / "home")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"content")
    file.unlink()
    file.symlink_to(elsewhere)
    with pytest.raises(ArtifactDamaged, match="symbolic link"):
        store.get(artifact_id)
    store.put(b"content")
    assert not file.is_symlink()
    assert elsewhere.read_bytes() == b"content"


@pytest.mark.parametrize("level", ["project", "artifacts"])
def test_a_symbolic_link_in_the_place_of_a_folder_is_refused(store, tmp_path, level):
    """Nothing is stored behind it."""
    store.put(b"first")
    (file,) = files(tmp_path / "home")
    folder = file.parent if level == "project" else file.parent.parent
    folder.rename(tmp_path / "moved")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.symlink_to(elsewhere)
    with pytest.raises(OSError, match="symbolic link"):
        store.put(b"second")
    with pytest.raises(OSError, match="symbolic link"):
        store.get(sha256(b"first").hexdigest())
    assert list(elsewhere.iterdir()) == []


def test_a_write_that_fails_leaves_nothing_behind(store, tmp_path, monkeypatch):
    """No half an artifact, under whichever name."""
    store.put(b"first")

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.put(b"second")
    assert [file.read_bytes() for file in files(tmp_path / "home")] == [b"first"]
    assert not list((tmp_path / "home").glob(f"*/*/{TEMPORARY}*"))


def test_its_name_comes_after_its_content(store, tmp_path, monkeypatch):
    """Whoever is killed before the disk has all of it leaves no artifact."""
    order = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (order.append("sync"), sync(fd))[1])
    monkeypatch.setattr(
        os, "replace", lambda *a, **k: (order.append("name"), replace(*a, **k))[1]
    )  # fmt: skip
    store.put(b"content")
    assert order == ["sync", "name", "sync"]


def test_retention_and_renewal(store, tmp_path, clock):
    """What was stored too long ago goes when something is stored; storing again renews."""
    old, renewed = store.put(b"old"), store.put(b"renewed")
    clock.now += DAY * 0.6
    store.put(b"renewed")
    clock.now += DAY * 0.6
    store.put(b"new")
    with pytest.raises(UnknownId):
        store.get(old)
    assert store.get(renewed) == b"renewed"
    assert len(files(tmp_path / "home")) == 2


def test_pruning_all_projects(tmp_path, clock):
    """What is due goes, what dead writers left too, and nothing else."""
    home = tmp_path / "home"
    assert prune_artifacts(home, DAY, now=clock.now) == 0
    for project in ("a", "b"):
        store = ArtifactStore(home, project, retention_s=10 * DAY, clock=clock)
        store.put(b"old")
    clock.now += DAY * 2
    store.put(b"young")
    abandoned = files(home)[0].parent / f"{TEMPORARY}dead"
    abandoned.write_bytes(b"half")
    os.utime(abandoned, (clock.now - 7200, clock.now - 7200))
    (home / "artifacts" / "a-file").write_text("not ours")
    assert prune_artifacts(home, DAY, now=clock.now) == 2
    assert [file.read_bytes() for file in files(home)] == [b"young"]
    assert not abandoned.exists()
    assert (home / "artifacts" / "a-file").exists()
