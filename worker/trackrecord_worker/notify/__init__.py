"""Notifications: send news to a webhook and a command, at least once each.

A task of the worker looks for news and puts each piece of it into an outbox in Redis. The process
of beat, which learns nothing, tells what is in there: nothing that hangs keeps a worker waiting.
"""
