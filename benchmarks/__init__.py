"""The figures that the product promises, each measured beside a baseline in the same run."""
