import type { History, HistoryExchange, HistoryItem, HistoryJson, Person } from '../simulation/model/history.ts';
import { ADA, BEN, FAY, GUS, OLI, PROJECT, ROOT } from '../simulation/world/people.ts';
import {
  exchangeOf,
  historyPayment,
  historyTime,
  historyWith,
  MEMBER_OF_HISTORY,
  METHOD,
  methodItem,
  ORGANIZATION,
  PAYMENT,
  SUBSCRIPTION,
  subscriptionItem,
  versionItem,
} from './history.ts';
import type { Case } from './promise-cases.ts';

/** Ada creates the organization. Ben joins with this role at second 10. */
const joined = (role: string): readonly HistoryExchange[] => [
  exchangeOf({
    method: 'POST',
    path: '/organizations',
    body: { data: { id: ORGANIZATION, owner_user_id: ADA.userId } },
  }),
  exchangeOf({
    ...{ at: 10, method: 'POST', path: `/organizations/${ORGANIZATION}/members`, sent: { email: BEN.email, role } },
    body: { data: { id: MEMBER_OF_HISTORY, user_id: BEN.userId } },
  }),
];
const MEMBER = `/organizations/${ORGANIZATION}/members/${MEMBER_OF_HISTORY}`;

type Parts = Parameters<typeof exchangeOf>[0];

/** Ben, with this role in the organization, makes a request that succeeds. */
const doneIn = (role: string, parts: Parts): History =>
  historyWith({ exchanges: [...joined(role), exchangeOf({ at: 20, person: BEN.name, ...parts })] });
const done = (items: readonly HistoryItem[], parts: Parts): History =>
  historyWith({ items, exchanges: [exchangeOf(parts)] });

/** A staff person's request about Ada's payment or subscription. */
const doneByStaff = (person: Person, parts: Parts): History =>
  historyWith({
    people: [ADA, FAY, OLI],
    items: [historyPayment(), subscriptionItem()],
    exchanges: [exchangeOf({ person: person.name, ...parts })],
  });

const ENTRY = `log_${'7'.repeat(24)}`;
const deleting = { method: 'DELETE', path: `/organizations/${ORGANIZATION}` } as const;
const promoting = { method: 'PUT', path: MEMBER, sent: { role: 'admin' } } as const;
const leaving = { method: 'POST', path: `/organizations/${ORGANIZATION}/leave` } as const;
const removingMethod = { method: 'DELETE', path: `/payment-methods/${METHOD}`, status: 204 } as const;
const refunding = { method: 'POST', path: `/payments/${PAYMENT}/refunds`, status: 201 } as const;
const erasing = { method: 'POST', path: '/admin/erasures', status: 202, sent: { user_id: BEN.userId } } as const;
const paying = { method: 'POST', path: '/payments/intents', status: 201 } as const;
const PROJECT_ITEM = { pk: `PROJECT#${PROJECT}`, sk: 'PROJECT', id: PROJECT, owner_user_id: ADA.userId };
const withMethod = { ...paying, sent: { payment_method_id: METHOD } };
/** Ben uses Ada's method at second 100. The provider detaches the method at this second. */
const namedWhenDetached = (seconds: number): History => ({
  ...historyWith({
    exchanges: [
      exchangeOf({ method: 'POST', path: '/payment-methods', status: 201, body: SAVED }),
      exchangeOf({
        ...paying,
        at: 100,
        person: BEN.name,
        sent: { payment_method_id: SAVED.provider_payment_method_id },
      }),
    ],
  }),
  ...{
    ledger: { ...historyWith({}).ledger, payment_methods: [{ provider: 'provider_a', id: 'pm_1', customer: null }] },
  },
  acts: [
    {
      ...{ name: 'remove a method at the provider', path: '/providers/stripe/v1/payment_methods/pm_1/detach' },
      ...{ at: Date.parse(historyTime(seconds)), status: 200, isFailure: false },
    },
  ],
});
const SAVED = { id: METHOD, provider_payment_method_id: 'pm_1' };
const withProject = { ...paying, sent: { project_id: PROJECT } };

