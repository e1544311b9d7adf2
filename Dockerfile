# Plant Store as an image: docker build -t plant-store .
# The container supports a read-only root (docker run --read-only) and writes only to /data and BACKUP_DIR. See docs/guides/install.md.

ARG NODE_VERSION=26.10.0

FROM node:${NODE_VERSION}-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packaging/node/package.json packaging/node/
# Skips the workspace, which contains another Node version.
RUN npm ci --workspaces=false --ignore-scripts
COPY . .
# The user of the container can read all files, also those of a checkout that only its owner can read.
RUN npm run build && chmod 755 bin/plant-store.js && chmod -R a+rX bin dist docs package.json LICENSE

FROM node:${NODE_VERSION}-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packaging/node/package.json packaging/node/
RUN npm ci --workspaces=false --omit=dev --omit=optional --ignore-scripts

FROM node:${NODE_VERSION}-trixie-slim
LABEL org.opencontainers.image.title="Plant Store" \
      org.opencontainers.image.description="A store of plant records with an HTTP API" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="0.1.0"
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
# Messages name pages by their path.
COPY --from=build /app/docs docs
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/bin/plant-store.js bin/
RUN ln -s /app/bin/plant-store.js /usr/local/bin/plant-store
# A new volume at /data or /backups gets the owner of the folder.
RUN mkdir /data /backups && chown node:node /data /backups
USER node
ENV HOST=0.0.0.0 PORT=3000 DATABASE_URL=sqlite:/data/plants.db
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
# The health check uses plain HTTP. If you set TLS_CERT, replace it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}${process.env.BASE_PATH ?? ''}/readyz`, { signal: AbortSignal.timeout(4000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/usr/local/bin/plant-store"]
CMD ["serve"]
