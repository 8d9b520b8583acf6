"""What benchmarks are run with: outcomes, documents, outputs, traces and transcripts."""