const OF_ORGANIZATION = { organization_id: ORGANIZATION };

/** Ben, with this role and a session of the organization, resends one of the organization's events. */
const sending = (role: string): History => {
  const entry = { pk: `LOG#${ENTRY}`, sk: 'LOG', id: ENTRY, organizationId: ORGANIZATION };
  const { exchanges, ...rest } = doneIn(role, { method: 'POST', path: `/webhooks/logs/${ENTRY}/replay` });
  return {
    ...rest,
    items: [entry],
    exchanges: exchanges.map((one) => ({ ...one, sessionOrganizationId: ORGANIZATION })),
  };
};

/** Ben, with this role, resends a log entry that has expired but was listed before. */
const sendingExpired = (role: string): History => {
  const { exchanges, ...rest } = sending(role);
  const body = [{ id: ENTRY, payload: { data: { payment_id: PAYMENT } } }];
  return {
    ...rest,
    items: [historyPayment({ organizationId: ORGANIZATION })],
    exchanges: [...exchanges, exchangeOf({ person: ROOT.name, path: '/webhooks/logs', body })],
  };
};

/**
 * Ben is an admin until the exchange from second 100 to 101. At second `at` he claims an attempt for the organization's
 * payment.
 */
const claiming = (at: number, exchange: Parts = { method: 'DELETE', path: MEMBER }): History =>
  historyWith({
    exchanges: [...joined('admin'), exchangeOf({ at: 100, ...exchange })],
    claims: [
      {
        ...{ what: 'an attempt', id: PAYMENT, organizationId: ORGANIZATION, userId: BEN.userId },
        at: Date.parse(historyTime(at)),
      },
    ],
  });

export const RIGHTS_CASES: Readonly<Record<string, Case>> = {
  'After a removal, a demotion or a deletion, its person claims no charge, no amount and no method for the organization':
    { broken: claiming(101.1), sound: claiming(101) },
  'A service key that was revoked, or lacks the scope, is refused': {
    broken: done([], { ...paying, credential: 'leaked key' }),
    sound: done([], { ...paying, credential: 'leaked key', status: 401 }),
  },
  'Only its owner changes an organization and its members, and the owner never leaves': {
    broken: doneIn('member', deleting),
    sound: doneIn('member', { ...deleting, person: ADA.name }),
  },
  'What belongs to one person is changed for that person only, and for a guest only by a confirmation': {
    broken: done([methodItem()], { ...removingMethod, person: BEN.name }),
    sound: done([methodItem()], removingMethod),
  },
  'Only the merchant refunds a payment, erases a person and does what else is the merchant’s': {
    broken: done([historyPayment()], refunding),
    sound: done([historyPayment()], { ...refunding, person: ROOT.name }),
  },
  'A method, a customer or a project is named only by people who may use it': {
    broken: done([methodItem()], { ...withMethod, person: BEN.name }),
    sound: done([methodItem()], withMethod),
  },
  'Events are sent by platform admins, and those of an organization by its owner and admins': {
    broken: sending('billing'),
    sound: sending('admin'),
  },
  'A new record belongs to the organization that its request or its session names, or else to its maker': {
    broken: done([], { ...paying, sessionOrganizationId: ORGANIZATION, body: { id: PAYMENT } }),
    sound: done([], { ...paying, sessionOrganizationId: ORGANIZATION, body: { id: PAYMENT, ...OF_ORGANIZATION } }),
  },
};

const LOST = 'After a removal, a demotion';
const MEMBERS = 'Only its owner changes an organization';
const OWN = 'What belongs to one person';
const ADMINS = 'Only the merchant refunds';
const NAMED = 'A method, a customer or a project';
const CLAIMED = 'An attempt that a person has claimed';
const READ = 'No response shows a record';
const SENT = 'Events are sent by';

/**
 * Ben, an admin, confirms a payment, at second 100 by default. The attempts in his name are claimed at the seconds in
 * `claims`.
 */
