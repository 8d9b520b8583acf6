"""Live reports of coding agents: what their hooks leave is read, and what they ask is answered."""
