/** @module Invariants about events on the bus and at the webhook targets. */
import { erasuresOf } from '../model/erasures.ts';
import { SKEW_MS } from '../model/exchanges.ts';
import type { History, HistoryDelivery, HistoryEvent, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { at, isVisible, recordsOf } from '../model/records.ts';

export const canonical = ({ bus }: Pick<History, 'bus'>): readonly HistoryEvent[] =>
  bus.filter(({ source }) => source === 'payments');

/** An id is `record:version:event`. */
export const partsOf = ({ detail }: HistoryEvent) => {
  const [record = '', version = '', name = ''] = String(detail.id).split(':');
  return { record, version: Number(version), name };
};

/** True if a guest repeats a create after an erasure. The guest is new, but the key gives the customer the same id. */
const isMadeAgain = (history: History, event: string, text: string): boolean =>
  event.endsWith('customer.created') && isAboutErased(history, text);

/** Omits billing addresses, because an address may change before its event is published again. */
const withoutAddress = (field: string, value: unknown): unknown => (field === 'billing_address' ? undefined : value);

export const oneBodyPerId: Oracle = {
  sentence: 'An event that is published twice has the same id and the same content',
  atRestOnly: false,
  violations: (history) => {
    const known = new Map<string, string>();
    return canonical(history).flatMap(({ detail }) => {
      const body = JSON.stringify(detail.payload, withoutAddress);
      const before = known.get(detail.id) ?? body;
      known.set(detail.id, before);
      return before === body || isMadeAgain(history, detail.id, body)
        ? []
        : [`${detail.id} was published as ${before} and as ${body}`];
    });
  },
};

const OUTCOMES: Readonly<Record<string, string>> = {
  succeeded: 'payment.succeeded',
  failed: 'payment.failed',
  requires_capture: 'payment.authorized',
};

/** The event of a payment's version, if it has one. A cancellation has an event only if the amount was held. */
const nameOf = (version: HistoryItem, before: HistoryItem | undefined): string | undefined => {
  const { cause, status } = version;
  // A released claim restores an already published status.
  if (cause === 'release') return undefined;
  if (status === 'canceled' && before?.['status'] === 'requires_capture') return 'payment.released';
  // A billing provider reports each failed attempt to collect an invoice.
  const isNew = before?.['status'] !== status || failsAgain(before, version);
  return isNew ? OUTCOMES[status] : undefined;
};

/** The events expected for a payment's versions. A first charge is published with its outcome, under that version. */
const expectedOf = (id: string, versions: readonly HistoryItem[]): readonly string[] => {
  const outcomes = versions.flatMap((version, index) => {
    const name = nameOf(version, versions[index - 1]);
    return name ? [`${id}:${Number(String(version['sk']).split('#')[1])}:${name}`] : [];
  });
  return [`${id}:*:payment.created`, ...outcomes].toSorted();
};

const failsAgain = (before: HistoryItem | undefined, after: HistoryItem): boolean =>
  after['status'] === 'failed' && before?.['attempt'] < after['attempt'];

/** The event under the first version with its outcome. A first charge may be published under a later version. */
const atItsOutcome = (event: string, versions: readonly HistoryItem[]): string => {
  const [id, version, name] = event.split(':');
  let at = versions.findIndex(({ sk }) => Number(String(sk).split('#')[1]) === Number(version));
  while (at > 0 && isSameOutcome(versions[at - 1], versions[at])) at -= 1;
  const first = versions[at];
  return first ? [id, Number(String(first['sk']).split('#')[1]), name].join(':') : event;
};

const isSameOutcome = (one: HistoryItem | undefined, other: HistoryItem | undefined): boolean =>
  one?.['status'] === other?.['status'] && one?.['attempt'] === other?.['attempt'];

const withoutVersionOfCreation = (id: string): string => id.replace(/:\d+:payment\.created$/, ':*:payment.created');

export const eventsOnce: Oracle = {
  sentence: 'At rest every change of a payment has its event, and every event its change',
  atRestOnly: true,
  violations: (history) => {
    const { payments, versionsOf } = recordsOf(history);
    const ids = new Set(canonical(history).map(({ detail }) => String(detail.id)));
    const published = Map.groupBy(
      [...ids].filter((id) => /:payment\.(created|authorized|released|succeeded|failed)$/.test(id)),
      (id) => id.split(':')[0] ?? '',
    );
    return payments.filter(isVisible).flatMap(({ id }) => {
      const wanted = expectedOf(id, versionsOf(id));
      const found = (published.get(id) ?? [])
        .map((event) => atItsOutcome(event, versionsOf(id)))
        .map(withoutVersionOfCreation)
        .toSorted();
      if (wanted.join() === found.join()) return [];
      return [`${id} has the changes [${wanted.join()}] and the events [${found.join()}]`];
    });
  },
};

const nameAt = ({ headers }: HistoryDelivery): string => headers['webhook-event'] ?? '';

/** The fields removable by an erasure from undelivered events, such as card and bank data. */
const PERSONAL = new Set([
  ...['email', 'name', 'last_four', 'country', 'fingerprint', 'bank_name'],
  ...['reference_code', 'metadata', 'billing_address'],
]);
const withoutPerson = (payload: HistoryJson): string =>
  JSON.stringify(payload, (field, value) => (PERSONAL.has(field) ? undefined : value));

/** True if the text names an erased person. */
const isAboutErased = (history: History, text: string): boolean =>
  erasuresOf(history).some(({ userId, email }) =>
    [userId, email].some((word) => word !== undefined && text.includes(`"${word}"`)),
  );

export const eventsDelivered: Oracle = {
  sentence: 'At rest every event has reached the webhook target',
  atRestOnly: true,
  violations: (history) => {
    const lines = (write: (payload: HistoryJson) => string): ReadonlySet<string> =>
      new Set(history.deliveries.map((one) => `${nameAt(one)} ${write(one.body)}`));
    const [whole, blanked] = [lines((payload) => JSON.stringify(payload)), lines(withoutPerson)];
    const missing = canonical(history).filter((event) => {
      const { payload } = event.detail;
      const text = JSON.stringify(payload);
      if (whole.has(`${event['detail-type']} ${text}`)) return false;
      return !(isAboutErased(history, text) && blanked.has(`${event['detail-type']} ${withoutPerson(payload)}`));
    });
    return [...new Set(missing.map(({ detail }) => detail.id))].map((id) => `${id} never reached the target`);
  },
};

/** An erasure removes the person from repeated webhooks. A provider's event may not name its person. */
const differsByErasure = (history: History, delivery: HistoryDelivery, before: string): boolean => {
  const text = before.slice(nameAt(delivery).length + 1);
  const body: HistoryJson = JSON.parse(text);
  if (nameAt(delivery).includes(':')) {
    const emails = erasuresOf(history).flatMap(({ email }) => email ?? []);
    return erasuresOf(history).length > 0 && isBlanked(body, delivery.body, emails);
  }
  return (
    isMadeAgain(history, nameAt(delivery), text) ||
    (isAboutErased(history, text) && withoutPerson(delivery.body) === withoutPerson(body))
  );
};

/**
 * True if two copies of an event differ only in the billing address. The address may have changed between the copies.
 */
const differsByAddress = (delivery: HistoryDelivery, before: string): boolean => {
  const earlier: HistoryJson = JSON.parse(before.slice(nameAt(delivery).length + 1));
  return JSON.stringify(delivery.body, withoutAddress) === JSON.stringify(earlier, withoutAddress);
};

/** True if the later content is the earlier content or a part of it, with erased e-mail addresses replaced. */
const isBlanked = (before: HistoryJson, after: HistoryJson, emails: readonly string[]): boolean => {
  if (after === null || before === after) return true;
  if (typeof before === 'string') return emails.some((email) => before.replaceAll(email, '[erased]') === after);
  if (typeof before !== 'object' || typeof after !== 'object' || before === null) return false;
  return Object.entries(after).every(([name, value]) => isBlanked(before[name], value, emails));
};

export const deliveriesKeepTheirId: Oracle = {
  sentence: 'A webhook that is sent again keeps its id and its content',
  atRestOnly: false,
  violations: (history) => {
    const { deliveries, bus } = history;
    const bodies = new Map<string, string>();
    const ids = new Map<string, Set<string>>();
    const changed = deliveries.flatMap((delivery) => {
      const id = delivery.headers['webhook-id'] ?? '';
      const line = `${nameAt(delivery)} ${delivery.raw}`;
      const before = bodies.get(id) ?? line;
      bodies.set(id, before);
      ids.set(line, (ids.get(line) ?? new Set()).add(id));
      return before === line || differsByErasure(history, delivery, before) || differsByAddress(delivery, before)
        ? []
        : [`${id} was sent with another content`];
    });
    const events = new Map<string, Set<string>>();
    for (const event of canonical({ bus })) {
      const line = `${event['detail-type']} ${JSON.stringify(event.detail.payload)}`;
      events.set(line, (events.get(line) ?? new Set()).add(event.detail.id));
    }
    const doubled = [...ids].flatMap(([line, found]) => {
      const most = events.get(line)?.size ?? found.size;
      return found.size > most
        ? [`one event was sent under the ids ${[...found].join(', ')}: ${line.slice(0, 120)}`]
        : [];
    });
    return [...changed, ...doubled];
  },
};

/** Providers send an event again, even long after it was applied. */
export const storedOnce: Oracle = {
  sentence: 'An event of a provider is stored once, as it came first',
  atRestOnly: false,
  violations: ({ items }: Pick<History, 'items'>) => {
    const entries = items.filter(
      ({ pk, direction, status }) => isLogEntry(pk) && direction === 'inbound' && status === 'success',
    );
    const logged = new Map(
      entries.map((entry) => [`EVT#${entry['provider']}#${entry['eventId']}`, entry['createdAt']]),
    );
    return items.flatMap(({ pk, receivedAt }) => {
      const appliedAt = receivedAt === undefined ? undefined : logged.get(pk);
      const isLater = appliedAt !== undefined && at(receivedAt) > at(appliedAt) + 2 * SKEW_MS;
      return isLater ? [`${pk} was applied at ${appliedAt}, and stored again at ${receivedAt}`] : [];
    });
  },
};

const isLogEntry = (pk: string): boolean => pk.startsWith('LOG#');
