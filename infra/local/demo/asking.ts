import * as z from 'zod';

/** Where the demo data are made. */
export interface DemoSite {
  /** The host, with its control routes under /_local. */
  readonly baseUrl: string;
  /** The service's routes. */
  readonly serviceUrl: string;
  /** Header of requests that the host serves while others wait. */
  readonly pass: Readonly<Record<string, string>>;
  readonly now: () => number;
  /** Epoch ms, where the clock then stands still; real time by default, which the clock then joins. */
  readonly present?: number;
}

export const OWNER = 'demo-owner';
export const MEMBER = 'demo-member';
export const ADMIN = 'demo-admin';

export interface Asked {
  readonly path: string;
  readonly body?: unknown;
  /** A demo session; none: a guest. */
  readonly by?: string | undefined;
}

const madeSchema = z.object({
  id: z.string(),
  provider_refund_id: z.string().nullish(),
  guest_token: z.string().nullish(),
});
type Made = z.infer<typeof madeSchema>;

/** What the steps of the demo data use: the service's routes, and the simulator where a change begins at the provider. */
export interface Demo {
  /** Creates a record under the key `name`: its id derives from that key, and is the same at every start. */
  create(name: string, asked: Asked): Promise<Made>;
  /** What `create` made under the name. @throws Error for a name that no earlier step made */
  made(name: string): Made;
  /** The ids of all that `create` made, by name. */
  ids(): ReadonlyMap<string, string>;
  post(asked: Asked): Promise<unknown>;
  put(asked: Asked): Promise<unknown>;
  simulate(path: string, body: unknown): Promise<unknown>;
}

/** A part of the demo data, made when the clock shows that time. */
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

/** The answer to a charge that is declined: an expected result here. */
const DECLINED = 402;
/** The answer to a write whose first try reached the table without an answer: a repeat finds it done. */
const CONFLICT = 409;
/** On a busy machine a provider may answer too late. A repeated creation has the same key. */
const TRIES = 3;

/** @throws Error with the answer, where it is neither a success nor a declined charge */
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
