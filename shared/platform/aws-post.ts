import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** POST requests over connections that stay open for the next request. */
export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The longest silence of the connection, which includes its opening. */
  readonly timeoutMs: number;
}

const KEPT_OPEN = { keepAlive: true, maxSockets: 50 } as const;
const SECURE = { send: httpsRequest, agent: /* @__PURE__ */ new HttpsAgent(KEPT_OPEN) };
const PLAIN = { send: httpRequest, agent: /* @__PURE__ */ new HttpAgent(KEPT_OPEN) };

/** @throws TimeoutError, or the error of the connection */
export type SendPost = (request: PostRequest) => Promise<HttpReply>;

export const sendPost: SendPost = ({ url, headers, body, timeoutMs }) =>
  new Promise((resolve, reject) => {
    const { send, agent } = url.protocol === 'https:' ? SECURE : PLAIN;
    const request = send(url, { method: 'POST', headers, agent, timeout: timeoutMs }, (reply) => {
      const parts: Buffer[] = [];
      reply.on('data', (part: Buffer) => parts.push(part));
      reply.on('error', reject);
      reply.on('end', () =>
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(parts) }),
      );
    });
    request.on('timeout', () =>
      request.destroy(Object.assign(new Error(`no answer in ${timeoutMs} ms`), { name: 'TimeoutError' })),
    );
    request.on('error', reject);
    request.end(body);
  });
