"""The front door: the HTTP server on loopback that agents, tracers and people talk to."""
