/** @module Changes of a subscription by the Stripe account's owner on the dashboard, and by a payer in the portal. */
import type { HistoryJson } from '../model/history.ts';
import { COLLECTING, ENDING, INVOICE_PAID, PRICING, TRIAL_MOVED } from '../model/outside.ts';
import type { Known } from './knowledge.ts';
import { type Acted, inDays, maybe, type Scene, type WorldOperation } from './operation.ts';
import type { StageAnswer } from './stage.ts';

const native = ({ prng, knowledge, latest }: Scene): Known | undefined => {
  const isAny = prng.chance(0.15);
  const found = knowledge
    .all('subscription')
    .filter(
      ({ fields }) =>
        typeof fields['provider_subscription_id'] === 'string' && (isAny || fields['status'] !== 'canceled'),
    );
  return found.length === 0 ? undefined : prng.pick(found.slice(-latest));
};

/** @param draw the change; null clears */
const onSubscription = (name: string, weight: number, draw: (scene: Scene) => HistoryJson): WorldOperation => ({
  name,
  weight,
  plan: (scene) => {
    const subscription = native(scene);
    const path = `/simulator/subscriptions/${subscription?.fields['provider_subscription_id']}`;
    return subscription && { kind: 'act', path, body: draw(scene) };
  },
});

const moveEnd = onSubscription(ENDING, 5, ({ prng, now }) =>
  prng.pick([
    { cancel_at_period_end: true },
    { cancel_at_period_end: false },
    { cancel_at: inDays(now, prng.int(1, 40)) },
    { cancel_at: null },
  ]),
);

const moveTrial = onSubscription(TRIAL_MOVED, 5, ({ prng, now }) => ({
  trial_end: prng.chance(0.35) ? 'now' : inDays(now, prng.int(1, 30)),
}));

const changePrice = onSubscription(PRICING, 5, ({ prng }) => ({
  ...maybe('quantity', prng.chance(0.6) ? prng.int(1, 4) : undefined),
  ...maybe('unit_amount', prng.chance(0.5) ? prng.int(100, 5_000) : undefined),
}));

const discount = onSubscription('change a coupon or a tax at the provider', 5, ({ prng }) =>
  prng.pick([
    { coupon: { percent_off: prng.pick([10, 50, 100]), duration: prng.pick(['once', 'forever'] as const) } },
    { coupon: { amount_off: prng.int(1, 2_000), duration: 'once' } },
    { coupon: null },
    { tax: { percentage: prng.int(1, 25), inclusive: prng.chance(0.3) } },
    { tax: null },
  ]),
);

const pauseCollection = onSubscription('pause the collection at the provider', 2.5, ({ prng }) => ({
  pause_collection: prng.pick(['void', 'keep_as_draft', 'mark_uncollectible'] as const),
}));

const resumeCollection = onSubscription(COLLECTING, 2.5, () => ({ pause_collection: null }));

const setUnpaid = onSubscription('set a subscription unpaid at the provider', 1, () => ({ status: 'unpaid' }));

const FINAL = new Set(['paid', 'void']);

/** One of the latest invoices, mostly an unsettled one. */
const invoiceOf = ({ prng }: Scene) => {
  const [isAny, ofLast] = [prng.chance(0.2), prng.int(1, 3)];
  return ({ body }: StageAnswer): HistoryJson => {
    const found = body.invoices.filter(({ status }: HistoryJson) => isAny || !FINAL.has(status));
    return found.at(-Math.min(ofLast, found.length));
  };
};

const onInvoice = (name: string, weight: number, actions: readonly string[]): WorldOperation => ({
  name,
  weight,
  plan: (scene) => {
    if (!native(scene)) return undefined;
    const [find, action] = [invoiceOf(scene), scene.prng.pick(actions)];
    const next = (answer: StageAnswer): Acted | undefined => {
      const invoice = find(answer);
      return invoice && { kind: 'act', path: `/simulator/invoices/${invoice.id}`, body: { action } };
    };
    return { kind: 'act', method: 'GET', path: '/simulator/ledger', next };
  },
});

const giveCredit: WorldOperation = {
  name: 'change a balance at the provider',
  weight: 2.5,
  plan: ({ prng, knowledge, latest }) => {
    const found = knowledge.all('customer').filter(({ fields }) => fields['provider_id'] === 'provider_a');
    if (found.length === 0) return undefined;
    const { provider_customer_id: id } = prng.pick(found.slice(-latest)).fields;
    const balance = prng.chance(0.7) ? -prng.int(1, 6_000) : prng.int(0, 500);
    return { kind: 'act', path: `/simulator/customers/${id}/balance`, body: { balance } };
  },
};

const setRetries: WorldOperation = {
  name: 'set the retries at the provider',
  weight: 0.7,
  plan: ({ prng }) => ({
    kind: 'act',
    path: '/simulator/retries',
    body: { days: prng.pick([[], [1], [1, 3, 5], [2, 6, 12]]), then: prng.pick(['cancel', 'unpaid', 'past_due']) },
  }),
};

export const DASHBOARD_SUBSCRIPTIONS: readonly WorldOperation[] = [
  moveEnd,
  moveTrial,
  changePrice,
  discount,
  pauseCollection,
  resumeCollection,
  setUnpaid,
  onInvoice('change an invoice at the provider', 4, ['void', 'mark_uncollectible', 'pay_out_of_band']),
  onInvoice(INVOICE_PAID, 3, ['pay', 'pay', 'finalize']),
  giveCredit,
  setRetries,
];
