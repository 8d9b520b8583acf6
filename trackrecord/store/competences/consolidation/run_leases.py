"""The lease of a consolidation run: one run at a time works on a project."""


def run_lease_name(project: str) -> str:
    """Return the name of the lease that a run of a project holds."""
    return f"consolidate:{project}"
