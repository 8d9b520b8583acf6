"""The Model Context Protocol, over HTTP and over stdio."""
