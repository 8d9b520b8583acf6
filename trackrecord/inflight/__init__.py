"""Tasks in flight: the errors that attempts at them met, and the attempts that failed.

Kept in Redis, so that whoever tries next, in whichever process, knows at once. One hash for each
task, one index for each project; both leave Redis by themselves a retention time after their last
news. Needs neither Celery nor SQLAlchemy.
"""
