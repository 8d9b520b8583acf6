"""What a worker tidies up once a night."""

from trackrecord.artifacts.store import ArtifactStore
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_worker.jobs import forget_artifacts


def _stored(settings: Settings) -> ArtifactStore:
    store = ArtifactStore(
        settings.home, "shop", retention_s=10**9, clock=lambda: 1_000_000.0
    )  # fmt: skip
    store.put(b"old")
    return store


def test_artifacts_whose_time_is_over_go(home):
    """By the setting's retention time."""
    settings = load_settings(home=home)
    store = _stored(settings)
    retention_s = settings.artifacts.retention_s
    forget_artifacts(settings, now=1_000_000.0 + retention_s - 1)
    assert len(store.entries()) == 1
    forget_artifacts(settings, now=1_000_000.0 + retention_s)
    assert store.entries() == []
