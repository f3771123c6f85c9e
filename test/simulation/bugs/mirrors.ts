import type { Bug } from './bug.ts';

/** Mistakes in mirroring the changes of providers, banks and dashboards. */
export const MIRROR_BUGS: readonly Bug[] = [
  {
    name: 'cleared-contact-stays',
    what: 'A detail of a customer that was cleared at the provider stays here',
    file: 'shared/webhooks/customer-event.ts',
    text: 'if (reported[field] === undefined) return [];',
    replacement: 'if (!reported[field]) return [];',
  },
  {
    name: 'network-update-ignored',
    what: 'A card that its network renews keeps its old digits and expiry here',
    file: 'shared/webhooks/apply-event.ts',
    text: "  'payment_method.updated': applyMethodEvent,",
    replacement: "  'payment_method.updated': async () => ({ kind: 'done' }) as never,",
  },
  {
    name: 'older-invoices-stay-open',
    what: 'A pause or a cancellation voids only the newest invoice',
    file: 'shared/providers/stripe/owed-invoices.ts',
    text: 'await each(owed.filter(isFinal), voidOne)',
    replacement: 'await each(owed.filter(isFinal).slice(-1), voidOne)',
  },
  {
    name: 'date-of-the-end-ignored',
    what: 'The date on which a subscription ends at its provider is not read',
    file: 'shared/providers/subscription-payloads.ts',
    text: "cancelAtPeriodEnd: typeof at === 'number' ? true : (atPeriodEnd ?? undefined),",
    replacement: 'cancelAtPeriodEnd: atPeriodEnd ?? undefined,',
  },
  {
    name: 'moved-trial-ignored',
    what: 'A trial that is moved at the provider keeps its end here',
    file: 'shared/providers/subscription-payloads.ts',
    text: 'trialEnd: said.trial_end ?? undefined,',
    replacement: 'trialEnd: undefined,',
  },
  {
    name: 'price-at-the-provider-ignored',
    what: 'A price that is changed at the provider stays as it was here',
    file: 'shared/subscriptions/at-provider/provider-report.ts',
    text: '    ...pricesAt(subscription, report.price),',
    replacement: '',
  },
  {
    name: 'unpaid-at-the-provider-ignored',
    what: 'A subscription that its provider has given up collecting counts as being retried',
    file: 'shared/providers/stripe/subscription-report.ts',
    text: "isUnpaid: subscription.status === 'unpaid',",
    replacement: 'isUnpaid: false,',
  },
  {
    name: 'other-amount-unrecorded',
    what: 'A renewal of another amount than the price is not recorded',
    file: 'shared/subscriptions/at-provider/provider-invoices.ts',
    text: '    : { ...invoice.prices, totalCents: invoice.amountCents, anomaly: AMOUNT_CHANGED };',
    replacement: '    : {};',
  },
  {
    name: 'renewed-twice',
    what: 'A renewal is announced by its period and again by its payment',
    file: 'shared/subscriptions/at-provider/provider-report.ts',
    text: 'if (next.paidUntil !== was.paidUntil) return',
    replacement: 'if (next.paidUntil !== was.paidUntil || next.currentPeriodEnd !== was.currentPeriodEnd) return',
  },
  {
    name: 'leaver-keeps-paying',
    what: 'The own method of a person who left an organization stays on its subscriptions',
    file: 'shared/removal/membership-end.ts',
    text: 'await removeMethodFrom(deps, subscription, methodId);',
    replacement: '',
  },
];
