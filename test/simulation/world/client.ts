import type { Prng } from '../kernel/prng.ts';
import type { Credential, HistoryExchange, HistoryJson, Person, PlantedSecret } from '../model/history.ts';
import { guestOfToken } from '../model/owners.ts';
import type { Knowledge } from './knowledge.ts';
import type { AskedRequest, WorldKey } from './operation.ts';
import { PEOPLE } from './people.ts';
import type { StageAnswer, WorldStage } from './stage.ts';

/** Sends requests as the people of the world, repeats requests with an unknown outcome, and keeps every exchange. */
export interface Client {
  readonly exchanges: readonly HistoryExchange[];
  readonly canaries: readonly PlantedSecret[];
  signIn(person: Person): Promise<void>;
  /** Keeps the secret of a service key of the world. */
  holdKey(name: WorldKey, secret: string): void;
  /** Sends the request, and repeats it under the same idempotency key while its outcome is unclear. */
  ask(operation: string, asked: AskedRequest, prng: Prng): Promise<HistoryExchange>;
  /** Reads at the end of a run. @throws Error unless the response is 200 */
  look(person: Person, request: Look): Promise<HistoryExchange>;
  plant(what: string): string;
}

export interface Look {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export interface ClientParts {
  readonly stage: WorldStage;
  readonly knowledge: Knowledge;
  /** Makes the planted secrets. */
  readonly prng: Prng;
}

const SESSION_SECONDS = 31_000_000;
const TRIES = 3;

export const createClient = ({ stage, knowledge, prng }: ClientParts): Client => {
  const exchanges: HistoryExchange[] = [];
  const canaries: PlantedSecret[] = [];
  const sessions = new Map<string, string>();
  const keys = new Map<WorldKey, string>();

  const keep = (what: string, value: string): string => {
    canaries.push({ what, value });
    return value;
  };
  const plant = (what: string): string => keep(what, `canary${prng.int(100_000_000, 999_999_999)}x`);

  const open = async (person: Person, organizationId: string | undefined): Promise<void> => {
    const { name, email, userId, kind, staffRole } = person;
    const made = await stage.control({
      method: 'POST',
      path: '/sessions',
      body: {
        ...{ user_id: userId, email, name, is_admin: kind === 'admin', expires_in: SESSION_SECONDS },
        ...(organizationId !== undefined && { organization_id: organizationId }),
        ...(staffRole && { staff_role: staffRole }),
      },
    });
    sessions.set(nameOfSession(person, organizationId), keep('a session', made.body.session_id));
    keep('a bearer token', made.body.token);
  };
  /** Sessions are kept, so a session may name its person's former organization. */
  const credentialOf = async (asked: AskedRequest): Promise<[Credential, Record<string, string>]> => {
    const { person, withoutToken, inOrganization, byKey } = asked;
    const secret = byKey && keys.get(byKey);
    if (byKey !== undefined && secret !== undefined) return credentialByKey(byKey, secret, person);
    const sessionName = nameOfSession(person, inOrganization);
    if (inOrganization !== undefined && !sessions.has(sessionName)) await open(person, inOrganization);
    const session = sessions.get(sessionName);
    if (session !== undefined) return ['session', { 'x-session-id': session }];
    const token = withoutToken ? undefined : knowledge.tokenOf(person.name);
    return token === undefined ? ['none', {}] : ['guest token', { 'x-guest-token': token }];
  };

  const send = async (operation: string, asked: AskedRequest, key: string | undefined): Promise<HistoryExchange> => {
    const { person, method, path, query = {}, body } = asked;
    const [credential, credentialHeaders] = await credentialOf(asked);
    const search = new URLSearchParams(query).toString();
    const sentAt = stage.now();
    const number = exchanges.length;
    const about = {
      ...{ number, operation, person: person.name, credential, method, path, query, sentAt },
      ...guestOf(credentialHeaders['x-guest-token']),
      network: asked.elsewhere ? `${person.name} elsewhere` : person.name,
      sessionOrganizationId: asked.inOrganization,
      sent: body,
      idempotencyKey: key,
    };
    // The exchange is listed when it is sent, so the list is in the order of `number`.
    exchanges.push({ ...about, status: 0, body: undefined, answeredAt: Number.POSITIVE_INFINITY });
    const answer = await stage.request({
      method,
      path: search === '' ? path : `${path}?${search}`,
      headers: {
        ...credentialHeaders,
        ...(asked.asCsv && { accept: 'text/csv' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body && { body }),
      from: addressOf(asked, number),
    });
    const { status, body: received, totalCount } = answer;
    const exchange = { ...about, status, body: received, totalCount, answeredAt: stage.now() };
    exchanges[number] = exchange;
    learn(exchange);
    return exchange;
  };

  const learn = ({ person, method, path, status, body }: HistoryExchange): void => {
    if (status < 200 || status >= 300) return;
    knowledge.learn(person, body);
    if (method === 'DELETE') knowledge.forget(path.split('/').at(-1) ?? '');
    keepSecretsOf(body);
  };
  const keepSecretsOf = (body: HistoryJson): void => {
    if (typeof body?.guest_token === 'string') keep('a guest token', body.guest_token);
  };

  return {
    exchanges,
    canaries,
    plant,
    signIn: (person) => open(person, undefined),
    holdKey: (name, secret) => {
      if (secret === '') keys.delete(name);
      else keys.set(name, keep('the secret of a service key', secret));
    },
    look: async (person, { path, query }) => {
      const asked = { kind: 'request', person, method: 'GET', path, query } as const;
      const seen = await send('look at the end', asked, undefined);
      if (seen.status === 200) return seen;
      throw new Error(`${person.name} reads ${path}: ${seen.status} ${JSON.stringify(seen.body)}`);
    },
    ask: async (operation, asked, chance) => {
      const drawn =
        asked.method === 'POST' && chance.chance(0.7) ? keep('an idempotency key', `key-${plant('a key')}`) : undefined;
      const key = asked.idempotencyKey ?? drawn;
      let exchange = await send(operation, asked, key);
      for (let tries = 1; tries < TRIES && isUnclear(exchange) && chance.chance(0.7); tries += 1) {
        await stage.wait(chance.int(100, 20_000));
        exchange = await send(operation, asked, key);
      }
      return exchange;
    },
  };
};

const credentialByKey = (byKey: WorldKey, secret: string, { userId }: Person): [Credential, Record<string, string>] => {
  const authorization = `Bearer ${secret}`;
  if (byKey === 'merchant') return ['merchant key', { authorization }];
  return [byKey === 'backend' ? 'key' : 'leaked key', { authorization, 'x-act-for': `user:${userId}` }];
};

const nameOfSession = ({ name }: Person, organizationId: string | undefined): string =>
  organizationId === undefined ? name : `${name} in ${organizationId}`;

/** The sender's address. Each person has two networks. Half of the people have IPv6, with a new address per request. */
const addressOf = ({ person, elsewhere = false }: AskedRequest, number: number): string => {
  const network = 2 * PEOPLE.indexOf(person) + Number(elsewhere);
  return PEOPLE.indexOf(person) % 2 === 0 ? `198.51.100.${network + 1}` : `2001:db8:0:${network}::${number + 1}`;
};

const isUnclear = ({ status, body }: StageAnswer): boolean =>
  status === 0 || status >= 500 || (status === 409 && body?.code === 'IDEMPOTENCY_IN_PROGRESS');

const guestOf = (token: string | undefined): Pick<HistoryExchange, 'guestId' | 'guestRecord'> => {
  const claims = guestOfToken(token);
  return { guestId: claims?.guest_id, guestRecord: claims?.record };
};
