"""Parts of every benchmark: servers, processes, timings, and figures with their bounds."""
