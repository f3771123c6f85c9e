/** @module The intervals of recurring products and of subscriptions. */

export const BILLING_INTERVALS = ['daily', 'weekly', 'monthly', 'quarterly', 'yearly'] as const;
export type BillingInterval = (typeof BILLING_INTERVALS)[number];
