"""Selection: what a task is compared with, kept beside each record."""