interface Confirmed {
  readonly claims: readonly number[];
  /** The second of another confirmation, after Ben's removal at second 200. */
  readonly againAt?: number;
  readonly status?: number;
  readonly confirmedAt?: number;
  /** The second of the response; by default one second after the confirmation. */
  readonly answeredAt?: number;
  readonly payment?: Readonly<Record<string, unknown>>;
}
const confirm = { method: 'POST', path: `/payments/confirm/${PAYMENT}`, person: BEN.name } as const;
const confirmed = ({
  claims,
  againAt,
  status = 402,
  confirmedAt = 100,
  answeredAt = confirmedAt + 1,
  payment = {},
}: Confirmed): History =>
  historyWith({
    items: [
      historyPayment({ organizationId: ORGANIZATION, userId: BEN.userId, ...payment }),
      ...claims.map((second, index) => ({
        ...versionItem(index + 1, { status: 'processing', cause: 'claim', actor: { type: 'user', id: BEN.userId } }),
        at: historyTime(second),
      })),
    ],
    exchanges: [
      ...joined('admin'),
      exchangeOf({ at: confirmedAt, ...confirm, status, answeredAt: Date.parse(historyTime(answeredAt)) }),
      exchangeOf({ at: 200, method: 'DELETE', path: MEMBER }),
      ...(againAt === undefined ? [] : [exchangeOf({ at: againAt, ...confirm })]),
    ],
  });

const logItem = (owner: object): HistoryItem => ({ pk: `LOG#${LOG}`, sk: 'LOG', ...owner, id: LOG });
const LOG = `log_${'7'.repeat(24)}`;
const ofProject = { path: '/payments', query: { project_id: PROJECT }, body: { data: [{ id: PAYMENT }] } } as const;
const sold = historyPayment({ userId: undefined, guestId: 'guest_1', projectId: PROJECT });
const asked = (person: string, path: string, items: readonly HistoryItem[] = []): History =>
  historyWith({ items, exchanges: [exchangeOf({ person, path })] });
const showing = (person: string): History =>
  historyWith({
    items: [historyPayment({ userId: BEN.userId }), PROJECT_ITEM],
    exchanges: [
      exchangeOf({
        ...{ person: BEN.name, path: `/payments/${PAYMENT}` },
        body: { data: { id: PAYMENT, project: { id: PROJECT, ...(person === ADA.name && { billing_email: null }) } } },
      }),
    ],
  });

const listing = (person: string): readonly HistoryExchange[] => [
  exchangeOf({ at: 20, person, path: `/organizations/${ORGANIZATION}/members` }),
];
const guestConfirms = (guestId: string, guestRecord?: string): History =>
  done([historyPayment({ userId: undefined, guestId: 'guest_1' })], {
    ...{ person: GUS.name, guestId, guestRecord, method: 'POST', path: `/payments/confirm/${PAYMENT}` },
  });
/** A read by a guest with a token of guest_1. The token may be limited to one record. */
const guestReads = (path: string, guestRecord?: string, body?: HistoryJson): History =>
  done([historyPayment({ userId: undefined, guestId: 'guest_1' }), REFUND], {
    ...{ person: GUS.name, guestId: 'guest_1', guestRecord, path, body },
  });
const REFUND_ID = `ref_${'9'.repeat(24)}`;
const REFUND = { pk: `RFD#${REFUND_ID}`, sk: 'RFD', paymentId: PAYMENT };

const GUESTS_METHOD = methodItem({ userId: undefined, guestId: 'guest_1', guestEmail: GUS.email });
const GUESTS_PAYMENT = historyPayment({ userId: undefined, guestId: 'guest_1', guestEmail: GUS.email });

/** Gus names a record of guest_1 without a token, this many seconds after the record's creation. */
const goesOn = (parts: {
  readonly sent: object;
  readonly at: number;
  readonly email?: string;
  readonly first?: number;
  readonly items?: readonly HistoryItem[];
  readonly network?: string;
}): History => {
  const { sent, at, email = GUS.email, first, items = [GUESTS_METHOD], network = GUS.name } = parts;
  const request = { ...paying, person: GUS.name, credential: 'none', idempotencyKey: 'k', network } as const;
  const body = { ...sent, guest_data: { email, name: 'Gus' } };
  const seconds = first === undefined ? [at] : [first, at];
  return historyWith({ items, exchanges: seconds.map((second) => exchangeOf({ ...request, at: second, sent: body })) });
};

