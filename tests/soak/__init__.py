"""Hours of faults in minutes: real processes, killed and starved, beside a model of what must hold.

`make soak` runs it. Nothing here is collected by pytest.
"""
