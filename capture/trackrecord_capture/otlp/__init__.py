"""OpenTelemetry: turns posted bodies into spans and log records, and these into agent runs."""
