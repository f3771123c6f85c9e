import type { History, HistoryExchange, HistoryJson } from './history.ts';
import { recordsOf } from './records.ts';

/**
 * The members of an organization and their roles, as far as the responses show. A change with a lost response may or
 * may not have happened, so each function checks what was possible at some moment between two times.
 */
export interface ModelStanding {
  /** The roles that the user may have had. Times are epoch ms. */
  rolesBetween(
    user: { readonly userId: string; readonly organizationId: string },
    from: number,
    to: number,
  ): ReadonlySet<string>;
  /** True if the user was surely a member the whole time. */
  isMemberThroughout(
    user: { readonly userId: string; readonly organizationId: string },
    from: number,
    to: number,
  ): boolean;
}

/** A function may still run for this long after its caller is gone. */
const LONGEST_CALL_MS = 120_000;

interface Change {
  readonly organizationId: string;
  /** The affected member; undefined for every member. */
  readonly userId: string | undefined;
  /** The new role; undefined if the membership ends. */
  readonly role: string | undefined;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** True if the response confirms the change. */
  readonly isSure: boolean;
}

const MANAGERS = ['owner', 'admin', 'billing'];

export const modelStanding = (history: History): ModelStanding => {
  const { userOf, founders } = membersOf(history);
  const users = history.people.filter(({ userId }) => userId !== '');
  const emails = new Map(users.map(({ email, userId }) => [email, userId]));
  const changes = [
    ...foundings(history, founders),
    ...history.exchanges.flatMap((exchange) => changesBy(exchange, { userOf, founders, emails })),
  ];
  const byOrganization = Map.groupBy(changes, ({ organizationId }) => organizationId);
  const changesOf = ({ userId, organizationId }: Pick<Change, 'userId' | 'organizationId'>): readonly Change[] =>
    (byOrganization.get(organizationId) ?? []).filter((one) => one.userId === undefined || one.userId === userId);
  return {
    isMemberThroughout: (user, from, to) => {
      const own = changesOf(user);
      const ends = own.filter(({ role, sentAt }) => role === undefined && sentAt <= to);
      return own
        .filter(({ role, isSure, answeredAt }) => role !== undefined && isSure && answeredAt <= from)
        .some((joined) => ends.every((end) => settledAt(end) < joined.sentAt));
    },
    rolesBetween: (user, from, to) => {
      const own = changesOf(user);
      const roles = own.filter((one) => one.role !== undefined && one.sentAt <= to && !isOverBefore(one, own, from));
      return new Set(roles.map(({ role }) => role ?? ''));
    },
  };
};

/**
 * The owner counts as a member from the start of the run, because the response to the organization's creation can be
 * lost.
 */
const foundings = ({ startedAt }: History, founders: ReadonlyMap<string, string>): readonly Change[] =>
  [...founders].map(([organizationId, userId]) => ({
    ...{ organizationId, userId, role: 'owner' },
    ...{ sentAt: startedAt, answeredAt: startedAt, isSure: true },
  }));

export const mayManage = (roles: ReadonlySet<string>): boolean => MANAGERS.some((role) => roles.has(role));

/** True if a later change was confirmed before that time. */
const isOverBefore = (change: Change, all: readonly Change[], time: number): boolean => {
  const settled = settledAt(change);
  return all.some((other) => other !== change && other.isSure && other.sentAt >= settled && other.answeredAt < time);
};

const settledAt = ({ isSure, answeredAt, sentAt }: Change): number => (isSure ? answeredAt : sentAt + LONGEST_CALL_MS);

interface Names {
  readonly userOf: ReadonlyMap<string, string>;
  /** The owner of each organization, who never changes. */
  readonly founders: ReadonlyMap<string, string>;
  readonly emails: ReadonlyMap<string, string>;
}

const ROUTE = /^\/organizations(?:\/([^/]+))?(?:\/(members|leave))?(?:\/([^/]+))?$/;

const changesBy = (exchange: HistoryExchange, names: Names): Change[] => {
  const [match, organizationId = '', tail, memberId] = ROUTE.exec(exchange.path) ?? [];
  if (match === undefined || exchange.method === 'GET') return [];
  const isDone = exchange.status >= 200 && exchange.status < 300;
  const isGone = exchange.method === 'DELETE' && exchange.status === 404;
  const isRefused = exchange.status >= 400 && exchange.status < 500 && !isGone;
  if (isRefused) return [];
  const { sentAt, answeredAt } = exchange;
  const change = changed(exchange, names, { organizationId, tail, memberId });
  return change === undefined ? [] : [{ organizationId, sentAt, answeredAt, isSure: isDone || isGone, ...change }];
};

interface Route {
  readonly organizationId: string;
  readonly tail: string | undefined;
  readonly memberId: string | undefined;
}

type Changed = Pick<Change, 'userId' | 'role'> & { readonly organizationId?: string };

const changed = (exchange: HistoryExchange, names: Names, route: Route): Changed | undefined => {
  const { method, sent, body } = exchange;
  const { tail, memberId, organizationId } = route;
  if (organizationId === '') return created(body);
  const caller = userOfPerson(exchange, names);
  if (tail === 'leave') return { userId: caller, role: undefined };
  // Only the owner assigns and removes roles, and never assigns the owner's role. But a 404 shows to
  // any caller that the record is gone.
  const isLawful = (names.founders.get(organizationId) ?? caller) === caller && sent?.role !== 'owner';
  if (!isLawful && exchange.status !== 404) return undefined;
  if (tail === 'members' && memberId === undefined)
    return { userId: names.emails.get(sent?.email) ?? '', role: sent?.role };
  if (tail === 'members') {
    return { userId: names.userOf.get(memberId ?? '') ?? '', role: method === 'DELETE' ? undefined : sent?.role };
  }
  return method === 'DELETE' ? { userId: undefined, role: undefined } : undefined;
};

const created = (body: HistoryJson): Changed | undefined =>
  body?.data?.id && { organizationId: body.data.id, userId: body.data.owner_user_id, role: 'owner' };

const userOfPerson = ({ person }: HistoryExchange, { emails }: Names): string =>
  [...emails].find(([email]) => email.startsWith(`${person}@`))?.[1] ?? '';

/** The user of each membership id, and the owner of each organization, that a response or the table shows. */
const membersOf = (history: History): Pick<Names, 'userOf' | 'founders'> => {
  const userOf = new Map<string, string>();
  const founders = new Map<string, string>();
  const { members, organizations } = recordsOf(history);
  for (const { id, userId } of members) userOf.set(id, userId);
  const walk = (value: HistoryJson): void => {
    if (typeof value !== 'object' || value === null) return;
    const { id, user_id, owner_user_id } = value;
    if (typeof id === 'string' && id.startsWith('mem_') && user_id) userOf.set(id, user_id);
    if (typeof id === 'string' && id.startsWith('org_') && owner_user_id && !founders.has(id))
      founders.set(id, owner_user_id);
    for (const each of Object.values(value)) walk(each);
  };
  for (const { path, body } of history.exchanges) if (path.startsWith('/organizations')) walk(body);
  for (const { id, ownerUserId } of organizations) founders.set(id, ownerUserId);
  return { userOf, founders };
};
