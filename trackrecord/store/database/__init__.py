"""What every table needs: the engine, migrations, bulk inserts, locks."""
