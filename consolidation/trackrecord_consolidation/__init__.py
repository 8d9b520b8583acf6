"""The consolidation: from the episodes that agents report to competence records."""
