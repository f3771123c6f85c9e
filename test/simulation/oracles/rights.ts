import type { History, HistoryExchange, HistoryItem, HistoryJson, Oracle, Person } from '../model/history.ts';
import { at, isChargeTaken, ownerOf, type RecordOwner, recordsOf } from '../model/records.ts';
import { type ModelStanding, mayManage, modelStanding } from '../model/standing.ts';

/** Sentences about who may read, use and charge what, at which moment. */

/** The clock of an instance differs from the true time by at most this. */
const SKEW_MS = 2_500;
/** A call that was permitted when it began may take effect until a function's longest time has passed. */
const UNDER_WAY_MS = 45_000;
/** Reads may use a membership that is this old. */
const CACHE_MS = 300_000;

const RECORD = /^(pay|pmt|cust|subs|addr|ref|dsp|org)_[0-9a-f]{24}$/;

interface Model {
  readonly standing: ModelStanding;
  readonly ownerOf: (id: string) => RecordOwner | undefined;
  readonly person: (name: string) => Person | undefined;
}

const modelOf = (history: History): Model => {
  const owners = ownersOf(history);
  const people = new Map(history.people.map((person) => [person.name, person]));
  return {
    standing: modelStanding(history),
    ownerOf: (id) => owners.get(id),
    person: (name) => people.get(name),
  };
};

const ownersOf = (history: History): ReadonlyMap<string, RecordOwner> => {
  const found = new Map<string, RecordOwner>();
  const records = recordsOf(history);
  const { methods, customers, payments, subscriptions, organizations } = records;
  for (const exchange of history.exchanges) learnOwner(exchange, { found, people: history.people });
  for (const item of [...methods, ...customers, ...payments, ...subscriptions]) found.set(item['id'], ownerOf(item));
  for (const { id } of organizations) found.set(id, { organizationId: id });
  for (const { id, paymentId } of [...records.refunds, ...records.disputes]) {
    const owner = found.get(paymentId);
    if (owner) found.set(id, owner);
  }
  return found;
};

interface Learning {
  readonly found: Map<string, RecordOwner>;
  readonly people: readonly Person[];
}

const CREATES = /^\/(payments(\/intents)?|payment-methods|customers|subscriptions|organizations)$/;

/** Of records that are gone by now, only the answer to their creation tells the owner. */
const learnOwner = (exchange: HistoryExchange, { found, people }: Learning): void => {
  const { method, path, status, body, person, guestId } = exchange;
  if (method !== 'POST' || !CREATES.test(path) || (status !== 200 && status !== 201)) return;
  const record = body?.data ?? body;
  if (path === '/organizations') return void found.set(record.id, { organizationId: record.id });
  const userId = people.find(({ name }) => name === person)?.userId || undefined;
  const organizationId: string | undefined = record.organization_id ?? undefined;
  const guest = guestIdOf(record.guest_token) ?? guestId;
  const isPersonal = organizationId === undefined || path.startsWith('/payments') || path === '/subscriptions';
  found.set(record.id, { organizationId, ...(isPersonal && (userId ? { userId } : { guestId: guest })) });
};

const guestIdOf = (token: string | undefined): string | undefined =>
  token === undefined ? undefined : JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).guest_id;

const mayRead = ({ standing }: Model, reader: Reader, owner: RecordOwner): boolean => {
  const { person, exchange } = reader;
  if (person.kind === 'admin') return true;
  if (person.kind === 'guest') return owner.guestId !== undefined && guestsOf(exchange).includes(owner.guestId);
  if (owner.userId === person.userId) return true;
  const { organizationId } = owner;
  if (organizationId === undefined) return false;
  if (isFounderOf(exchange, person, organizationId)) return true;
  const from = exchange.sentAt - CACHE_MS - SKEW_MS;
  return standing.rolesBetween({ userId: person.userId, organizationId }, from, exchange.answeredAt).size > 0;
};

/** The guest of the token that was sent, and of the token that a create has just given. */
const guestsOf = ({ guestId, body }: HistoryExchange): readonly (string | undefined)[] => [
  guestId,
  guestIdOf(body?.guest_token),
];

/** The founder of an organization whose creation had no answer, and which is gone by now. */
const isFounderOf = ({ body }: HistoryExchange, { userId }: Person, organizationId: string): boolean =>
  recordsIn(body).some((record) => record.id === organizationId && record.owner_user_id === userId);

interface Reader {
  readonly person: Person;
  readonly exchange: HistoryExchange;
}

