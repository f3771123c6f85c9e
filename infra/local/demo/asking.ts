import * as z from 'zod';

/** The host and service for the demo data. */
export interface DemoSite {
  /** Base URL of the host. Its control routes are under /_local. */
  readonly baseUrl: string;
  /** Base URL of the service's routes. */
  readonly serviceUrl: string;
  /** The header that lets a request through while outside requests wait. */
  readonly pass: Readonly<Record<string, string>>;
  readonly now: () => number;
  /** Epoch ms at which the clock stops after the demo data. By default the clock follows real time. */
  readonly present?: number;
}

export const OWNER = 'demo-owner';
export const MEMBER = 'demo-member';
export const ADMIN = 'demo-admin';

export interface Asked {
  readonly path: string;
  readonly body?: unknown;
  /** A demo session; absent for a guest. */
  readonly by?: string | undefined;
}

const madeSchema = z.object({
  id: z.string(),
  provider_refund_id: z.string().nullish(),
  guest_token: z.string().nullish(),
});
type Made = z.infer<typeof madeSchema>;

/** The operations of a demo step. They call the service, or the simulator for changes that start at the provider. */
export interface Demo {
  /**
   * Creates a record with an idempotency key from `name`. The record's id derives from the key, so the id is the same
   * at every start.
   */
  create(name: string, asked: Asked): Promise<Made>;
  /** The record created under the name. @throws Error if no earlier step created the name */
  made(name: string): Made;
  /** The ids of all created records, by name. */
  ids(): ReadonlyMap<string, string>;
  post(asked: Asked): Promise<unknown>;
  put(asked: Asked): Promise<unknown>;
  simulate(path: string, body: unknown): Promise<unknown>;
}

/** A part of the demo data. It runs when the clock reaches its time. */
export interface DemoStep {
  /** Days before the present. */
  readonly daysAgo: number;
  readonly run: (demo: Demo) => Promise<unknown>;
}

export const openDemo = (site: DemoSite): Demo => {
  const known = new Map<string, Made>();
  return {
    create: async (name, asked) => {
      const answer = await send(site, 'POST', { ...asked, key: `demo-data-${name.padEnd(16, '-')}` });
      const made = madeSchema.parse(enveloped.safeParse(answer).data?.data ?? answer);
      known.set(name, made);
      return made;
    },
    made: (name) => {
      const found = known.get(name);
      if (!found) throw new Error(`no step has made ${name} yet`);
      return found;
    },
    ids: () => new Map([...known].map(([name, { id }]) => [name, id])),
    post: (asked) => send(site, 'POST', asked),
    put: (asked) => send(site, 'PUT', asked),
    simulate: (path, body) => control(site, 'POST', `/simulator${path}`, body),
  };
};

const enveloped = z.object({ success: z.literal(true), data: z.unknown() });

const send = (
  site: DemoSite,
  method: 'POST' | 'PUT',
  { path, body, by, key }: Asked & { readonly key?: string },
): Promise<unknown> =>
  request(`${site.serviceUrl}${path}`, {
    method,
    headers: {
      ...site.pass,
      ...(by !== undefined && { 'x-session-id': by }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: body ?? {},
  });

/** A control route of the host. */
export const control = (
  site: DemoSite,
  ...[method, path, body]: readonly [method: 'POST' | 'DELETE', path: string, body?: unknown]
): Promise<unknown> => request(`${site.baseUrl}/_local${path}`, { method, headers: site.pass, body });

interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The status of a declined charge, which the demo data expect. */
const DECLINED = 402;
/** The status of a retry if the first attempt has changed the record but got no response. */
const CONFLICT = 409;
/**
 * Maximum attempts per request, because a provider may respond too late on a busy machine. Retries of a creation use
 * the same key.
 */
const TRIES = 3;

/** @throws Error with the response if it is neither a success nor a declined charge */
const request = async (url: string, { method, headers, body }: Request): Promise<unknown> => {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok || response.status === DECLINED) return text === '' ? undefined : JSON.parse(text);
    if ((response.status < 500 && response.status !== CONFLICT) || tries === TRIES)
      throw new Error(`${method} ${url}: ${response.status} ${text}`);
  }
};
