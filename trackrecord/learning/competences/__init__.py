"""Competence records: from episodes to records, selection and revision."""
