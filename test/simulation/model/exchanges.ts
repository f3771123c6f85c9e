/** @module Lookups in requests and responses for several invariants. */
import type { History, HistoryExchange } from './history.ts';

/** The maximum difference between an instance's clock and the true time. */
export const SKEW_MS = 2_500;

/** A function may still run for this long after its caller is gone, with the rights from its start. */
export const UNDER_WAY_MS = 45_000;

export const isCarriedOut = ({ status }: Pick<HistoryExchange, 'status'>): boolean => status >= 200 && status < 300;

/**
 * The organization named in the request for a new record or a list, else the session's organization. Null, an empty
 * string, and a list of methods without an organization mean a personal request. The log always belongs to the
 * session's organization.
 */
export const organizationAsked = ({
  method,
  path,
  query,
  sent,
  sessionOrganizationId,
}: HistoryExchange): string | undefined => {
  if (path === '/webhooks/logs') return sessionOrganizationId;
  const named: string | null | undefined = method === 'GET' ? query['organization_id'] : sent?.organization_id;
  if (named !== undefined) return named || undefined;
  return method === 'GET' && path === '/payment-methods' ? undefined : sessionOrganizationId;
};

const kept = new WeakMap<History['exchanges'], ReadonlyMap<string, HistoryExchange>>();

/**
 * The first request with the same key. A repeated request gets the response of this first request, even after later
 * changes.
 */
export const firstUnderKey = (
  { exchanges }: Pick<History, 'exchanges'>,
  exchange: HistoryExchange,
): HistoryExchange => {
  if (exchange.idempotencyKey === undefined) return exchange;
  const firsts = kept.get(exchanges) ?? new Map(exchanges.toReversed().map((one) => [keyOf(one), one]));
  kept.set(exchanges, firsts);
  return firsts.get(keyOf(exchange)) ?? exchange;
};

/** Without a token, a guest is identified by the e-mail address alone. */
const keyOf = ({ person, path, idempotencyKey, sent }: HistoryExchange): string =>
  `${sent?.guest_data?.email ?? person} ${path} ${idempotencyKey}`;

/**
 * The earlier requests with the same key and body, which may have created the record. This includes a request that
 * found its own write because the SDK repeated the write.
 */
export const earlierUnderKey = (
  { exchanges }: Pick<History, 'exchanges'>,
  exchange: HistoryExchange,
): readonly HistoryExchange[] => {
  if (exchange.idempotencyKey === undefined) return [];
  const [key, body] = [keyOf(exchange), JSON.stringify(exchange.sent)];
  return exchanges
    .filter((one) => one.number < exchange.number && keyOf(one) === key)
    .filter(({ sent, status }) => JSON.stringify(sent) === body && (status < 400 || status === 409 || status >= 500));
};

/** The methods that are attached to a customer at their provider, as `provider_a pm_1`. */
export const attachedMethods = ({ ledger }: Pick<History, 'ledger'>): ReadonlySet<string> =>
  new Set(
    ledger.payment_methods.filter(({ customer }) => customer !== null).map(({ provider, id }) => `${provider} ${id}`),
  );
