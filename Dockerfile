# The local host. It listens on 127.0.0.1 only, so it needs the network of the machine:
#   docker build -t payments . && docker run --rm --network host -v payments:/data payments
FROM node:24-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
# No scripts: they would install a second Node, and the browser of the tests.
RUN npm ci --ignore-scripts && npm cache clean --force
COPY . .
RUN mkdir /data && chown node /data
USER node
ENV DATA_DIR=/data
VOLUME /data
CMD ["node", "infra/local/start.ts"]
