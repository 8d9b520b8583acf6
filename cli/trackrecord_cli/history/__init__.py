"""Importing the recorded sessions of coding agents, and the page that it ends with."""
