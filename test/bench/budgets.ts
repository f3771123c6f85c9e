/**
 * What each endpoint may ask of DynamoDB while its caller waits, the provider's call apart: requests, sequential levels,
 * and write units of the table with its `owner` and `project` indexes. `dueUnits` are those of the `due` index: an
 * appointment that is set or dropped is one key written, one that is moved is two (the old key goes, the new one comes).
 * A row whose bounds the design does not name says where they come from.
 */
export interface Budget {
  /** Id of the function. */
  readonly of: string;
  readonly requests: number;
  readonly levels: number;
  readonly writeUnits: number | 'size of the item';
  readonly dueUnits: number;
  /** Rate windows that this caller's request is counted in: so many requests, exactly, in one level more. */
  readonly windows?: number;
  /** The answer is kept under its Idempotency-Key: two requests, exactly, in two levels more. */
  readonly keepsAnswer?: true;
  readonly because?: string;
}

/** Set for the first look at a creation (1), moved to the end of the confirmation period (2). */
const DUE_OF_CREATE = 3;
/** Moved to the first look at the attempt (2), and back to what is left: the client secret's end (2). */
const DUE_OF_CONFIRM = 4;
/** Moved, where something is left to be done. */
const DUE_OF_ONE_COMMIT = 2;

const create = { of: 'payments.create-intent', requests: 4, levels: 4, writeUnits: 4, dueUnits: DUE_OF_CREATE };
const confirm = {
  of: 'payments.confirm',
  requests: 3,
  levels: 3,
  writeUnits: 4,
  dueUnits: DUE_OF_CONFIRM,
  windows: 2,
};
const sync = {
  of: 'payments.sync',
  requests: 3,
  levels: 3,
  writeUnits: 2,
  dueUnits: DUE_OF_ONE_COMMIT,
  windows: 1,
};
const nothingWritten = { writeUnits: 0, dueUnits: 0 };
const get = { of: 'payments.get', requests: 1, levels: 1, ...nothingWritten };
const list = { of: 'payments.list', requests: 3, levels: 2, ...nothingWritten };
const cancel = { of: 'payments.cancel-intent', requests: 2, levels: 2, writeUnits: 2, dueUnits: DUE_OF_ONE_COMMIT };
const oneMore = (base: Budget, because?: string): Budget => ({
  ...base,
  requests: base.requests + 1,
  levels: base.levels + 1,
  ...(because !== undefined && { because }),
});
const MEMBERSHIP = 'as get: the membership, where it is not cached, is one BatchGet more';

/** A subscription is over 1 KB: two units a write, and one where its list row changes. */
const subscription = { requests: 2, levels: 2, writeUnits: 3, dueUnits: 0 };
const LINKS = 'what leads to it from its customer and its method goes with it, in one transaction';
const chargedNow = {
  of: 'subscriptions.create',
  requests: 8,
  levels: 8,
  writeUnits: 22,
  dueUnits: 6,
  because:
    'load, claim of the period, a payment as created and confirmed (its claim comes with its creation), the outcome',
};

export const BUDGETS = {
  'create intent': create,
  'create intent in a project': { ...create, writeUnits: 5 },
  'create intent of an organization': create,
  'create intent by a guest': { ...create, windows: 2 },
  'create intent with a saved method': create,
  'create intent with an Idempotency-Key': create,
  'create intent again with that key': create,
  'create payment': { ...create, of: 'payments.create' },
  confirm,
  'confirm in a project': { ...confirm, writeUnits: 6, because: '+1 a commit: the project index holds the status' },
  'confirm with a saved method': confirm,
  'confirm by a guest token': confirm,
  'confirm, declined': confirm,
  'confirm, 3-D Secure asked for': confirm,
  'confirm, the provider times out': confirm,
  'confirm with an Idempotency-Key': { ...confirm, keepsAnswer: true },
  sync,
  'sync, nothing new': sync,
  'sync with an Idempotency-Key': { ...sync, keepsAnswer: true },
  get,
  'get with includes': oneMore(get),
  'get of an organization': oneMore(get),
  'get of an organization, cached': get,
  'get of an organization with includes': oneMore(oneMore(get), 'one BatchGet more each'),
  'get by a guest token': get,
  list,
  'list by status': list,
  'list by a guest token': list,
  'list of an organization': oneMore(list, MEMBERSHIP),
  'list of an organization, cached': list,
  'list of a project': oneMore(list, 'the project is read and checked first'),
  'list with payment methods': oneMore(list, 'as get: an include is one BatchGet more'),
  'list by a guest e-mail': { ...list, of: 'payments.list-guest', windows: 2 },
  'update intent': {
    of: 'payments.update-intent',
    requests: 3,
    levels: 3,
    writeUnits: 3,
    dueUnits: 4,
    because: 'load, claim of the draft, commit, as confirm; lists do not show the claim',
  },
  'update intent, here only': {
    of: 'payments.update-intent',
    requests: 2,
    levels: 2,
    writeUnits: 2,
    dueUnits: 0,
    because: 'load, commit',
  },
  cancel: { ...cancel, because: 'load, commit, as sync' },
  'cancel with an Idempotency-Key': { ...cancel, keepsAnswer: true, because: 'load, commit, as sync' },
  'inbound event, until the answer': {
    of: 'webhooks.provider-a',
    requests: 1,
    levels: 1,
    writeUnits: 'size of the item',
    dueUnits: 0,
  },
  'the same event again': {
    of: 'webhooks.provider-a',
    requests: 1,
    levels: 1,
    writeUnits: 'size of the item',
    dueUnits: 0,
  },
  'create subscription': chargedNow,
  'create subscription with a membership': { ...chargedNow, writeUnits: 31 },
  'create subscription, on trial': {
    ...subscription,
    of: 'subscriptions.create',
    writeUnits: 9,
    dueUnits: 1,
    because: 'what leads to it from its customer and its method is written with it, in one transaction',
  },
  'get subscription': { ...get, of: 'subscriptions.get' },
  'list subscriptions': { of: 'subscriptions.list', requests: 2, levels: 2, ...nothingWritten },
  'list subscriptions with methods': {
    of: 'subscriptions.list',
    requests: 3,
    levels: 3,
    ...nothingWritten,
    because: 'as get: an include is one BatchGet more',
  },
  'change subscription, metadata': { ...subscription, of: 'subscriptions.update' },
  'change subscription, method': { ...subscription, of: 'subscriptions.update', writeUnits: 10, because: LINKS },
  'link address of subscription': { ...subscription, of: 'subscriptions.link-address' },
  'cancel subscription at its end': { ...subscription, of: 'subscriptions.cancel' },
  'cancel subscription now': {
    ...subscription,
    of: 'subscriptions.cancel',
    writeUnits: 9,
    dueUnits: 1,
    because: LINKS,
  },
  'reactivate subscription': {
    ...subscription,
    of: 'subscriptions.reactivate',
    writeUnits: 9,
    dueUnits: 1,
    because: LINKS,
  },
  'pause subscription': { ...subscription, of: 'subscriptions.pause', dueUnits: 1 },
  'resume subscription': { ...subscription, of: 'subscriptions.resume', dueUnits: 1 },
  'list memberships': { of: 'memberships.list', requests: 2, levels: 2, ...nothingWritten },
  'get membership': { ...get, of: 'memberships.get' },
} as const satisfies Readonly<Record<string, Budget>>;

export type RowName = keyof typeof BUDGETS;
