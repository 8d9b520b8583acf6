"""What follows from the record: effects, benchmarks, explanations, the course of time."""
