"""Writing a batch of outcomes to every subject, and rebuilding from it."""
