/** @module An AWS stub that returns the test's replies and records the requests. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, beforeEach } from 'vitest';

export interface StubReply {
  readonly status?: number;
  /** JSON; a string is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection ends before or during the response, or the response never starts or never finishes. */
  readonly broken?: 'before' | 'within' | 'silent' | 'stalled';
}

export interface StubRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface AwsStub {
  readonly endpoint: () => string;
  /** The requests of this test, oldest first. */
  readonly requests: readonly StubRequest[];
  /** One reply per request; the last reply is repeated. */
  readonly answer: (...replies: readonly StubReply[]) => void;
  /** Sets the function to call when a reply is missing or stops. */
  readonly onSilence: (noticed: () => void) => void;
}

/** This function is called after a delay, in which the client receives the written part of the response. */
const NOTICED_AFTER_MS = 20;

export const withAwsStub = (): AwsStub => {
  const requests: StubRequest[] = [];
  let replies: readonly StubReply[] = [];
  let port = 0;
  let noticed = (): void => undefined;
  const fallSilent = (): void => void setTimeout(() => noticed(), NOTICED_AFTER_MS);
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    requests.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) });
    const { status = 200, body = {}, headers = {}, broken } = replies[requests.length - 1] ?? replies.at(-1) ?? {};
    if (broken === 'silent') return fallSilent();
    if (broken === 'before') {
      request.socket.destroy();
      return;
    }
    const json = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-length': Buffer.byteLength(json), ...headers });
    if (broken === undefined) response.end(json);
    else response.write(json.slice(0, 1), () => (broken === 'within' ? request.socket.destroy() : fallSilent()));
  });
  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    port = typeof address === 'object' && address ? address.port : 0;
  });
  beforeEach(() => {
    requests.length = 0;
    replies = [];
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return {
    endpoint: () => `http://127.0.0.1:${port}`,
    requests,
    answer: (...given) => {
      requests.length = 0;
      replies = given;
    },
    onSilence: (then) => {
      noticed = then;
    },
  };
};
