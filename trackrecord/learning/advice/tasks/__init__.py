"""Tasks: which of them are alike, by the words that they share."""
