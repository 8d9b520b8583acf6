"""Episodes: what one run of a procedure says of it, and the sums over many."""
