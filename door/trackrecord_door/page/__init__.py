"""The page: a browser's view of the store, rendered on the server."""
