"""The learning rules: pure functions over frozen types, without I/O and without a clock.

Times are seconds since the epoch (float, UTC); the current time is always an argument.
"""
