# Two stages: the second has no compiler, no development packages and no right to write but in /data.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY migrations migrations
COPY build build
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json \
 && node build/program.ts \
 && npm prune --omit=dev --ignore-scripts \
 && rm -rf node_modules/better-sqlite3/deps node_modules/better-sqlite3/src

FROM node:24-slim
# One memory arena for all threads: a backfill needs 35 MB less, and no more time.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=1 \
    INDICATOR_SYNC_DATABASE=/data/indicator-sync.db
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json CHANGELOG.md LICENSE ./
COPY jobs jobs
COPY src/cli/bin.js src/cli/bin.js
RUN ln -s /app/src/cli/bin.js /usr/local/bin/indicator-sync \
 && install -d -o node -g node /data
# The user `node` of the image, by number, so that a host can see that it is not root.
USER 1000
WORKDIR /data
VOLUME /data
STOPSIGNAL SIGTERM
# Quick whatever the size of the database: that it can be opened, and has a schema that this version knows.
HEALTHCHECK --interval=5m --timeout=30s --start-period=30s CMD ["indicator-sync", "migrate", "--list"]
ENTRYPOINT ["indicator-sync"]
CMD ["--help"]
