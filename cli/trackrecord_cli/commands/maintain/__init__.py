"""Commands that run and maintain the servers and the store."""
