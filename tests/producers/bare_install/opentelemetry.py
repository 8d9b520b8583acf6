"""A module in OpenTelemetry's place, which `pip install trackrecord` does not install.

redis-py imports its SDK where there is one, which takes half as long again as redis-py itself.
"""

raise ModuleNotFoundError(name="opentelemetry")
