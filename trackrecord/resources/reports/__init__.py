"""What came in: runs, their verdicts and outputs, and errors on the way."""
