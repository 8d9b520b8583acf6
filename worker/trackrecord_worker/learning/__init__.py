"""Learning from the stream: read a batch, take in each kind of entry, acknowledge."""
