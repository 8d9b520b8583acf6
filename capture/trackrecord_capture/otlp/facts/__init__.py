"""The few facts of a span or an event that a run is made of, in whichever vocabulary it speaks."""
