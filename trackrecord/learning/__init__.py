"""The learning rules: pure functions over frozen types, without I/O and without a clock.

Times are seconds since the epoch (float, UTC); whoever needs "now" is handed it.
"""
