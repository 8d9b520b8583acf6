"""HTTP as the front door speaks it: sockets, bounded bodies, callers, answers and problems."""
