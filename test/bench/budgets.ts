import { type Budget, MEMBERSHIP, oneMore } from './budget.ts';
import { RECORD_BUDGETS } from './record-budgets.ts';
import { SUBSCRIPTION_BUDGETS } from './subscription-budgets.ts';
import { WEBHOOK_BUDGETS } from './webhook-budgets.ts';

/**
 * The due time is set to the time of the first lookup (1 write unit), then moved to the end of the confirmation period
 * (2 units).
 */
const DUE_OF_CREATE = 3;
/**
 * The due time is moved to the time of the attempt's first lookup (2 units), then to the client secret's expiry (2
 * units).
 */
const DUE_OF_CONFIRM = 4;
/** If work remains, one commit moves the due time (2 units). */
const DUE_OF_ONE_COMMIT = 2;

/** A create sends four requests in three levels, because it writes the alias and the published payment in parallel. */
const create = { of: 'payments.create-intent', requests: 4, levels: 3, writeUnits: 4, dueUnits: DUE_OF_CREATE };
const confirm = {
  of: 'payments.confirm',
  requests: 3,
  levels: 3,
  writeUnits: 7,
  dueUnits: DUE_OF_CONFIRM,
  windows: 3,
  because: 'the claim is a transaction: a saved method may be charged, or the token was not saved as a method since',
};
const sync = {
  of: 'payments.sync',
  requests: 4,
  levels: 4,
  writeUnits: 3,
  dueUnits: DUE_OF_ONE_COMMIT,
  windows: 1,
  because: 'load, commit; a paid payment is read again once the refunds and disputes of its provider are stored',
};
const refund = {
  of: 'refunds.create',
  requests: 7,
  levels: 7,
  writeUnits: 18,
  dueUnits: 2,
  windows: 1,
  because:
    'load; the refund and its reservation on the payment in one transaction, and its outcome in another, before which the ' +
    'payment is read; the alias of the provider’s id; before and after, a look for a record that an event made of the same refund; ' +
    'a payment with its facts and a refund takes more than one unit a write',
};
const capture = {
  of: 'payments.capture',
  requests: 3,
  levels: 3,
  writeUnits: 6,
  dueUnits: 3,
  windows: 1,
  because: 'load, the claim, and the outcome; a held payment with its facts takes more than one unit a write',
};
const WITH_FACTS = 'the facts of the attempt bring the payment over one unit';
const nothingWritten = { writeUnits: 0, dueUnits: 0 };
const get = { of: 'payments.get', requests: 1, levels: 1, ...nothingWritten };
/** A list that fits on one page needs no request to count the rest. */
const whole = { of: 'payments.list', requests: 2, levels: 2, ...nothingWritten };
const list = {
  ...whole,
  requests: 3,
  because: 'the rest of a list that is longer than its page is counted, beside the records of the page',
};
const cancel = { of: 'payments.cancel-intent', requests: 2, levels: 2, writeUnits: 2, dueUnits: DUE_OF_ONE_COMMIT };
const summary = { of: 'payments.summary', requests: 1, levels: 1, ...nothingWritten };
const OF_PAYMENT = 'the payment for the access rule, then the index of its records, then the records';
const BY_MONTH = 'one query per month of the range until the page is full, then its records, then their payments';
const FIRST_PAID = 'the first payment of a payer is noted, for the count of new payers';
const SUMMED_REFUND = 'what the sums hold of a refund is stored beside it, because its fee may come later';
const WITH_RECEIPT = 'the link of the receipt makes a paid payment larger than a unit';
/** The budgets of payments. The values without `because` are from the design. */
const PAYMENT_BUDGETS = {
  'create intent': { ...create, laterUnits: 20 },
  'create intent in a project': { ...create, writeUnits: 5 },
  'create intent of an organization': create,
  'create intent by a guest': create,
  'create intent with a saved method': create,
  'create intent with an Idempotency-Key': create,
  'create intent again with that key': create,
  'create payment': { ...create, of: 'payments.create' },
  confirm: { ...confirm, laterUnits: 35, because: `${WITH_RECEIPT}; ${FIRST_PAID}` },
  'confirm in a project': {
    ...confirm,
    writeUnits: 10,
    because: `+1 a commit: the project index holds the status; ${WITH_FACTS}`,
  },
  'confirm with a saved method': { ...confirm, writeUnits: 8, because: WITH_FACTS },
  'confirm for an organization': {
    ...confirm,
    requests: 4,
    levels: 4,
    writeUnits: 12,
    because: `the membership is read first; the claim checks it again, and the organization: 2 units each; ${WITH_RECEIPT}`,
  },
  'confirm by a guest token': { ...confirm, writeUnits: 8, windows: 4, because: WITH_RECEIPT },
  'confirm, declined': { ...confirm, countsDecline: 2 },
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
  'get with includes of another organization': oneMore(
    oneMore(get),
    'the standing in an organization that is not the payment’s own is one BatchGet more',
  ),
  'get by a guest token': get,
  'get by a service key, cached': get,
  'get by a service key': oneMore(get, 'the key is read consistently, where it is not cached'),
  'get by a service key, first in an hour': {
    ...oneMore(oneMore(get)),
    writeUnits: 1,
    because: 'as get by a service key, and the hour of its last use is noted',
  },
  'get by a service key of the merchant': { ...get, windows: 1 },
  'create intent by a service key': create,
  'refund by a service key': { ...refund, windows: refund.windows + 1, countsTwice: true },
  timeline: { ...oneMore(get, 'the payment, then its history in one query'), of: 'payments.timeline' },
  list,
  'list by status': whole,
  'list by a guest token': whole,
  'list of an organization': oneMore(list, MEMBERSHIP),
  'list of an organization, cached': list,
  'list of a project': oneMore(list, 'the project is read and checked first'),
  'list with payment methods': oneMore(whole, 'as get: an include is one BatchGet more'),
  'list as CSV': { ...list, requests: 2, because: 'a CSV page has no total, so its list is not counted' },
  summary,
  'summary of an organization': oneMore(summary, MEMBERSHIP),
  'summary of all payments': {
    ...summary,
    of: 'admin.summary',
    requests: 12,
    because: 'one query per shard of payments and of subscriptions',
  },
  'config of browsers': { of: 'api.config', requests: 0, levels: 0, ...nothingWritten },
  'user of the session': { of: 'api.me', requests: 0, levels: 0, ...nothingWritten },
  'page of the console': { of: 'console.page', requests: 0, levels: 0, ...nothingWritten },
  'file of the console': { of: 'console.file', requests: 0, levels: 0, ...nothingWritten },
  'hosted page': { of: 'pay-page.page', requests: 0, levels: 0, ...nothingWritten },
  'file of the hosted page': { of: 'pay-page.file', requests: 0, levels: 0, ...nothingWritten },
  'list by a guest e-mail': { ...whole, of: 'payments.list-guest', windows: 2 },
  'update intent': {
    of: 'payments.update-intent',
    requests: 4,
    levels: 4,
    writeUnits: 3,
    dueUnits: 4,
    because:
      'load, claim of the draft, commit, as confirm; lists do not show the claim; another amount for a method that the ' +
      'payment holds reads whether that method may be charged',
  },
  'update intent for an organization': {
    of: 'payments.update-intent',
    requests: 5,
    levels: 5,
    writeUnits: 11,
    dueUnits: 4,
    because:
      'as update intent; the membership is read first, and the claim is a transaction (4, two more for its checks of the membership and of the organization)',
  },
  'update intent, here only': {
    of: 'payments.update-intent',
    requests: 2,
    levels: 2,
    writeUnits: 2,
    dueUnits: 0,
    because: 'load, commit',
  },
  capture: { ...capture, laterUnits: 30, because: `${WITH_RECEIPT}; ${FIRST_PAID}` },
  release: { ...capture, of: 'payments.cancel-intent', windows: 0 },
  refund: { ...refund, laterUnits: 37, because: `${WITH_RECEIPT}; ${SUMMED_REFUND}` },
  'refund with an Idempotency-Key': oneMore(refund, 'as refund; the refund of the key is looked for first'),
  'refund of more than is left': {
    of: 'refunds.create',
    requests: 1,
    levels: 1,
    ...nothingWritten,
    windows: 1,
    because: 'the payment alone decides',
  },
  'get refund': { ...get, of: 'refunds.get' },
  'list refunds of a payment': { ...get, of: 'refunds.list-of-payment', requests: 3, levels: 3, because: OF_PAYMENT },
  'list disputes of a payment': { ...get, of: 'disputes.list-of-payment', requests: 3, levels: 3, because: OF_PAYMENT },
  'list refunds of all payments': { ...list, of: 'refunds.list', requests: 3, levels: 3, because: BY_MONTH },
  'list disputes of all payments': { ...list, of: 'disputes.list', requests: 3, levels: 3, because: BY_MONTH },
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
} as const satisfies Readonly<Record<string, Budget>>;

export type PaymentRow = keyof typeof PAYMENT_BUDGETS;

export const BUDGETS = {
  ...PAYMENT_BUDGETS,
  ...RECORD_BUDGETS,
  ...SUBSCRIPTION_BUDGETS,
  ...WEBHOOK_BUDGETS,
} as const satisfies Readonly<Record<string, Budget>>;

export type RowName = keyof typeof BUDGETS;
