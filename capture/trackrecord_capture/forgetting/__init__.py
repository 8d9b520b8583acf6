"""Forgetting a source, a task or a project: everywhere, in an order that can be interrupted."""