const tokenOf = (guest_id: string, email: string): string =>
  `head.${Buffer.from(JSON.stringify({ guest_id, email })).toString('base64url')}.signature`;

/** Gus has a token of guest_2 with this e-mail address. He pays with a method of guest_1 and gives his own address. */
const goesOnWithToken = (email: string): History => {
  const sent = { payment_method_id: METHOD, guest_data: { email: GUS.email, name: 'Gus' } };
  return historyWith({
    items: [GUESTS_METHOD],
    exchanges: [
      exchangeOf({ person: GUS.name, body: { guest_token: tokenOf('guest_2', email) } }),
      exchangeOf({ ...paying, at: 60, person: GUS.name, credential: 'guest token', guestId: 'guest_2', sent }),
    ],
  });
};

/**
 * A guest sends the same create of a payment once or more under one key. All requests but the last fail with 500. The
 * last response no longer contains the guest's e-mail address.
 */
const createdAgain = (times: number): History =>
  historyWith({
    items: [GUESTS_PAYMENT],
    exchanges: Array.from({ length: times }, (_, index) =>
      exchangeOf({
        ...{ ...paying, at: 60 * index, person: GUS.name, credential: 'none', idempotencyKey: 'k' },
        ...(index === times - 1
          ? { status: 201, body: { id: PAYMENT, is_guest_payment: true, guest_email: null } }
          : { status: 500, body: {} }),
      }),
    ),
  });

/**
 * Further histories: the first words of the invariant, the content of the history, and true if the history violates the
 * invariant.
 */
