"""Whether the loop is alive and who may use it: status, dead letters, tokens, news."""
