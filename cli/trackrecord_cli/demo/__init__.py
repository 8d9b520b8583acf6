"""The demo: a simulated fleet with a planted truth, through the real servers."""
