"""The benchmark: rates of a process, and the gate."""
