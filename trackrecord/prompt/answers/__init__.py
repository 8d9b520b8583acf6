"""From chosen entries to the answers of `rankings()` and `context()`; no I/O."""
