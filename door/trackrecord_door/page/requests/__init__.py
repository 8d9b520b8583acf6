"""Contents of requests for pages: queries, lists and forms, read within bounds."""
