import type { Key } from '../../shared/table/keys.ts';
import type { Ask, Service } from './service.ts';

/** A row's request, with everything before it done. */
export interface Prepared {
  readonly ask: Ask;
  readonly status: number;
  /** Asked just before, unmeasured, so that the session is cached; by default the caller's list. */
  readonly warm?: Ask;
  /** What the request stores, where its size counts. */
  readonly stores?: Key;
}

export type Scenario = (service: Service) => Promise<Prepared>;

export type Fields = Readonly<Record<string, unknown>>;

const DAY = 86_400;

export interface Person {
  readonly userId: string;
  readonly headers: Readonly<Record<string, string>>;
}

let people = 0;
/** Apart from all others. */
export const next = (): number => {
  people += 1;
  return people;
};

export const person = async (service: Service): Promise<Person> => {
  const session = await service.control('/sessions', { email: `jane.doe.${next()}@example.com`, expires_in: 30 * DAY });
  return { userId: session.user_id, headers: { 'x-session-id': session.session_id } };
};

export const post = (path: string, { headers }: Pick<Person, 'headers'>, body: unknown = {}): Ask => ({
  method: 'POST',
  path,
  body,
  headers,
});
export const read = (path: string, { headers }: Pick<Person, 'headers'>): Ask => ({ method: 'GET', path, headers });
export const withKey = (ask: Ask, key: string): Ask => ({
  ...ask,
  headers: { ...ask.headers, 'idempotency-key': key },
});
export const listOf = (who: Pick<Person, 'headers'>): Ask => read('/payments?limit=1', who);

/** The request, its caller's session cached. */
export const warmed = (who: Person, ask: Ask, status = 200): Prepared => ({ ask, status, warm: listOf(who) });
