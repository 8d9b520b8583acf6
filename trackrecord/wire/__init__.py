"""What travels on the stream, and what one outcome means once it is scored."""