export const RIGHTS_EXAMPLES: readonly (readonly [string, string, boolean, History])[] = [
  [LOST, 'a member who is demoted meanwhile', true, claiming(101.1, { ...promoting, sent: { role: 'member' } })],
  [LOST, 'a member of an organization that is deleted meanwhile', true, claiming(101.1, deleting)],
  [LOST, 'a member whose removal was refused', false, claiming(101.1, { method: 'DELETE', path: MEMBER, status: 403 })],
  [MEMBERS, 'a plain member makes himself an admin', true, doneIn('member', promoting)],
  [MEMBERS, 'an admin gives a role', true, doneIn('admin', promoting)],
  [MEMBERS, 'the owner gives a role', false, doneIn('member', { ...promoting, person: ADA.name })],
  [MEMBERS, 'a member leaves', false, doneIn('member', leaving)],
  [MEMBERS, 'the owner leaves', true, doneIn('member', { ...leaving, person: ADA.name })],
  [
    MEMBERS,
    'a person who has left asks again under the same key',
    false,
    historyWith({
      exchanges: [
        ...joined('member'),
        ...[20, 90_000].map((at) => exchangeOf({ at, person: BEN.name, ...leaving, idempotencyKey: 'k' })),
      ],
    }),
  ],
  [
    MEMBERS,
    'a person who has left leaves again',
    true,
    historyWith({
      exchanges: [...joined('member'), ...[20, 90_000].map((at) => exchangeOf({ at, person: BEN.name, ...leaving }))],
    }),
  ],
  [
    'Only owners, admins and billing members',
    'a role that the person took counts for nothing',
    true,
    historyWith({
      exchanges: [
        ...joined('member'),
        exchangeOf({ at: 20, person: BEN.name, ...promoting }),
        exchangeOf({ at: 40, person: BEN.name, ...paying, sent: { organization_id: ORGANIZATION } }),
      ],
    }),
  ],
  [OWN, 'a guest confirms the own payment', false, guestConfirms('guest_1')],
  [OWN, 'a guest confirms the payment of another guest', true, guestConfirms('guest_2')],
  [OWN, 'a guest confirms with the token of that payment', false, guestConfirms('guest_1', PAYMENT)],
  [OWN, 'a guest confirms with the token of another own payment', true, guestConfirms('guest_1', METHOD)],
  [READ, 'a guest reads the payment of the token', false, guestReads(`/payments/${PAYMENT}`, PAYMENT)],
  [
    READ,
    'a guest reads a payment with the token of another own record',
    true,
    guestReads(`/payments/${PAYMENT}`, METHOD),
  ],
  [
    READ,
    'a guest reads the refunds of the payment of the token',
    false,
    guestReads(`/payments/${PAYMENT}/refunds`, PAYMENT, [{ id: REFUND_ID }]),
  ],
  [
    READ,
    'a guest lists with a token that opens another record',
    true,
    guestReads('/payments', METHOD, { data: [{ id: PAYMENT }] }),
  ],
  [
    OWN,
    'the payment is named by the id of its provider',
    true,
    done([historyPayment({ providerPaymentId: 'pi_1' })], {
      ...{ person: BEN.name, method: 'POST', path: '/payments/sync/pi_1' },
    }),
  ],
  [
    OWN,
    'a platform admin cancels a subscription of another',
    false,
    done([subscriptionItem()], { person: ROOT.name, method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/cancel` }),
  ],
  [
    OWN,
    'a platform admin withdraws a change of a subscription of another',
    false,
    done([subscriptionItem()], { person: ROOT.name, method: 'DELETE', path: `/subscriptions/${SUBSCRIPTION}/change` }),
  ],
  [
    OWN,
    'a person of finance cancels a subscription of another',
    false,
    doneByStaff(FAY, { method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/cancel` }),
  ],
  [
    OWN,
    'a person of finance pauses a subscription of another',
    true,
    doneByStaff(FAY, { method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/pause` }),
  ],
  [ADMINS, 'a person of finance refunds', false, doneByStaff(FAY, refunding)],
  [ADMINS, 'a person of operations refunds', true, doneByStaff(OLI, refunding)],
  [
    OWN,
    'a platform admin pauses a subscription of another',
    true,
    done([subscriptionItem()], { person: ROOT.name, method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/pause` }),
  ],
  [
    OWN,
    'the method is gone, and only its owner’s list has shown whose it was',
    true,
    historyWith({
      exchanges: [
        exchangeOf({ path: '/payment-methods', body: [{ id: METHOD }] }),
        exchangeOf({ at: 5, ...removingMethod, person: BEN.name }),
      ],
    }),
  ],
  [ADMINS, 'a user has another user erased', true, done([], erasing)],
  [ADMINS, 'a route has no row', true, done([], { method: 'POST', path: '/unknown' })],
  [NAMED, 'a buyer names the project of a seller', true, done([PROJECT_ITEM], { ...withProject, person: BEN.name })],
  [NAMED, 'a seller names the own project', false, done([PROJECT_ITEM], withProject)],
  [NAMED, 'a user names the method of another that is attached', true, namedWhenDetached(200)],
  [NAMED, 'a user names the method of another that is detached', false, namedWhenDetached(50)],
  [
    NAMED,
    'a guest goes on by the e-mail and a new method',
    false,
    goesOn({ sent: { payment_method_id: METHOD }, at: 60 }),
  ],
  [
    NAMED,
    'a guest goes on by the id that the provider has for a new method',
    true,
    goesOn({ sent: { payment_method_id: 'pm_1' }, at: 60 }),
  ],
  [
    NAMED,
    'a guest goes on by a new method from another network',
    true,
    goesOn({ sent: { payment_method_id: METHOD }, at: 60, network: 'gia' }),
  ],
  [
    NAMED,
    'a guest goes on by a method of two hours ago',
    true,
    goesOn({ sent: { payment_method_id: METHOD }, at: 7_200 }),
  ],
  [
    NAMED,
    'a guest repeats after two hours what began with a new method',
    false,
    goesOn({ sent: { payment_method_id: METHOD }, at: 7_200, first: 60 }),
  ],
  [
    NAMED,
    'a guest goes on by a new method of another e-mail',
    true,
    goesOn({ sent: { payment_method_id: METHOD }, at: 60, email: 'gia@guest.example.com' }),
  ],
  [NAMED, 'a guest goes on by a new method with a token of another e-mail', false, goesOnWithToken('g@example.com')],
  [NAMED, 'a guest goes on by a new method with another token of the e-mail', true, goesOnWithToken(GUS.email)],
  [
    NAMED,
    'a stranger who knows the e-mail names a payment as customer',
    true,
    goesOn({ sent: { customer_id: PAYMENT }, at: 60, items: [GUESTS_PAYMENT] }),
  ],
  [CLAIMED, 'the attempt is claimed while the confirmation runs', false, confirmed({ claims: [100] })],
  [
    CLAIMED,
    'a confirmation of two hours ago, before the removal, is no reason for another attempt',
    true,
    confirmed({ claims: [100, 7_300], againAt: 7_300 }),
  ],
  [CLAIMED, 'the confirmation was refused', true, confirmed({ claims: [100], status: 403 })],
  [
    CLAIMED,
    'the confirmation was refused because the right was lost after the claim',
    false,
    confirmed({ claims: [199], status: 403, confirmedAt: 199, answeredAt: 203 }),
  ],
  [
    CLAIMED,
    'no request has asked for the charge of the subscription',
    true,
    confirmed({ claims: [7_300], payment: { subscriptionId: SUBSCRIPTION } }),
  ],
  [SENT, 'an admin sends an event again whose log entry has expired', false, sendingExpired('admin')],
  [SENT, 'a billing member sends an event again whose log entry has expired', true, sendingExpired('billing')],
  [READ, 'a user reads the sums of everybody', true, asked(ADA.name, '/admin/summary')],
  [READ, 'a user lists the refunds of everybody', true, asked(ADA.name, '/refunds')],
  [READ, 'a platform admin reads the sums of everybody', false, asked(ROOT.name, '/admin/summary')],
  [READ, 'a stranger lists members', true, historyWith({ exchanges: [...joined('member'), ...listing(GUS.name)] })],
  [READ, 'a member lists members', false, historyWith({ exchanges: [...joined('member'), ...listing(BEN.name)] })],
  [
    READ,
    'the founder lists members, and the answer to the founding was lost',
    false,
    historyWith({
      items: [{ pk: `ORG#${ORGANIZATION}`, sk: 'ORG', ownerUserId: ADA.userId }],
      exchanges: listing(ADA.name),
    }),
  ],
  [READ, 'a guest gets a payment that was erased before the repeat', false, createdAgain(2)],
  [READ, 'a guest gets the payment of another guest that was erased', true, createdAgain(1)],
  [READ, 'a timeline of another', true, asked(BEN.name, `/payments/${PAYMENT}/timeline`, [historyPayment()])],
  [READ, 'an own timeline', false, asked(ADA.name, `/payments/${PAYMENT}/timeline`, [historyPayment()])],
  [READ, 'a log entry of another', true, asked(BEN.name, `/webhooks/logs/${LOG}`, [logItem({ userId: ADA.userId })])],
  [READ, 'a log entry without an owner', true, asked(ADA.name, `/webhooks/logs/${LOG}`, [logItem({})])],
  [READ, 'an own log entry', false, asked(ADA.name, `/webhooks/logs/${LOG}`, [logItem({ userId: ADA.userId })])],
  [READ, 'a seller reads what buyers have paid', false, done([sold, PROJECT_ITEM], ofProject)],
  [READ, 'another reads what buyers have paid', true, done([sold, PROJECT_ITEM], { ...ofProject, person: BEN.name })],
  [READ, 'a seller reads what buyers have paid elsewhere', true, done([sold], { ...ofProject, query: {} })],
  [READ, 'a buyer sees what only sellers see of a project', true, showing(ADA.name)],
  [READ, 'a buyer sees what buyers see of a project', false, showing(BEN.name)],
];