/** Everything in the answer that is a record by itself. */
const recordsIn = (value: HistoryJson): readonly HistoryJson[] => {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(recordsIn);
  return typeof value.id === 'string' && RECORD.test(value.id) ? [value, ...nested] : nested;
};

const FEW_FIELDS = new Set([
  ...['id', 'status', 'amount_cents', 'total_cents', 'currency', 'description', 'is_guest_payment', 'created_at'],
  ...['completed_at', 'billing_interval', 'current_period_end', 'cancel_at_period_end', 'is_guest_subscription'],
]);

const isOfGuestList = ({ path }: HistoryExchange, record: HistoryJson): boolean =>
  /^\/(payments|subscriptions)\/guest\//.test(path) && Object.keys(record).every((field) => FEW_FIELDS.has(field));

/** These lists and sums take the organization whose records they show. */
const OF_AN_OWNER = /^\/(?:payments|payments\/summary|payment-methods|customers|subscriptions)$/;

export const answersPermitted: Oracle = {
  sentence: 'No answer shows a record that its reader may not read',
  atRestOnly: false,
  violations: (history) => {
    const model = modelOf(history);
    return history.exchanges.flatMap((exchange) => {
      const person = model.person(exchange.person);
      const isAnswer = exchange.status >= 200 && exchange.status < 300 && !exchange.path.startsWith('/webhooks');
      if (!isAnswer || !person) return [];
      const answer = `answer ${exchange.number} (${exchange.method} ${exchange.path})`;
      const organizationId = OF_AN_OWNER.test(exchange.path) ? exchange.query['organization_id'] : undefined;
      if (organizationId !== undefined && !mayRead(model, { person, exchange }, { organizationId })) {
        return [`${answer} is given to ${person.name}, who is not in ${organizationId}`];
      }
      return recordsIn(exchange.body).flatMap((record) => {
        const owner = model.ownerOf(record.id);
        if (!owner || isOfGuestList(exchange, record) || mayRead(model, { person, exchange }, owner)) return [];
        return [`${answer} shows ${record.id} to ${person.name}`];
      });
    });
  },
};

/** A charge of the ledger with its payment and the method that paid. */
interface Charge {
  readonly id: string;
  readonly at: number;
  readonly payment: HistoryItem;
  readonly providerMethodId: string | null;
}

const chargesOf = (history: History): readonly Charge[] => {
  const { payment } = recordsOf(history);
  const methods = new Map(
    history.ledger.payment_intents.map((intent) => [`${intent.provider} ${intent.id}`, intent.payment_method]),
  );
  return history.ledger.charges.filter(isChargeTaken).flatMap((charge) => {
    const of = payment(charge.payment_id ?? '');
    const providerMethodId = methods.get(`${charge.provider} ${charge.payment_intent}`) ?? null;
    return of ? [{ id: charge.id, at: at(charge.created_at), payment: of, providerMethodId }] : [];
  });
};

/** The owners of saved methods, by the provider's id, and when each was surely deleted. */
interface SavedMethod {
  readonly id: string;
  readonly owner: RecordOwner;
  readonly deletedAt: number;
}

const savedMethods = (history: History, model: Model): ReadonlyMap<string, SavedMethod> => {
  const found = new Map<string, SavedMethod>();
  const deletedAt = (id: string): number =>
    history.exchanges.find(
      ({ method, path, status }) => method === 'DELETE' && status === 204 && path === `/payment-methods/${id}`,
    )?.answeredAt ?? Number.POSITIVE_INFINITY;
  const keep = (id: string, ref: string): void => {
    const owner = model.ownerOf(id);
    if (owner) found.set(ref, { id, owner, deletedAt: deletedAt(id) });
  };
  for (const { path, method, status, body } of history.exchanges) {
    if (method === 'POST' && path === '/payment-methods' && status < 300 && body?.provider_payment_method_id) {
      keep(body.id, body.provider_payment_method_id);
    }
  }
  for (const { id, providerMethodId } of recordsOf(history).methods) keep(id, providerMethodId);
  return found;
};

const mayPay = (model: Model, charge: Charge, method: SavedMethod): boolean => {
  const { payment, at: time } = charge;
  const { owner } = method;
  const { organizationId, userId, guestId } = payment;
  if (organizationId !== undefined) {
    if (owner.organizationId !== undefined) return owner.organizationId === organizationId;
    const from = time - UNDER_WAY_MS - SKEW_MS;
    return model.standing.rolesBetween({ userId: owner.userId ?? '', organizationId }, from, time + SKEW_MS).size > 0;
  }
  if (owner.organizationId !== undefined) return false;
  return userId === undefined ? owner.guestId === guestId : owner.userId === userId;
};

