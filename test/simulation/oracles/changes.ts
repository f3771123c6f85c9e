/** @module Rights to change records. Every successful request except a GET is checked by its route's row. */
import { firstUnderKey, isCarriedOut, organizationAsked, SKEW_MS } from '../model/exchanges.ts';
import { guestsOf } from '../model/guests.ts';
import type { History, HistoryExchange, Oracle, Person } from '../model/history.ts';
import { mayAsStaff } from '../model/merchants.ts';
import { CREATES, type Model, modelOf, type OwnerAndProject } from '../model/owners.ts';
import { mayManage } from '../model/standing.ts';

type Who =
  | 'every user'
  | 'the owner of the organization'
  | 'every member but the owner'
  | 'who may send events'
  | 'who owns the new record'
  | 'who owns the record'
  | 'who owns the record, and platform admins'
  | 'who owns the record, guests too'
  | 'platform admins';

const ID = '[^/]+';

const ROWS: readonly (readonly [string, string, Who])[] = [
  ['POST', '/organizations', 'every user'],
  ['PUT|DELETE', `/organizations/(${ID})`, 'the owner of the organization'],
  ['POST', `/organizations/(${ID})/members`, 'the owner of the organization'],
  ['PUT|DELETE', `/organizations/(${ID})/members/${ID}`, 'the owner of the organization'],
  ['POST', `/organizations/(${ID})/leave`, 'every member but the owner'],
  [
    'POST',
    '/(?:payments|payments/intents|payment-methods|customers|subscriptions|addresses)',
    'who owns the new record',
  ],
  ['PUT', `/payments/intents/(${ID})`, 'who owns the record'],
  ['POST', `/payments/intents/(${ID})/cancel`, 'who owns the record, and platform admins'],
  ['POST', `/payments/sync/(${ID})`, 'who owns the record, and platform admins'],
  ['POST', `/payments/confirm/(${ID})`, 'who owns the record, guests too'],
  ['PUT|DELETE', `/(?:payment-methods|customers|addresses)/(${ID})`, 'who owns the record'],
  ['POST', `/(?:payment-methods|addresses)/(${ID})/set-default`, 'who owns the record'],
  ['PATCH', `/(?:payment-methods|subscriptions)/(${ID})/billing-address`, 'who owns the record'],
  ['PATCH', `/subscriptions/(${ID})`, 'who owns the record'],
  ['POST', `/subscriptions/(${ID})/(?:pause|resume|reactivate)`, 'who owns the record'],
  ['POST', `/subscriptions/(${ID})/(?:cancel|change|change/preview)`, 'who owns the record, and platform admins'],
  ['DELETE', `/subscriptions/(${ID})/change`, 'who owns the record, and platform admins'],
  ['POST', `/payments/${ID}/refunds`, 'platform admins'],
  ['POST|PUT|DELETE', '/admin/.+', 'platform admins'],
  ['POST', `/webhooks/logs/(${ID})/replay`, 'who may send events'],
];

const ROUTES = ROWS.map(([methods, path, who]) => ({ route: new RegExp(`^(?:${methods}) ${path}$`), who }));

interface Asked {
  readonly model: Model;
  readonly exchange: HistoryExchange;
  readonly person: Person;
  /** The guest_ids for which the request may act. */
  readonly guests: readonly string[];
  readonly who: Who;
  /** The organization or record that the path names; empty if it names none. */
  readonly named: string;
  /** The owner; undefined for a new personal record or an unknown owner. */
  readonly owner: OwnerAndProject | undefined;
  readonly earlier: HistoryExchange | undefined;
}

/** The roles that the person may have had while the request ran. */
const rolesIn = ({ model, exchange, person, earlier }: Asked, organizationId: string): ReadonlySet<string> => {
  const from = (earlier ?? exchange).sentAt - SKEW_MS;
  return model.standing.rolesBetween({ userId: person.userId, organizationId }, from, exchange.answeredAt);
};

const isOwn = ({ guests, person }: Pick<Asked, 'guests' | 'person'>, { userId, guestId }: OwnerAndProject): boolean =>
  person.kind === 'guest'
    ? guestId !== undefined && guests.includes(guestId)
    : userId !== undefined && userId === person.userId;

