import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { NotReachable } from './control.ts';

/** The API of an installation, called with a service key. */
export interface Api {
  /** @returns the body of a success, in an envelope. @throws ApiRefusal with the code and the message; NotReachable */
  readonly get: (path: string) => Promise<Envelope>;
  /** Sends the call once, with a new Idempotency-Key. @throws ApiRefusal; NotReachable */
  readonly post: (path: string, body: unknown) => Promise<Envelope>;
  /**
   * Posts a preview request on behalf of the payer, such as `user:<id>`. The route stores nothing. @throws ApiRefusal;
   * NotReachable
   */
  readonly ask: (path: string, body: unknown, payer: string) => Promise<Envelope>;
}

const envelopeSchema = z.object({
  data: z.unknown(),
  meta: z.object({ next_cursor: z.string().nullish() }).optional(),
});
type Envelope = z.output<typeof envelopeSchema>;

const refusalSchema = z.object({
  code: z.string(),
  error: z.string(),
  request_id: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});
type Refusal = z.output<typeof refusalSchema>;

/** A refusal by the API. */
export class ApiRefusal extends NotReachable {
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(request: string, { code, error, request_id: id, details = {} }: Refusal) {
    super(`${code}: ${error} (${request}, request ${id})`);
    this.code = code;
    this.details = details;
  }
}

/** @param key sent only as Authorization; no message contains it */
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
    const refusal = refusalSchema.safeParse(parsed(text)).data;
    if (refusal) throw new ApiRefusal(`${method} ${url}`, refusal);
    throw new NotReachable(`${method} ${url}: ${response.status}`);
  };
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
    send('POST', path, { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return {
    get: (path) => send('GET', path),
    post: (path, body) => post(path, body, { 'idempotency-key': randomUUID() }),
    ask: (path, body, payer) => post(path, body, { 'x-act-for': payer }),
  };
};

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
