"""What benchmarks are compared with: the same work done in the barest way."""
