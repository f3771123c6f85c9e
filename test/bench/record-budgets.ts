/**
 * @module Writes of customers, methods and addresses take at most 3 requests in 3 levels, without the provider call.
 * Write units are the measured values and guard against growth.
 */
import type { Budget } from './budget.ts';

const nothingWritten = { writeUnits: 0, dueUnits: 0 };
const write = (of: string, writeUnits: number): Budget => ({ of, requests: 3, levels: 3, writeUnits, dueUnits: 0 });
const get = (of: string): Budget => ({ of, requests: 1, levels: 1, ...nothingWritten });
/** The budget of a list on a single page. */
const list = (of: string): Budget => ({ of, requests: 2, levels: 2, ...nothingWritten });
const WITH_DEFAULT = { requests: 3, because: 'the default is one read more, beside the others' };

const GOES_WITH_IT =
  'its subscriptions (before and after), its methods, and whether it is the one meant, are looked for';
const USED = 'what uses it is looked for, before and after';
const IS_DEFAULT = 'as an include: whether it is the default is one read more';

/** The due time of an ended membership. Due work then handles subscriptions paid by the member's own methods. */
const ENDED = { dueUnits: 1, because: 'the end of the membership is written with it, and is due at once' };

export const RECORD_BUDGETS = {
  'create customer': write('customers.create', 6),
  'create customer with an Idempotency-Key': { ...write('customers.create', 6), holdsKey: true },
  'get customer': get('customers.get'),
  'list customers': list('customers.list'),
  'update customer': write('customers.update', 1),
  'delete customer, another is there': {
    ...write('customers.remove', 7),
    requests: 6,
    levels: 5,
    because: GOES_WITH_IT,
  },
  'delete customer, the only one': { ...write('customers.remove', 7), requests: 7, levels: 6, because: GOES_WITH_IT },

  'create payment method': { ...write('payment-methods.create', 5), windows: 2, countsTwice: true },
  'create payment method, the first': {
    ...write('payment-methods.create', 13),
    requests: 4,
    levels: 4,
    windows: 2,
    countsTwice: true,
    because: 'its customer is claimed before the provider is called',
  },
  'get payment method': { ...get('payment-methods.get'), requests: 2, levels: 2, because: IS_DEFAULT },
  'list payment methods': { ...list('payment-methods.list'), ...WITH_DEFAULT },
  'update payment method': write('payment-methods.update', 2),
  'link an address to a payment method': write('payment-methods.link-address', 6),
  'set default payment method': write('payment-methods.set-default', 1),
  'delete payment method': { ...write('payment-methods.remove', 5), requests: 5, levels: 4, because: USED },
  'delete payment method, the default': {
    ...write('payment-methods.remove', 7),
    requests: 6,
    levels: 5,
    because: `${USED}, and the newest that remains takes over`,
  },

  'create address': write('addresses.create', 2),
  'create address as default': write('addresses.create', 3),
  'get address': { ...get('addresses.get'), requests: 2, levels: 2, because: IS_DEFAULT },
  'list addresses': { ...list('addresses.list'), ...WITH_DEFAULT },
  'list addresses, the first page': {
    ...list('addresses.list'),
    requests: 4,
    because: 'as the whole list, and the rest of the list is counted beside the records of the page',
  },
  'list payments of all owners': {
    of: 'admin.list-payments',
    requests: 5,
    levels: 2,
    ...nothingWritten,
    because: 'the four shards of the newest day at once, then the payments of the page',
  },
  'find a payment of any owner by its id': get('admin.list-payments'),
  'search by an id': get('admin.search'),
  'search by an id of a provider': {
    of: 'admin.search',
    requests: 6,
    levels: 2,
    ...nothingWritten,
    because: 'aliases, derived ids and the three lists of a user at the same time, then the records',
  },
  'search by an e-mail address': {
    of: 'admin.search',
    requests: 8,
    levels: 2,
    ...nothingWritten,
    because: 'three lists of guests and of the user each, and customers, at the same time, then the records',
  },
  'update address': write('addresses.update', 1),
  'set default address': write('addresses.set-default', 1),
  'delete address': { ...write('addresses.remove', 3), requests: 5, levels: 4, because: USED },

  'create organization': { ...write('organizations.create', 6), windows: 1 },
  'list organizations': list('organizations.list'),
  'get organization': get('organizations.get'),
  'update organization': write('organizations.update', 1),
  'delete organization': { ...write('organizations.remove', 1), dueUnits: 1 },
  'list members': {
    ...list('organizations.list-members'),
    requests: 3,
    levels: 3,
    because: 'the membership is read and checked first',
  },
  'add member': { ...write('organizations.add-member', 6), windows: 1 },
  'change role': write('organizations.change-role', 6),
  'remove member': { ...write('organizations.remove-member', 8), ...ENDED },
  'leave organization': { ...write('organizations.leave', 8), ...ENDED },

  'list tiers': list('memberships.list-tiers'),
  'preview invite': { ...list('projects.preview-invite'), windows: 1 },
  'clear cache': { ...write('admin.clear-cache', 0), windows: 1, raisesEpoch: true },
  'request an erasure': {
    ...write('admin.request-erasure', 4),
    requests: 1,
    levels: 1,
    dueUnits: 1,
    because: 'the job, which is due at once, and the lock of its person, in one transaction',
  },
  'get an erasure': get('admin.get-erasure'),
  'put reference record': write('admin.put-record', 1),
  'get reference record': get('admin.get-record'),
  'list reference records': list('admin.list-records'),
  'delete reference record': write('admin.delete-record', 2),
} as const satisfies Readonly<Record<string, Budget>>;

export type RecordRow = keyof typeof RECORD_BUDGETS;
