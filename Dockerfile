# One image for the worker, beat, the HTTP server and the command line. Redis and PostgreSQL have their own images:
# see docker-compose.yml and docs/running.md.

# The Python version that the tests run on.
FROM python:3.11-slim AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_CONSTRAINT=/src/constraints.txt

WORKDIR /src
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY trackrecord trackrecord
COPY producers producers
COPY worker worker
COPY consolidation consolidation
COPY capture capture
COPY door door
COPY cli cli

# The virtual environment is copied below. It needs neither `dev` nor `embedded`: Redis has its own container.
RUN python -m venv /opt/trackrecord \
    && /opt/trackrecord/bin/pip install ".[worker,postgres]"


FROM python:3.11-slim

# Nothing in this image needs root. Named volumes inherit the folder's owner.
RUN useradd --uid 10001 --create-home --home-dir /var/lib/trackrecord trackrecord

COPY --from=build /opt/trackrecord /opt/trackrecord

ENV PATH=/opt/trackrecord/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TRACKRECORD_HOME=/var/lib/trackrecord \
    TRACKRECORD_TRUSTED_FOLDERS='["/var/lib/trackrecord"]'

USER trackrecord
# A trackrecord.toml mounted here is read in full, because TRACKRECORD_TRUSTED_FOLDERS names this folder.
WORKDIR /var/lib/trackrecord

CMD ["trackrecord", "--help"]
