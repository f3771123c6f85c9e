import type { ForeignFields } from './foreigners.ts';

/**
 * Kinds of customers of another integration, each with the expected outcomes of its import. The outcomes are written by
 * hand, and no code of the service computes them.
 */
interface ForeignKind {
  readonly name: string;
  readonly customer: (index: number) => ForeignFields;
  /** The subscriptions without their customer, which the caller adds. */
  readonly subscriptions: (index: number, now: number) => readonly ForeignFields[];
  /** One text per record, with its kind, outcome and reason. Each method of the customer has a text. */
  readonly outcomes: (index: number) => readonly string[];
}

const CARD = { token: 'pm_card_visa' };
const DAY_MS = 86_400_000;
const METHOD = 'payment_method adopted';
const ADOPTED = 'subscription adopted';
const time = (now: number, days: number): string => new Date(now + days * DAY_MS).toISOString();
const withCard = (index: number): ForeignFields => ({
  email: `old.${index}@example.com`,
  payment_methods: [CARD],
  default_payment_method: 0,
});
const monthly = (cents: number): ForeignFields => ({ items: [{ unit_amount: cents }] });

/** Stripe subscriptions that the service does not take over, each with the reason. */
const MANUAL: readonly (readonly [string, ForeignFields])[] = [
  ['several_items', { items: [{ unit_amount: 100 }, { unit_amount: 200 }] }],
  ['metered', { items: [{ unit_amount: 100, usage_type: 'metered' }] }],
  ['tiered', { items: [{ unit_amount: 100, billing_scheme: 'tiered' }] }],
  ['schedule', { ...monthly(500), schedule: true }],
  ['send_invoice', { ...monthly(500), collection_method: 'send_invoice' }],
  ['paused', { ...monthly(500), pause_collection: 'keep_as_draft' }],
  ['incomplete', { ...monthly(500), status: 'incomplete' }],
  ['interval', { items: [{ unit_amount: 900, interval: 'week', interval_count: 120 }] }],
  ['discount_ends', { ...monthly(900), coupon: { percent_off: 20, duration: 'repeating', duration_in_months: 3 } }],
];
const manualOf = (index: number) => MANUAL[Math.floor(index / 12) % MANUAL.length] ?? ['', {}];

export const FOREIGN_KINDS: readonly ForeignKind[] = [
  {
    name: 'a customer with a card and no subscription',
    customer: withCard,
    subscriptions: () => [],
    outcomes: () => ['customer adopted', METHOD],
  },
  {
    name: 'a customer without a method',
    customer: () => ({ name: 'Ada' }),
    subscriptions: () => [],
    outcomes: () => ['customer adopted'],
  },
  {
    name: 'a card of the API before PaymentMethods',
    customer: () => ({ payment_methods: [{ ...CARD, legacy: true }, CARD], default_payment_method: 0 }),
    subscriptions: () => [monthly(700)],
    outcomes: () => ['customer adopted', METHOD, METHOD, ADOPTED],
  },
  {
    name: 'a bank account',
    customer: () => ({ payment_methods: [{ bank_account: true }] }),
    subscriptions: () => [{ ...monthly(800), default_payment_method: 0 }],
    outcomes: () => ['customer adopted', METHOD, ADOPTED],
  },
  {
    name: '21 cards',
    customer: () => ({ payment_methods: Array.from({ length: 21 }, () => CARD), default_payment_method: 20 }),
    subscriptions: () => [],
    outcomes: () => [
      'customer adopted',
      ...Array.from({ length: 19 }, () => METHOD),
      'payment_method manual too_many_methods',
      METHOD,
    ],
  },
  {
    name: 'a monthly subscription in the middle of a period',
    customer: withCard,
    subscriptions: (index, now) => [{ ...monthly(1_000 + index), billing_cycle_anchor: time(now, -(index % 90)) }],
    outcomes: () => ['customer adopted', METHOD, ADOPTED],
  },
  {
    name: 'a subscription in its trial',
    customer: withCard,
    subscriptions: (index, now) => [{ ...monthly(1_100), trial_end: time(now, 3 + (index % 20)) }],
    outcomes: () => ['customer adopted', METHOD, ADOPTED],
  },
  {
    name: 'a subscription that is past due or unpaid',
    customer: withCard,
    subscriptions: (index) => [{ ...monthly(1_200), status: index % 24 < 12 ? 'past_due' : 'unpaid' }],
    outcomes: () => ['customer adopted', METHOD, ADOPTED],
  },
  {
    name: 'several subscriptions, of other intervals, with a lasting discount',
    customer: withCard,
    subscriptions: (_, now) => [
      { items: [{ unit_amount: 300, quantity: 4, interval: 'month', interval_count: 6 }] },
      { ...monthly(1_500), coupon: { amount_off: 500, duration: 'forever' } },
      { items: [{ unit_amount: 9_900, interval: 'year' }], cancel_at: time(now, 200) },
    ],
    outcomes: () => ['customer adopted', METHOD, ADOPTED, ADOPTED, ADOPTED],
  },
  {
    name: 'a subscription that the service does not take over',
    customer: withCard,
    subscriptions: (index) => [manualOf(index)[1]],
    outcomes: (index) => ['customer adopted', METHOD, `subscription manual ${manualOf(index)[0]}`],
  },
  {
    name: 'a subscription without a method',
    customer: () => ({ payment_methods: [CARD] }),
    subscriptions: () => [monthly(1_300)],
    outcomes: () => ['customer adopted', METHOD, 'subscription manual no_method'],
  },
  {
    name: 'a subscription that names another record in its metadata',
    customer: withCard,
    subscriptions: (index) => [{ ...monthly(1_400), metadata: { subscription_id: `old-${index}` } }],
    outcomes: () => ['customer adopted', METHOD, 'subscription refused metadata_taken'],
  },
];
