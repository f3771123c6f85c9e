import * as z from 'zod';
import { NotReachable } from './control.ts';

/** The API of an installation, called with a service key. */
export interface Api {
  /** @returns the body of a success, in an envelope. @throws NotReachable with the code and the message of a refusal */
  readonly get: (path: string) => Promise<Envelope>;
  /** @throws NotReachable */
  readonly post: (path: string, body: unknown, idempotencyKey: string) => Promise<Envelope>;
  /** Asks what a request of this payer would do; the route stores nothing. @throws NotReachable */
  readonly ask: (path: string, body: unknown, payer: string) => Promise<Envelope>;
}

const envelopeSchema = z.object({
  data: z.unknown(),
  meta: z.object({ next_cursor: z.string().nullish() }).optional(),
});
type Envelope = z.output<typeof envelopeSchema>;

const refusalSchema = z.object({ code: z.string(), error: z.string(), request_id: z.string() });

/** @param key is sent as Authorization only; no message contains it */
export const openApi = (baseUrl: string, key: string): Api => {
  const send = async (method: 'GET' | 'POST', path: string, more: Sent = {}): Promise<Envelope> => {
    const url = `${baseUrl.replace(/\/$/, '')}${path}`;
    const headers = { ...more.headers, authorization: `Bearer ${key}`, 'x-response-form': 'envelope' };
    const response = await fetch(url, { ...more, method, headers }).catch((error: unknown) => {
      const advice =
        'idempotency-key' in headers ? '; it may have been done, so read the timeline before you repeat it' : '';
      throw new NotReachable(`${method} ${url} has no response${advice}`, { cause: error });
    });
    const text = await response.text();
    if (response.ok) return envelopeSchema.parse(JSON.parse(text));
    throw new NotReachable(describeRefusal(`${method} ${url}`, response.status, text));
  };
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
    send('POST', path, { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return {
    get: (path) => send('GET', path),
    post: (path, body, idempotencyKey) => post(path, body, { 'idempotency-key': idempotencyKey }),
    ask: (path, body, payer) => post(path, body, { 'x-act-for': payer }),
  };
};

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const describeRefusal = (request: string, status: number, text: string): string => {
  const refusal = refusalSchema.safeParse(parsed(text)).data;
  if (!refusal) return `${request}: ${status}`;
  return `${refusal.code}: ${refusal.error} (${request}, request ${refusal.request_id})`;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
