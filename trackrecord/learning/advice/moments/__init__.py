"""Facts for the moment of a failure: lines that run, known failures, files elsewhere."""
