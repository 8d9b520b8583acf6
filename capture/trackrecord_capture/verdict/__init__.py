"""The verdict on a run: whether it succeeded, by what was seen and by nothing else."""