export const methodsPermitted: Oracle = {
  sentence: 'A saved method pays for its owner only, and not after its removal or the end of a membership',
  atRestOnly: false,
  violations: (history) => {
    const model = modelOf(history);
    const methods = savedMethods(history, model);
    return chargesOf(history).flatMap((charge) => {
      const method = methods.get(charge.providerMethodId ?? '');
      if (!method) return [];
      const { id } = charge.payment;
      if (charge.at > method.deletedAt + UNDER_WAY_MS)
        return [`${charge.id} charged ${method.id} for ${id} after its deletion`];
      return mayPay(model, charge, method) ? [] : [`${charge.id} charged ${method.id}, which may not pay for ${id}`];
    });
  },
};

/** The people who may cause a charge of the payment at that time. */
const mayCharge = (model: Model, { person, exchange }: Reader, payment: HistoryItem): boolean => {
  const { organizationId, userId, guestId } = payment;
  if (person.kind === 'guest') return guestId !== undefined && exchange.guestId === guestId;
  if (organizationId === undefined) return person.userId === userId && userId !== undefined;
  const roles = model.standing.rolesBetween(
    { userId: person.userId, organizationId },
    exchange.sentAt - SKEW_MS,
    exchange.answeredAt,
  );
  return mayManage(roles);
};

export const claimsPermitted: Oracle = {
  sentence: 'An attempt that a person has claimed was requested by a person who was allowed to charge',
  atRestOnly: false,
  violations: (history) => {
    const model = modelOf(history);
    const { payments, versionsOf } = recordsOf(history);
    const confirms = Map.groupBy(
      history.exchanges.filter(({ path }) => path.startsWith('/payments/confirm/')),
      ({ path }) => path.slice('/payments/confirm/'.length),
    );
    return payments
      .filter(({ subscriptionId }) => subscriptionId === undefined)
      .flatMap((payment) =>
        versionsOf(payment['id'])
          .filter(({ cause, actor }) => cause === 'claim' && (actor?.type === 'user' || actor?.type === 'guest'))
          .filter((claim) => !isBacked(model, { payment, claim, confirms: confirms.get(payment['id']) ?? [] }))
          .map((claim) => `${payment['id']} was charged by ${claim['actor'].type} ${claim['actor'].id}`),
      );
  },
};

const NAMES_RECORD = /^\/(?:payments(?:\/confirm|\/intents)?|payment-methods|customers|subscriptions)\/([^/]+)/;

/** The organization whose money or records a change is about. */
const organizationOf = (model: Model, { path, sent }: HistoryExchange): string | undefined => {
  if (CREATES.test(path)) return sent?.organization_id ?? undefined;
  return model.ownerOf(NAMES_RECORD.exec(path)?.[1] ?? '')?.organizationId;
};

export const changesPermitted: Oracle = {
  sentence: 'Only owners, admins and billing members change what an organization has',
  atRestOnly: false,
  violations: (history) => {
    const model = modelOf(history);
    return history.exchanges.flatMap((exchange) => {
      const { method, status, number, path, sentAt, answeredAt } = exchange;
      const person = model.person(exchange.person);
      if (method === 'GET' || status < 200 || status >= 300 || !person || person.kind === 'admin') return [];
      const organizationId = organizationOf(model, exchange);
      if (organizationId === undefined) return [];
      const roles = model.standing.rolesBetween(
        { userId: person.userId, organizationId },
        sentAt - SKEW_MS,
        answeredAt,
      );
      return mayManage(roles) ? [] : [`answer ${number}: ${person.name} did ${method} ${path} in ${organizationId}`];
    });
  },
};

interface Claim {
  readonly payment: HistoryItem;
  readonly claim: HistoryItem;
  readonly confirms: readonly HistoryExchange[];
}

const isBacked = (model: Model, { payment, claim, confirms }: Claim): boolean =>
  confirms.some((exchange) => {
    const person = model.person(exchange.person);
    if (!person || exchange.sentAt > at(claim['at']) + SKEW_MS) return false;
    const { type, id } = claim['actor'];
    const isSame = type === 'guest' ? exchange.guestId === id : person.userId === id;
    return isSame && mayCharge(model, { person, exchange }, payment);
  });
