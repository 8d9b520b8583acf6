"""What benchmarks run on: servers, processes, timings, and figures with their bounds."""
