"""`trackrecord up`: starts Redis and the other processes, and ends with all of them."""
