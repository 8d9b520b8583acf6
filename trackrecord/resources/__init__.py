"""Resources: each question about what is on record, and each change of it, declared once."""
