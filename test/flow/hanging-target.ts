import { createServer, type ServerResponse } from 'node:http';

/** A target that does not respond until the test releases it. It records the customer of each event. */
export type HangingTarget = Awaited<ReturnType<typeof openHangingTarget>>;

export const openHangingTarget = async (port: number) => {
  const waiting = new Set<ServerResponse>();
  const received: string[] = [];
  let hangs = true;
  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    received.push(JSON.parse(Buffer.concat(chunks).toString()).data.customer_id);
    if (hangs) waiting.add(response);
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    received: () => received,
    waiting: () => waiting.size,
    answerAll: (): void => {
      hangs = false;
      for (const response of waiting) response.end();
      waiting.clear();
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
