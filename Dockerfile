# The local host. It listens on 127.0.0.1 only, so it needs the network of the machine:
#   docker build -t payments . && docker run --rm --network host -v payments:/data payments
FROM node:24-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
# The image has Node 24: the packaged one is not needed.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force && rm -rf node_modules/node-linux-*
COPY . .
RUN mkdir /data && chown node /data
USER node
ENV DATA_DIR=/data
VOLUME /data
CMD ["node", "infra/local/start.ts"]