const mayUse = (asked: Asked, owner: OwnerAndProject): boolean =>
  owner.organizationId === undefined ? isOwn(asked, owner) : mayManage(rolesIn(asked, owner.organizationId));

const kept = new WeakMap<History, readonly Asked[]>();

/** Every successful change, including the merchant's changes. */
const changesOf = (history: History): readonly Asked[] => {
  const known = kept.get(history) ?? read(history);
  kept.set(history, known);
  return known;
};

const read = (history: History): readonly Asked[] => {
  const model = modelOf(history);
  return history.exchanges.flatMap((exchange) => {
    const { method, path } = exchange;
    const person = model.person(exchange.person);
    if (method === 'GET' || !isCarriedOut(exchange) || !person) return [];
    const row = ROUTES.find(({ route }) => route.test(`${method} ${path}`));
    const who = row?.who ?? 'platform admins';
    const named = row?.route.exec(`${method} ${path}`)?.[1] ?? '';
    // A former member who repeats a request under its key gets the first response again.
    const earlier = who === 'every member but the owner' ? firstUnderKey(history, exchange) : undefined;
    const guests = guestsOf(history, exchange);
    return [{ model, exchange, person, guests, who, named, owner: ownerOf(model, exchange, named), earlier }];
  });
};

const ownerOf = (model: Model, exchange: HistoryExchange, named: string): OwnerAndProject | undefined => {
  if (!CREATES.test(exchange.path)) return model.ownerOf(named);
  const organizationId = organizationAsked(exchange);
  return organizationId === undefined ? undefined : { organizationId };
};

const OWNERS: ReadonlySet<Who> = new Set([
  'who owns the new record',
  'who owns the record',
  'who owns the record, guests too',
  'who owns the record, and platform admins',
]);

const MEMBERS: ReadonlySet<Who> = new Set([
  'every user',
  'the owner of the organization',
  'every member but the owner',
]);

const FOR_ADMINS: ReadonlySet<Who> = new Set([
  'platform admins',
  'who may send events',
  'who owns the record, and platform admins',
]);

const isForMerchant = ({ person, who, exchange }: Asked): boolean =>
  (person.kind === 'admin' && FOR_ADMINS.has(who)) || mayAsStaff(person, exchange);

const lineOf = ({ exchange: { number, method, path }, person }: Asked, about: string): string =>
  `answer ${number}: ${person.name} did ${method} ${path}${about}`;

/** An invariant about the changes that `isMeant` chooses. */
const sentenceOn = (
  sentence: string,
  isMeant: (asked: Asked) => boolean,
  isPermitted: (asked: Asked) => boolean,
): Oracle => ({
  sentence,
  atRestOnly: false,
  violations: (history) =>
    changesOf(history)
      .filter((asked) => isMeant(asked) && !isForMerchant(asked) && !isPermitted(asked))
      .map((asked) => lineOf(asked, asked.owner?.organizationId ? ` in ${asked.owner.organizationId}` : '')),
});

export const changesPermitted = sentenceOn(
  'Only owners, admins and billing members change what an organization has',
  ({ who, owner }) => OWNERS.has(who) && owner?.organizationId !== undefined,
  (asked) => asked.owner !== undefined && asked.person.kind !== 'guest' && mayUse(asked, asked.owner),
);

export const membersPermitted = sentenceOn(
  'Only its owner changes an organization and its members, and the owner never leaves',
  ({ who }) => MEMBERS.has(who),
  (asked) => {
    if (asked.who === 'every user') return asked.person.kind !== 'guest';
    const roles = rolesIn(asked, asked.named);
    return roles.has('owner') === (asked.who === 'the owner of the organization') && roles.size > 0;
  },
);

export const ownPermitted = sentenceOn(
  'What belongs to one person is changed for that person only, and for a guest only by a confirmation',
  ({ who, owner }) => OWNERS.has(who) && owner !== undefined && owner.organizationId === undefined,
  (asked) =>
    asked.owner !== undefined &&
    isOwn(asked, asked.owner) &&
    (asked.person.kind !== 'guest' || asked.who === 'who owns the record, guests too'),
);

