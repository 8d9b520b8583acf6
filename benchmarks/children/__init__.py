"""Programs that a benchmark runs in processes of their own."""
