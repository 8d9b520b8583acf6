"""Live reports of coding agents: read what their hooks leave, and answer their questions."""
