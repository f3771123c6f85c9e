/** @module The limits of refunds by support, from the setting SUPPORT_REFUND_LIMITS. */

import type { Caller } from './caller.ts';

/** The maximum refund total per payment, in minor units by currency. Other currencies allow no refunds. */
export type RefundLimits = Readonly<Record<string, number>>;

/** The caller's limits; only support has limits. */
export const refundLimitsOf = (caller: Caller, limitsOfSupport: RefundLimits): RefundLimits | undefined => {
  const isSupport = caller.kind === 'session' && caller.staffRole === 'support' && !caller.isAdmin;
  return isSupport ? limitsOfSupport : undefined;
};
