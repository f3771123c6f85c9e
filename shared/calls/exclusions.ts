/** @module The table of calls that exclude each other on one record. Pure. */

import { DomainError } from '../core/errors.ts';

/** The kinds of open calls of a payment or a subscription. */
export type OpenCall =
  | 'capture'
  | 'release'
  | 'charge'
  | 'update'
  /** A subscription's charge with an unknown outcome. */
  | 'attempt'
  /** The creation of a subscription at its billing provider, which may have created it already. */
  | 'creation'
  | 'plan change'
  | 'price update'
  | 'transfer';

const ON_HOLDS: readonly OpenCall[] = ['capture', 'release'];
const ON_PLANS: readonly OpenCall[] = ['plan change', 'price update', 'transfer'];

/** Each wanted action, with the open calls that exclude it. */
const EXCLUDED_BY = {
  charge: ['charge', 'update'],
  /** The cancellation of a payment, which settles an open update first. */
  cancellation: ['charge'],
  'payment erasure': ['charge', 'update'],
  capture: ON_HOLDS,
  release: ON_HOLDS,
  'plan change': [...ON_PLANS, 'charge'],
  transfer: [...ON_PLANS, 'charge'],
  pause: ON_PLANS,
  /** An unpaid plan change does not exclude the price update of a scheduled change. */
  'price update': ['price update', 'transfer'],
  /** The commands at the provider: cancel, resume, reactivate, and a change of the method. */
  command: ['transfer'],
  /** The start of a new period after a cancellation or a pause. */
  start: ['attempt'],
  /** The end of a subscription or of a plan change. Unpaid plan changes have been dropped by then. */
  end: ['plan change'],
  'subscription erasure': ['creation', 'plan change'],
} as const satisfies Readonly<Record<string, readonly OpenCall[]>>;

type Wanted = keyof typeof EXCLUDED_BY;

export const isFree = (wanted: Wanted, open: readonly OpenCall[]): boolean => {
  const excluding: readonly OpenCall[] = EXCLUDED_BY[wanted];
  return !open.some((call) => excluding.includes(call));
};

/** @throws DomainError PAYMENT_IN_PROGRESS if one of the open calls excludes the wanted call */
export const requireFree = (wanted: Wanted, open: readonly OpenCall[]): void => {
  if (!isFree(wanted, open)) throw new DomainError('PAYMENT_IN_PROGRESS');
};
