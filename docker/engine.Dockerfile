# The engine: one program; it needs nothing but the C library.

FROM rust:1.95-slim-bookworm AS build
WORKDIR /build/engine
COPY engine/ ./
RUN cargo build --release --locked --package agent --bin benchweb-engine


FROM debian:12-slim
RUN useradd --system --uid 10002 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin engine \
    && install --directory --owner 10002 --group 10002 --mode 0700 /var/lib/benchweb-engine
COPY --from=build /build/engine/target/release/benchweb-engine /usr/local/bin/benchweb-engine
USER 10002:10002
# Control, and test traffic (TCP and UDP).
EXPOSE 7410/tcp 7411/tcp 7411/udp
ENTRYPOINT ["benchweb-engine"]
CMD ["serve", "--listen", "0.0.0.0:7410", "--data-port", "7411", "--state-dir", "/var/lib/benchweb-engine", "--token-file", "/run/secrets/engine_token"]
