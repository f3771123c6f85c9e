import type { Bug } from './bug.ts';

/** Mistakes in how plans change. */
export const PLAN_BUGS: readonly Bug[] = [
  {
    name: 'change-applied-unpaid',
    what: 'A change of a plan whose payment is declined takes effect',
    file: 'shared/subscriptions/plan-changes/plan-change-steps.ts',
    text: `    case 'requires_payment_method':
      return dropChange(subscription, reasonOfEnd(change), now);`,
    replacement: `    case 'requires_payment_method':
      return recordChangePaid(subscription, now);`,
  },
  {
    name: 'paid-change-dropped',
    what: 'A change of a plan that is paid is dropped',
    file: 'shared/subscriptions/plan-changes/plan-change-steps.ts',
    text: '        : recordChangePaid(subscription, now);',
    replacement: "        : removeChange(subscription, 'plan_change_failed', now);",
  },
  {
    name: 'change-charges-full-price',
    what: 'A change of a plan charges the whole new price in place of the difference',
    file: 'shared/subscriptions/plan-changes/finish-change.ts',
    text: '...change.plan, ...change.due }',
    replacement: '...change.due, ...change.plan }',
  },
  {
    name: 'new-price-only-here',
    what: 'The billing provider never gets the new price',
    file: 'shared/subscriptions/at-provider/price-at-provider.ts',
    text: 'outcome: await port.changePrice(requestOf(deps, claim)) }',
    replacement: "outcome: { kind: 'done', value: { subscriptionId: '' } } }",
  },
  {
    name: 'tier-before-its-money',
    what: 'A tier that a scheduled change brings is active before its first payment',
    file: 'shared/subscriptions/record/paid-tier.ts',
    text: '  totalCents === 0 || tierUnpaidSince === undefined;',
    replacement: '  totalCents >= 0 || tierUnpaidSince === undefined;',
  },
  {
    name: 'trial-of-nothing-kept',
    what: 'A change to a product keeps a trial that the product does not give',
    file: 'shared/subscriptions/plan-changes/plan-change-time.ts',
    text: 'const trialEnd = Math.min(end, ownEnd);',
    replacement: 'const trialEnd = Math.max(end, ownEnd);',
  },
  {
    name: 'payer-sets-price',
    what: 'A payer may set the price of an own subscription',
    file: 'shared/subscriptions/plan-changes/plan-change-terms.ts',
    text: '  if (isFree || isFreeNow) requireMerchant(decision);\n',
    replacement: '',
  },
  {
    name: 'refunded-month-credited',
    what: 'A change of a plan credits a period whose payment was refunded or lost',
    file: 'shared/subscriptions/billing/paid-period.ts',
    text: 'const credit = sources.reduce((rest, source) => minus(rest, missingOf(source, part, left)), unused);',
    replacement: 'const credit = unused;',
  },
  {
    name: 'refunded-difference-credited',
    what: 'A change of a plan credits the difference of an earlier change although it was refunded',
    file: 'shared/subscriptions/billing/paid-period.ts',
    text: 'payments: [...kept, ...own] };',
    replacement: 'payments: [...kept] };',
  },
  {
    name: 'waived-difference-credited',
    what: 'A change of a plan credits a difference that the merchant has waived',
    file: 'shared/subscriptions/billing/paid-period.ts',
    text: 'const price = change.isWaived ? waivedPrice(change) : to;',
    replacement: 'const price = to;',
  },
];
