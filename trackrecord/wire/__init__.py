"""The formats on the stream, and the meaning of one outcome once it is scored."""
