"""Input of benchmarks: outcomes, documents, outputs, traces and transcripts."""
