/** @module Invariants about acknowledged writes and about lists. */
import { erasuresOf, isErasedBy } from '../model/erasures.ts';
import type { History, HistoryExchange, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { isVisible, recordsOf } from '../model/records.ts';

const CREATES: Readonly<Record<string, keyof ReturnType<typeof recordsOf>>> = {
  '/payments': 'payments',
  '/payments/intents': 'payments',
  '/subscriptions': 'subscriptions',
  '/customers': 'customers',
  '/payment-methods': 'methods',
  '/organizations': 'organizations',
  '/addresses': 'addresses',
};

/**
 * True if a removal may have run, at least in part. A removal may be half done after a conflict, or if a customer is
 * removed while another request moves a subscription to one of the customer's methods.
 */
const mayHaveRun = ({ exchanges }: History, { status, body, sentAt, answeredAt }: HistoryExchange): boolean => {
  if (status < 400 || status >= 500 || body?.code === 'VERSION_CONFLICT') return true;
  const isBeside = (one: HistoryExchange): boolean => one.sentAt < answeredAt && one.answeredAt > sentAt;
  return (
    body?.code === 'PAYMENT_METHOD_IN_USE' &&
    exchanges.some((one) => one.path.startsWith('/subscriptions') && one.method !== 'GET' && isBeside(one))
  );
};

/** True for a 404 of a possibly successful deletion. If the SDK repeats the write, it finds no record. */
const isNoMore = ({ exchanges }: History, { status, person, path }: HistoryExchange): boolean =>
  status === 404 &&
  exchanges.some((one) => {
    const [, record] = created(one) ?? [];
    return one.person === person && record !== undefined && path.endsWith(record.id);
  });

/** True if a deletion, an erasure or an act at the provider may have removed the record. Payments are never deleted. */
const mayBeGone = (history: History, exchange: HistoryExchange, record: HistoryJson): boolean => {
  const ids = [record.id, record.customer_id, record.organization_id].filter((id) => Boolean(id));
  const isDeleted = history.exchanges.some(
    (one) =>
      one.method === 'DELETE' &&
      (mayHaveRun(history, one) || isNoMore(history, one)) &&
      ids.some((id) => one.path.endsWith(id)),
  );
  return isDeleted || isErased(history, exchange, record) || isRemovedThere(history, record);
};

const ERASED_WHOLLY = new Set(['/customers', '/payment-methods', '/addresses']);

/** True if the person made the record for themselves before the end of the erasure. */
const isErased = (history: History, exchange: HistoryExchange, record: HistoryJson): boolean => {
  const { path, person, credential, sent, sentAt } = exchange;
  if (!ERASED_WHOLLY.has(path) || record.organization_id) return false;
  const { userId, email } = history.people.find(({ name }) => name === person) ?? {};
  const owner =
    credential === 'session' || credential === 'key' ? { userId } : { guestEmail: sent?.guest_data?.email ?? email };
  return erasuresOf(history).some((one) => sentAt < one.doneAt && isErasedBy(one, owner));
};

/** True if the method was detached at the provider, or may have been removed after a day without its authentication. */
const isRemovedThere = ({ acts }: History, { id, setup_status, provider_payment_method_id }: HistoryJson): boolean =>
  String(id).startsWith('pmt_') &&
  (setup_status === 'requires_action' ||
    acts.some(
      ({ name, path }) =>
        name === 'remove a method at the provider' && path.split('/').includes(provider_payment_method_id),
    ));

const created = ({ method, path, status, body }: HistoryExchange): [string, HistoryJson] | undefined => {
  const kind = CREATES[path];
  if (method !== 'POST' || status !== 201 || kind === undefined) return undefined;
  return [kind, body?.data ?? body];
};

export const createsAreThere: Oracle = {
  sentence: 'Every acknowledged create exists',
  atRestOnly: false,
  violations: (history) => {
    const records = recordsOf(history);
    const ids = new Map(
      [...new Set(Object.values(CREATES))].map((kind) => [
        kind as string,
        new Set((records[kind] as readonly HistoryItem[]).map(({ id }) => id)),
      ]),
    );
    return history.exchanges.flatMap((exchange) => {
      const [kind = '', record] = created(exchange) ?? [];
      if (record === undefined || ids.get(kind)?.has(record.id)) return [];
      return kind !== 'payments' && mayBeGone(history, exchange, record)
        ? []
        : [`${record.id} of answer ${exchange.number}`];
    });
  },
};

export const noInternalErrors: Oracle = {
  sentence: 'If nothing goes wrong, every request gets a response, and none is an internal error',
  atRestOnly: false,
  violations: ({ isCalm, exchanges }) =>
    exchanges
      .filter(({ status, answeredAt }) => isCalm && (status === 500 || (status === 0 && Number.isFinite(answeredAt))))
      .map(({ number, method, path, status }) => `answer ${number} (${method} ${path}): ${status}`),
};

/** A key is kept for 24 hours, with a tolerance for clock differences. */
const KEY_KEPT_MS = 86_400_000 - 60_000;

export const sameKeySameRecord: Oracle = {
  sentence: 'Requests under one idempotency key create one record',
  atRestOnly: false,
  violations: (history) => {
    const byKey = Map.groupBy(
      history.exchanges.filter(({ idempotencyKey, status }) => idempotencyKey !== undefined && status === 201),
      // A guest with a token and the same guest without a token are two callers.
      ({ person, credential, guestId, path, idempotencyKey }) =>
        [person, credential, guestId, path, idempotencyKey].join(' '),
    );
    return [...byKey.values()].flatMap((all) => {
      const keptUntil = (all[0]?.sentAt ?? 0) + KEY_KEPT_MS;
      const exchanges = all.filter(({ sentAt }) => sentAt < keptUntil);
      const ids = new Set(exchanges.map(({ body }) => body?.data?.id ?? body?.id));
      return ids.size > 1
        ? [`answers ${exchanges.map(({ number }) => number).join(', ')}: ${[...ids].join(', ')}`]
        : [];
    });
  },
};

const TRACKED: Readonly<Record<string, keyof ReturnType<typeof recordsOf>>> = {
  payments: 'payments',
  'payment-methods': 'methods',
  customers: 'customers',
  subscriptions: 'subscriptions',
  addresses: 'addresses',
};

const isListed = (kind: string, item: HistoryItem): boolean => {
  if (kind === 'payments') return isVisible(item);
  if (kind === 'subscriptions') return !['creating', 'declined'].includes(item['status']);
  return true;
};

/** The owner in whose list the record appears. */
const listOf = ({ organizationId, userId }: HistoryItem): string =>
  organizationId === undefined ? `USER#${userId}` : `ORG#${organizationId}`;

export const listsAgree: Oracle = {
  sentence: 'At rest a list shows exactly the records of its owner, and counts them',
  atRestOnly: true,
  violations: (history) => {
    const records = recordsOf(history);
    return (history.audit?.lists ?? []).flatMap(({ kind, owner, ids, total, limit }) => {
      const own = (records[TRACKED[kind] ?? 'payments'] as readonly HistoryItem[]).filter(
        (item) => listOf(item) === owner && isListed(kind, item),
      );
      const wanted = own.map(({ id }) => id).toSorted();
      const shown = ids.toSorted();
      // Only the first page of a long list was read.
      const isPart = ids.length === limit && wanted.length > limit && shown.every((id) => wanted.includes(id));
      return [
        ...(isPart || wanted.join() === shown.join()
          ? []
          : [`${kind} of ${owner}: [${shown.join()}], stored are [${wanted.join()}]`]),
        ...(total === wanted.length ? [] : [`${kind} of ${owner}: total ${total} of ${wanted.length}`]),
      ];
    });
  },
};

/** The minimum number of records proved by the page, and the total stated in the response. */
const countsOf = ({
  body,
  query,
  totalCount,
}: HistoryExchange): readonly [proven: number, total: number] | undefined => {
  const shown = Array.isArray(body) ? body : body?.data;
  const total = totalCount ?? body?.meta?.total ?? body?.meta?.pagination?.total;
  if (!Array.isArray(shown) || total === undefined) return undefined;
  const limit = body.meta?.limit ?? body.meta?.pagination?.pageSize ?? Number(query['limit'] ?? 0);
  const before = Number(query['offset'] ?? (Number(query['page'] ?? 1) - 1) * limit);
  if (shown.length === 0) return [0, total];
  return [before + shown.length + (body.meta?.hasMore === true ? 1 : 0), total];
};

export const totalsCoverPages: Oracle = {
  sentence: 'The total of a list is never below what its page shows',
  atRestOnly: false,
  violations: ({ exchanges }) =>
    exchanges.flatMap((exchange) => {
      const { method, status, number, path } = exchange;
      const [proven = 0, total = 0] = (method === 'GET' && status === 200 && countsOf(exchange)) || [];
      return total >= proven ? [] : [`answer ${number} (${path}): total ${total}, its page proves ${proven}`];
    }),
};

export const oneDefault: Oracle = {
  sentence: 'An owner has at most one default method, and one default address of a type, each of the owner’s own',
  atRestOnly: false,
  violations: (history) => {
    const { methods, addresses } = recordsOf(history);
    const records = new Map([...methods, ...addresses].map((one) => [one['id'], one]));
    const pointers = history.items.filter(({ sk }) => /^DEFAULT#(PM|ADDR)/.test(String(sk)));
    const wrong = pointers.flatMap(({ pk, recordId }) => {
      const record = records.get(recordId);
      const owner = String(pk).slice('OWNER#'.length);
      // A pointer to a removed record counts as no default.
      return record === undefined || ownersOf(record).includes(owner) ? [] : [`${owner} has the default ${recordId}`];
    });
    const shown = history.exchanges.flatMap(({ path, method, status, body, number }) => {
      if (!DEFAULTS.test(path) || method !== 'GET' || status !== 200 || !Array.isArray(body)) return [];
      const defaults = Map.groupBy(body.filter(isDefault), ({ type }: HistoryJson) =>
        path === '/addresses' ? type : 'method',
      );
      return [...defaults.values()]
        .filter(({ length }) => length > 1)
        .map(({ length }) => `answer ${number} shows ${length} defaults`);
    });
    return [...wrong, ...shown];
  },
};

const DEFAULTS = /^\/(payment-methods|addresses)$/;

const isDefault = ({ is_default }: HistoryJson): boolean => is_default === true;

const ownersOf = ({ organizationId, userId, guestId }: HistoryItem): readonly string[] =>
  organizationId === undefined ? [`USER#${userId}`, `GUEST#${guestId}`] : [`ORG#${organizationId}`];
