"""The system of record: tables, migrations, and every read and write of them.

One implementation in SQLAlchemy Core serves SQLite and PostgreSQL. Times are seconds since the
epoch (float, UTC). Sums are commutative, so that the order of delivery never matters.
"""
