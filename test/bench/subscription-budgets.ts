/**
 * @module Writes of subscriptions without a charge take at most 3 requests in 3 levels. Write units are measured.
 */
import type { Budget } from './budget.ts';

const nothingWritten = { writeUnits: 0, dueUnits: 0 };
/** A subscription exceeds 1 KB. A write therefore costs two units, and three if its list row changes. */
const subscription = { requests: 2, levels: 2, writeUnits: 3, dueUnits: 0 };
const LINKS = 'what leads to it from its customer and its method goes with it, in one transaction';
const USES_METHOD = 'a subscription that runs again may charge its method: the rule of use reads the method first';
/** One request reads all windows of declines. */
const COUNTS_DECLINES = { windows: 1 } as const;
const CREATES = { ...COUNTS_DECLINES, countsTwice: true } as const;
const chargedNow = {
  of: 'subscriptions.create',
  requests: 9,
  levels: 8,
  writeUnits: 22,
  dueUnits: 6,
  ...CREATES,
  because:
    'load, claim of the period, a payment as created and confirmed (its claim comes with its creation, on the condition that the method may be charged), the outcome, and ' +
    'whether its customer and its method still stand',
};

export const SUBSCRIPTION_BUDGETS = {
  'create subscription': { ...chargedNow, writeUnits: 29 },
  'create subscription with a membership': { ...chargedNow, writeUnits: 32 },
  'create subscription, on trial': {
    ...subscription,
    of: 'subscriptions.create',
    ...CREATES,
    requests: 3,
    levels: 3,
    writeUnits: 9,
    dueUnits: 1,
    because: 'what leads to it from its customer and its method is written with it, in one transaction',
  },
  'get subscription': { of: 'subscriptions.get', requests: 1, levels: 1, ...nothingWritten },
  'timeline of a subscription': {
    of: 'subscriptions.timeline',
    requests: 2,
    levels: 2,
    ...nothingWritten,
    because: 'the subscription, then its history in one query',
  },
  'list subscriptions': { of: 'subscriptions.list', requests: 2, levels: 2, ...nothingWritten },
  'list subscriptions of all owners': {
    of: 'admin.list-subscriptions',
    requests: 5,
    levels: 2,
    ...nothingWritten,
    because: 'as the payments of all owners',
  },
  'list subscriptions by a guest e-mail': {
    of: 'subscriptions.list-guest',
    requests: 2,
    levels: 2,
    ...nothingWritten,
    windows: 2,
  },
  'list subscriptions with methods': {
    of: 'subscriptions.list',
    requests: 3,
    levels: 3,
    ...nothingWritten,
    because: 'as get: an include is one BatchGet more',
  },
  'change subscription, metadata': { ...subscription, of: 'subscriptions.update', ...COUNTS_DECLINES },
  'change subscription, method': {
    ...subscription,
    of: 'subscriptions.update',
    ...COUNTS_DECLINES,
    writeUnits: 10,
    dueUnits: 2,
    because: `${LINKS}; the next notice has another time`,
  },
  'link address of subscription': { ...subscription, of: 'subscriptions.link-address', writeUnits: 6 },
  'cancel subscription at its end': {
    ...subscription,
    of: 'subscriptions.cancel',
    dueUnits: 2,
    because: 'a subscription that ends announces nothing, so its time of notices is removed',
  },
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
    ...COUNTS_DECLINES,
    requests: 4,
    levels: 4,
    writeUnits: 9,
    dueUnits: 1,
    because: `${USES_METHOD}; ${LINKS}`,
  },
  'pause subscription': { ...subscription, of: 'subscriptions.pause', dueUnits: 1 },
  'resume subscription': {
    ...subscription,
    of: 'subscriptions.resume',
    ...COUNTS_DECLINES,
    requests: 3,
    levels: 3,
    dueUnits: 1,
    because: USES_METHOD,
  },
  'preview a change of the plan': {
    of: 'subscriptions.preview-change',
    requests: 2,
    levels: 2,
    ...nothingWritten,
    because: 'the subscription and the product, then its method',
  },
  'change the plan now': {
    of: 'subscriptions.change',
    requests: 9,
    levels: 8,
    writeUnits: 30,
    dueUnits: 6,
    ...COUNTS_DECLINES,
    because:
      'as the preview, with the payments of the period; the claim of the change, which checks them, a payment as created and confirmed (its claim comes with its creation), ' +
      'its outcome, and the plan',
  },
  'change the plan at the end of the period': {
    of: 'subscriptions.change',
    ...COUNTS_DECLINES,
    requests: 3,
    levels: 3,
    writeUnits: 3,
    dueUnits: 1,
    because: 'as the preview; the subscription with its scheduled change',
  },
  'withdraw a change of the plan': { ...subscription, of: 'subscriptions.withdraw-change' },
  'list memberships': { of: 'memberships.list', requests: 2, levels: 2, ...nothingWritten },
  'get membership': { of: 'memberships.get', requests: 1, levels: 1, ...nothingWritten },
} as const satisfies Readonly<Record<string, Budget>>;

export type SubscriptionRow = keyof typeof SUBSCRIPTION_BUDGETS;
