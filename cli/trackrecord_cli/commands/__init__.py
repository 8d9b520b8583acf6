"""One module for each command, or group of commands; imported when it is called.

A new one is listed in `main`, where those that their resource declares whole are, too.
"""
