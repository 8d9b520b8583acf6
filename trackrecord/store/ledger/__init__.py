"""The ledger: what each report adds to what is counted, and the totals of it."""