export const adminsPermitted = sentenceOn(
  'Only the merchant refunds a payment, erases a person and does what else is the merchant’s',
  ({ who }) => who === 'platform admins',
  ({ person }) => person.kind === 'admin',
);

export const sendersPermitted = sentenceOn(
  'Events are sent by platform admins, and those of an organization by its owner and admins',
  ({ who }) => who === 'who may send events',
  (asked) => {
    const { sessionOrganizationId: organizationId } = asked.exchange;
    if (organizationId === undefined || asked.owner?.organizationId !== organizationId) return false;
    const roles = rolesIn(asked, organizationId);
    return roles.has('owner') || roles.has('admin');
  },
);

/** Compares the owner in the response to a creation with the organization meant by the request. */
export const ownersFit: Oracle = {
  sentence: 'A new record belongs to the organization that its request or its session names, or else to its maker',
  atRestOnly: false,
  violations: (history) =>
    history.exchanges.flatMap((exchange) => {
      const { method, path, status, body } = exchange;
      if (method !== 'POST' || status !== 201 || !CREATES.test(path) || path === '/organizations') return [];
      const record = body?.data ?? body;
      const meant = organizationAsked(exchange);
      const shown: string | undefined = record?.organization_id ?? undefined;
      if (shown === meant) return [];
      return [
        `answer ${exchange.number}: ${record?.id} belongs to ${shown ?? 'a person'}, not to ${meant ?? 'a person'}`,
      ];
    }),
};

/**
 * True if the provider refused the method and the payer paid with another method in the browser. The confirmation then
 * returns that payment.
 */
const isPaidOtherwise = ({ ledger }: History, { path, body }: HistoryExchange, id: string): boolean => {
  const payment = /^\/payments\/confirm\/([^/]+)$/.exec(path)?.[1];
  const paid = ledger.payment_intents.find(
    ({ payment_id, status }) => payment_id === payment && status === 'succeeded',
  );
  return body?.status === 'succeeded' && paid !== undefined && paid.payment_method !== id;
};

const REMOVAL_THERE = 'remove a method at the provider';

/** True if the method was detached before the response. It has no owner, and its provider refuses every charge. */
const isDetached = ({ acts, exchanges, ledger }: History, { answeredAt }: HistoryExchange, id: string): boolean => {
  const isFree = ledger.payment_methods.some((method) => method.id === id && method.customer === null);
  const records = new Set(
    exchanges.filter(({ body }) => body?.provider_payment_method_id === id).map(({ body }) => body.id),
  );
  const isRemoval = ({ method, path, status, sentAt }: HistoryExchange): boolean =>
    method === 'DELETE' && sentAt < answeredAt && !(status >= 400 && status < 500) && records.has(path.split('/')[2]);
  const isByAct = acts.some(
    ({ name, path, at, status }) =>
      name === REMOVAL_THERE && path.split('/').includes(id) && status < 400 && at < answeredAt,
  );
  return isFree && (isByAct || exchanges.some(isRemoval));
};

const NAMES = ['payment_method_id', 'provider_payment_method_token', 'customer_id', 'billing_address_id'] as const;

export const namedPermitted: Oracle = {
  sentence: 'A method, a customer or a project is named only by people who may use it',
  atRestOnly: false,
  violations: (history) =>
    changesOf(history).flatMap((asked) => {
      const { model, exchange, who, person } = asked;
      if (!OWNERS.has(who)) return [];
      const { sent } = exchange;
      const ids: readonly string[] = NAMES.flatMap((name) => sent?.[name] ?? []);
      const others = ids.filter((id) => {
        const owner = model.ownerOf(id);
        if (owner === undefined || mayUse(asked, owner)) return false;
        return !isPaidOtherwise(history, exchange, id) && !isDetached(history, exchange, id);
      });
      const project: string | undefined = sent?.project_id ?? undefined;
      const isSeller = project === undefined || model.sellerOf(project) === person.userId;
      return [...others, ...(isSeller ? [] : [project])].map((id) => lineOf(asked, ` with ${id}, which is another’s`));
    }),
};
