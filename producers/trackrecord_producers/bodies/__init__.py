"""The bodies of reports: an agent's values, converted to the wire's types where that is safe."""
