"""OpenTelemetry: from what an exporter posts to spans and log records, and on to agent runs."""
