"""What advice is made of: runs, decisions about lessons, and exposures."""
