/** @module The table of calls that exclude each other on one record. Pure. */

import { DomainError } from '../core/errors.ts';

/** A call that a payment or a subscription may have open. */
export type OpenCall =
  | 'capture'
  | 'release'
  | 'charge'
  /** An attempt at a charge, with an unknown outcome. */
  | 'attempt'
  /** A charge whose subscription the billing provider may have. */
  | 'creation'
  | 'plan change'
  | 'price update'
  | 'transfer';

const ON_HOLDS: readonly OpenCall[] = ['capture', 'release'];
const ON_PLANS: readonly OpenCall[] = ['plan change', 'price update', 'transfer'];

/** What may be claimed, and the open calls that exclude it. */
const EXCLUDED_BY = {
  capture: ON_HOLDS,
  release: ON_HOLDS,
  'plan change': [...ON_PLANS, 'charge'],
  transfer: [...ON_PLANS, 'charge'],
  pause: ON_PLANS,
  /** An unpaid change stays beside the price of a scheduled change. */
  'price update': ['price update', 'transfer'],
  /** Cancel, resume, reactivate, and another method at the provider. */
  command: ['transfer'],
  /** A new period, after a cancellation or a pause. */
  start: ['attempt'],
  /** The end of a subscription or of a plan change, once the change's payment could be canceled. */
  end: ['plan change'],
  erasure: ['creation', 'plan change'],
} as const satisfies Readonly<Record<string, readonly OpenCall[]>>;

/** @throws DomainError PAYMENT_IN_PROGRESS if one of the open calls excludes the wanted call */
export const requireFree = (wanted: keyof typeof EXCLUDED_BY, open: readonly OpenCall[]): void => {
  const excluding: readonly OpenCall[] = EXCLUDED_BY[wanted];
  if (open.some((call) => excluding.includes(call))) throw new DomainError('PAYMENT_IN_PROGRESS');
};
