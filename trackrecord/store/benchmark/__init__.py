"""The benchmark's rates on record."""
