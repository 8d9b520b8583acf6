"""What requests for pages carry: queries, lists and forms, read within bounds."""
