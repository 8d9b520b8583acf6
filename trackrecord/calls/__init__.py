"""The Python calls that read or change the store, as the command line does.

They raise, unlike publishing: whoever asks waits for the answer. They import what they need when
they are called, so that an event loop can import them at no cost.
"""
