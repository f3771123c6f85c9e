/**
 * @module A client by an engineer who knows only the interface: fetch, and nothing else of this project but the start of
 * the local host as `npm start` starts it. No Idempotency-Key, no header that the interface does not name.
 */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Host, startHost } from '../../../infra/local/host/host.ts';

/** The test asserts the form of the body. */
type ParsedJson = ReturnType<typeof JSON.parse>;

export interface JsonReply {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; undefined without one. */
  readonly body: ParsedJson;
}

/** The headers of a credential; none without one. */
export type SignedCaller = Readonly<Record<string, string>>;

export interface SignedPerson {
  readonly caller: SignedCaller;
  readonly userId: string;
  readonly email: string;
  readonly token: string;
}

interface SessionFacts {
  readonly user_id?: string;
  readonly email?: string;
  readonly organization_id?: string;
  readonly is_admin?: boolean;
  /** Seconds. */
  readonly expires_in?: number;
}

export const DEMO_OWNER: SignedCaller = { 'X-Session-ID': 'demo-owner' };
export const DEMO_ADMIN: SignedCaller = { 'X-Session-ID': 'demo-admin' };

/** Seconds: sessions last as long as any test moves the clock. */
const YEAR = 31_536_000;
/** Only the time-outs differ from `npm start`, so that a busy machine does not exceed them. */
const PATIENT = { LOG_LEVEL: 'silent', PROVIDER_TIMEOUT_MS: '5000', IDENTITY_TIMEOUT_MS: '4000' };

export type HttpService = ReturnType<typeof service>;

/** One service for all tests of a file. Its functions may be called once the tests run. */
export const service = () => {
  let host: Host | undefined;
  let people = 0;
  beforeAll(async () => {
    host = await startHost({ dataDir: ':memory:', port: 0, env: PATIENT });
  });
  afterAll(async () => {
    await host?.stop();
  });

  const baseUrl = (): string => host?.baseUrl ?? '';
  const send = async (method: string, path: string, { caller = {}, body }: Sent): Promise<JsonReply> => {
    const response = await fetch(`${baseUrl()}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...caller },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  const post = (path: string, body?: unknown, caller?: SignedCaller) => send('POST', path, { body, caller });
  /** A fact of the environment, by the local host's own routes. */
  const local = async (path: string, body?: unknown): Promise<ParsedJson> => {
    const answer = await post(`/_local${path}`, body);
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const email = (): string => {
    people += 1;
    return `person.${people}@example.com`;
  };

  return {
    send,
    get: (path: string, caller?: SignedCaller) => send('GET', path, { caller }),
    post,
    put: (path: string, body?: unknown, caller?: SignedCaller) => send('PUT', path, { body, caller }),
    patch: (path: string, body?: unknown, caller?: SignedCaller) => send('PATCH', path, { body, caller }),
    delete: (path: string, caller?: SignedCaller) => send('DELETE', path, { caller }),
    email,
    /** A user with a session of the identity service. */
    person: async (facts: SessionFacts = {}): Promise<SignedPerson> => {
      const address = facts.email ?? email();
      const { session_id, user_id, token } = await local('/sessions', { expires_in: YEAR, ...facts, email: address });
      return { caller: { 'X-Session-ID': session_id }, userId: user_id, email: address, token };
    },
    settle: () => local('/settle'),
    advance: (seconds: number) => local('/clock', { advance: seconds }),
    /** Seconds of the service's clock. */
    now: async (): Promise<number> => Math.floor(Date.parse((await send('GET', '/_local/clock', {})).body.now) / 1_000),
    local,
  };
};

interface Sent {
  readonly caller?: SignedCaller | undefined;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

/** The record of a response, where the interface leaves open if it is bare or in an envelope. */
export const recordOf = ({ status, body }: JsonReply): ParsedJson => {
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body.data ?? body;
};

/** The ids of a list, in either form. */
export const idsOf = (answer: JsonReply): string[] => recordOf(answer).map(({ id }: { id: string }) => id);

/** The error body of the interface: no field is missing, and nothing stands for success. */
export const expectError = ({ status, body }: JsonReply, expected: number, code?: string): void => {
  expect({ status, body }).toMatchObject({ status: expected, body: { success: false, error: expect.any(String) } });
  if (code !== undefined) expect(body.code).toBe(code);
};

/** ISO 8601 in UTC. */
export const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

/** The signature header of provider_a, by the secret that the local host prints at its start. */
export const signed = (body: string, second: number): SignedCaller => ({
  'Stripe-Signature': `t=${second},v1=${createHmac('sha256', 'whsec_local_provider_a').update(`${second}.${body}`).digest('hex')}`,
});
