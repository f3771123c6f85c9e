import type { Bug } from './bug.ts';

/** Mistakes in subscriptions and memberships. */
export const SUBSCRIPTION_BUGS: readonly Bug[] = [
  {
    name: 'subscription-without-lock',
    what: 'A subscription is stored without the condition on its lock',
    file: 'shared/subscriptions/record/subscription-store.ts',
    text: "[{ exists: true }, { equals: ['lock', lock] }]",
    replacement: '[{ exists: true }]',
  },
  {
    name: 'membership-kept-after-cancel',
    what: 'A membership stays active after its subscription is canceled',
    file: 'shared/subscriptions/record/membership-of.ts',
    text: "  canceled: 'cancelled',",
    replacement: "  canceled: 'active',",
  },
  {
    name: 'membership-kept-while-paused',
    what: 'A membership stays active while its subscription is paused',
    file: 'shared/subscriptions/record/membership-of.ts',
    text: "  paused: 'expired',",
    replacement: "  paused: 'active',",
  },
  {
    name: 'membership-in-trial',
    what: 'A membership is active before its first payment',
    file: 'shared/subscriptions/record/membership-of.ts',
    text: 'const membershipStatus = STATUS_OF[status];',
    replacement: "if (status === 'trialing') return 'active';\n  const membershipStatus = STATUS_OF[status];",
  },
  {
    name: 'month-too-long',
    what: 'A monthly period has two months',
    file: 'shared/subscriptions/billing/periods.ts',
    text: 'addMonths(day, count * length.months)',
    replacement: 'addMonths(day, count * (length.months + 1))',
  },
  {
    name: 'dunning-a-day-late',
    what: 'A failed renewal is retried a day late',
    file: 'shared/subscriptions/billing/dunning.ts',
    text: 'firstFailure + day * DAY_MS).find',
    replacement: 'firstFailure + (day + 1) * DAY_MS).find',
  },
  {
    name: 'charge-after-scheduled-cancel',
    what: 'A subscription that ends with its period is billed for the next one',
    file: 'shared/subscriptions/record/subscription-due.ts',
    text: "if (cancelAtPeriodEnd) return [{ step: 'cancel', at: periodEnd }];",
    replacement: '',
  },
  {
    name: 'cancel-only-here',
    what: 'A subscription that the provider bills is canceled here only',
    file: 'shared/subscriptions/commands/cancel-subscription.ts',
    text: `  if (isProviderBilled(subscription) && subscription.status !== 'canceled')
    await cancelProviderSubscription(deps, subscription);`,
    replacement: '',
  },
  {
    name: 'renewal-without-charge',
    what: 'A renewal whose payment failed counts as paid',
    file: 'shared/subscriptions/billing/subscription-charge.ts',
    text: 'return recordFailed(subscription, { code, decline, attempts: payment.attempt, spent: false }, settlement);',
    replacement: 'return recordPaid(subscription, settlement.now);',
  },
  {
    name: 'retry-never-planned',
    what: 'A failed renewal is never retried',
    file: 'shared/subscriptions/billing/subscription-charge.ts',
    text: 'retryAt: isHardDecline(failure.code, failure.decline) ? undefined : iso(retryAt),',
    replacement: 'retryAt: undefined,',
  },
  {
    name: 'hard-decline-retried',
    what: 'A lost card is tried again',
    file: 'shared/core/decline-advice.ts',
    text: 'adviceOn(code, decline).hard',
    replacement: 'false && adviceOn(code, decline).hard',
  },
  {
    name: 'past-due-for-ever',
    what: 'A subscription with a lost card stays past due forever',
    file: 'shared/subscriptions/record/subscription-due.ts',
    text: "return charge.finalAt === undefined ? [] : [{ step: 'end dunning', at: instant(charge.finalAt) }];",
    replacement: 'return [];',
  },
  {
    name: 'charge-of-void-invoice-unseen',
    what: 'A charge under way is ignored once its invoice is void',
    file: 'shared/providers/stripe/subscription-report.ts',
    text: "if (status !== 'open' && status !== 'void') return undefined;",
    replacement: "if (status !== 'open') return undefined;",
  },
  {
    name: 'change-of-method-unseen',
    what: 'A change of method whose response is lost changes only the provider',
    file: 'shared/subscriptions/at-provider/store-report.ts',
    text: 'const isOther = methodId !== methodRef && !held && !transfer;',
    replacement: 'const isOther = false;',
  },
];
