# The local host, with simulated providers, for tests of other programs. Other containers reach it by its name:
#   docker build -t payments .
#   docker run --rm -p 127.0.0.1:3000:3000 -e ALLOWED_HOSTS=payments --name payments payments
FROM node:24-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
# The image has Node 24: the packaged one is not needed.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force && rm -rf node_modules/node-linux-*
COPY . .
RUN mkdir /data && chown node /data
USER node
ENV DATA_DIR=/data HOST=0.0.0.0
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=5s --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:3000/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "infra/local/start.ts"]
