/** @module The limits of refunds by support, from the setting SUPPORT_REFUND_LIMITS. */

import type { Caller } from './caller.ts';

/** The largest sum of refunds of one payment, in minor units by currency. A currency that is not named has no refunds. */
export type RefundLimits = Readonly<Record<string, number>>;

/** The limits that apply to the caller; undefined for everyone but support. */
export const refundLimitsOf = (caller: Caller, limitsOfSupport: RefundLimits): RefundLimits | undefined => {
  const isSupport = caller.kind === 'session' && caller.staffRole === 'support' && !caller.isAdmin;
  return isSupport ? limitsOfSupport : undefined;
};
