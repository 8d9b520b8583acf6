"""Sources of advice: runs, decisions about lessons, and exposures."""
