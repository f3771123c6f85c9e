/** @module Acts of payers, banks and provider dashboards outside the service. */
import { LOCAL_SECRETS, PUBLISHABLE_KEY } from '../../../infra/local/machine/environment.ts';
import type { Prng } from '../kernel/prng.ts';
import type { HistoryJson } from '../model/history.ts';
import type { Known } from './knowledge.ts';
import { type Acted, inDays, maybe, type Scene, type WorldOperation } from './operation.ts';
import { ROOT } from './people.ts';
import type { StageAnswer } from './stage.ts';

const paid = ({ prng, knowledge, latest }: Scene): Known | undefined => {
  const found = knowledge.all('payment').filter(({ fields }) => fields['status'] === 'succeeded');
  return found.length === 0 ? undefined : prng.pick(found.slice(-latest));
};

const refundAtProvider: WorldOperation = {
  name: 'refund at the provider',
  weight: 3,
  plan: (scene) => {
    const payment = paid(scene);
    const amount = scene.prng.chance(0.8)
      ? scene.prng.int(1, Math.max(1, Number(payment?.fields['total_cents'] ?? 100)))
      : undefined;
    const status = scene.prng.chance(0.3) ? 'pending' : undefined;
    return (
      payment && {
        kind: 'act',
        path: `/simulator/payments/${payment.id}/refunds`,
        body: { ...maybe('amount', amount), ...maybe('status', status) },
      }
    );
  },
};

const settleRefund: WorldOperation = {
  name: 'settle a refund at the provider',
  weight: 3,
  plan: ({ prng, knowledge }) => {
    const made = knowledge.all('refund').filter(({ fields }) => typeof fields['provider_refund_id'] === 'string');
    if (made.length === 0) return undefined;
    const refund = prng.pick(made.slice(-4));
    const status = prng.pick(['succeeded', 'failed', 'canceled']);
    return { kind: 'act', path: `/simulator/refunds/${refund.fields['provider_refund_id']}`, body: { status } };
  },
};

const decision = (id: string, status: string): Acted => ({
  kind: 'act',
  path: `/simulator/disputes/${id}`,
  body: { status },
});

const DECISIONS = ['under_review', 'won', 'lost', 'closed'] as const;

const dispute: WorldOperation = {
  name: 'dispute a charge',
  weight: 5,
  plan: (scene) => {
    const { prng } = scene;
    const payment = paid(scene);
    const decided = prng.chance(0.15) ? prng.pick(DECISIONS) : undefined;
    const isDecidedAtOnce = prng.chance(0.3);
    const status = prng.pick(DECISIONS);
    return (
      payment && {
        kind: 'act',
        path: `/simulator/payments/${payment.id}/disputes`,
        body: { ...maybe('status', decided), inquiry: prng.chance(0.2) },
        next: ({ body }) => (isDecidedAtOnce && body?.id ? decision(body.id, status) : undefined),
      }
    );
  },
};

const OPEN = ['needs_response', 'under_review'];

/** A bank mostly decides its latest dispute. Sometimes support reads the disputes at the same time. */
const decideDispute: WorldOperation = {
  name: 'decide a dispute',
  weight: 3,
  plan: ({ prng, knowledge }) => {
    const isPaid = knowledge.all('payment').some(({ fields }) => fields['status'] === 'succeeded');
    if (!isPaid) return undefined;
    const status = prng.pick(DECISIONS);
    const ofLast = prng.int(1, 3);
    const decide = ({ body }: StageAnswer): Acted | undefined => {
      const open = body.disputes.filter((one: HistoryJson) => OPEN.includes(one.status));
      const one = open.at(-Math.min(ofLast, open.length));
      return one && decision(one.id, status);
    };
    const asBank: Acted = { kind: 'act', method: 'GET', path: '/simulator/ledger', next: decide };
    if (prng.chance(0.7)) return asBank;
    return { ...{ kind: 'request', person: ROOT, method: 'GET', path: '/disputes' }, next: () => asBank };
  },
};

const REASONS = ['fraudulent', 'duplicate', 'product_not_received', 'general'] as const;

/** A bank asks again, moves a date or an amount, turns an inquiry into a chargeback, and reverses its decision. */
const changeDispute: WorldOperation = {
  name: 'change a dispute',
  weight: 8,
  plan: ({ prng, knowledge, now }) => {
    if (!knowledge.all('payment').some(({ fields }) => fields['status'] === 'succeeded')) return undefined;
    const ofLast = prng.int(1, 3);
    const status = prng.chance(0.7) ? prng.pick(['needs_response', 'needs_response', ...DECISIONS]) : undefined;
    const days = prng.chance(0.4) ? prng.int(1, 30) : undefined;
    const share = prng.chance(0.3) ? prng.int(1, 100) : undefined;
    const reason = prng.chance(0.2) ? prng.pick(REASONS) : undefined;
    const inquiry = prng.chance(0.15) ? prng.chance(0.5) : undefined;
    const isTwice = prng.chance(0.25);
    const movesDate = prng.chance(0.25);
    const later = prng.int(1, 30);
    const change = ({ body }: StageAnswer): Acted | undefined => {
      const one: HistoryJson | undefined = body.disputes.at(-Math.min(ofLast, body.disputes.length));
      if (!one) return undefined;
      const due = days === undefined ? undefined : inDays(now, days);
      const amount = share === undefined ? undefined : Math.max(1, Math.floor((one.amount * share) / 100));
      const path = `/simulator/disputes/${one.id}`;
      if (movesDate) return { kind: 'act', path, body: { evidence_due_by: inDays(now, later) } };
      const terms = { ...maybe('evidence_due_by', due), ...maybe('amount', amount), ...maybe('reason', reason) };
      const moved = { status: status ?? one.status, ...terms, ...maybe('inquiry', inquiry) };
      // Two reports of the bank may come within one second.
      const next = isTwice ? () => ({ kind: 'act', path, body: { status: one.status } }) satisfies Acted : undefined;
      return { kind: 'act', path, body: moved, ...(next && { next }) };
    };
    return { kind: 'act', method: 'GET', path: '/simulator/ledger', next: change };
  },
};

const payerStep = (name: string, kind: 'payment' | 'method', base: string): WorldOperation => ({
  name,
  weight: kind === 'payment' ? 6 : 3,
  plan: ({ prng, knowledge }) => {
    const waiting = knowledge
      .all(kind)
      .filter(({ fields }) =>
        kind === 'payment'
          ? ['pending', 'requires_payment_method', 'created'].includes(fields['status'])
          : fields['setup_status'] === 'requires_action',
      );
    if (waiting.length === 0) return undefined;
    const one = prng.pick(waiting.slice(-3));
    const isFailure = !prng.chance(0.8);
    return {
      kind: 'act',
      path: `/simulator/${base}/${one.id}/authenticate`,
      body: { outcome: isFailure ? 'failure' : 'success' },
      isFailure,
    };
  },
});

const form = (key: string, fields: Readonly<Record<string, string>>) => ({
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});

const stripeIntent = ({ prng, knowledge }: Scene, statuses: readonly string[]): Known | undefined => {
  const found = knowledge
    .all('payment')
    .filter(
      ({ fields }) => String(fields['provider_payment_id']).startsWith('pi_') && statuses.includes(fields['status']),
    );
  return found.length === 0 ? undefined : prng.pick(found.slice(-4));
};

const STRIPE = '/providers/stripe/v1';

const PAY_IN_BROWSER = 'pay in the browser';

/** The payer of a Stripe payment pays outside the service. */
export const payInBrowser = ({ fields }: Pick<Known, 'fields'>, prng: Prng): Acted | undefined => {
  const { client_secret: secret, provider_payment_id: intent } = fields;
  const method = prng.chance(0.8) ? 'pm_card_visa' : 'pm_card_visa_chargeDeclined';
  if (typeof secret !== 'string' || !String(intent).startsWith('pi_')) return undefined;
  return {
    kind: 'act',
    name: PAY_IN_BROWSER,
    path: `${STRIPE}/payment_intents/${intent}/confirm`,
    ...form(PUBLISHABLE_KEY, { client_secret: secret, payment_method: method }),
  };
};

const confirmInBrowser: WorldOperation = {
  name: PAY_IN_BROWSER,
  weight: 4,
  plan: (scene) => {
    const payment = stripeIntent(scene, ['created', 'requires_payment_method', 'failed']);
    return payment && payInBrowser(payment, scene.prng);
  },
};

const cancelAtProvider: WorldOperation = {
  name: 'cancel a payment at the provider',
  weight: 1.5,
  plan: (scene) => {
    const payment = stripeIntent(scene, ['created', 'requires_payment_method', 'pending', 'failed']);
    return (
      payment && {
        kind: 'act',
        path: `${STRIPE}/payment_intents/${payment.fields['provider_payment_id']}/cancel`,
        ...form(LOCAL_SECRETS.PROVIDER_A_API_KEY, {}),
      }
    );
  },
};

/** A payer's method is removed by Stripe's API, or on its provider's dashboard. */
const detachAtProvider: WorldOperation = {
  name: 'remove a method at the provider',
  weight: 1.5,
  plan: ({ prng, knowledge }) => {
    const held = knowledge.all('method');
    if (held.length === 0) return undefined;
    const { provider_id: provider, provider_payment_method_id: id } = prng.pick(held.slice(-4)).fields;
    if (provider !== 'provider_a' || prng.chance(0.4)) {
      return { kind: 'act', path: `/simulator/payment-methods/${id}`, body: { detach: true } };
    }
    return {
      kind: 'act',
      path: `${STRIPE}/payment_methods/${id}/detach`,
      ...form(LOCAL_SECRETS.PROVIDER_A_API_KEY, {}),
    };
  },
};

const cancelSubscriptionAtProvider: WorldOperation = {
  name: 'cancel a subscription at the provider',
  weight: 1,
  plan: ({ prng, knowledge }) => {
    const native = knowledge
      .all('subscription')
      .filter(({ fields }) => typeof fields['provider_subscription_id'] === 'string');
    if (native.length === 0) return undefined;
    const { authorization } = form(LOCAL_SECRETS.PROVIDER_A_API_KEY, {}).headers;
    const id = prng.pick(native).fields['provider_subscription_id'];
    return { kind: 'act', method: 'DELETE', path: `${STRIPE}/subscriptions/${id}`, headers: { authorization } };
  },
};

export const PROVIDER_ACTS: readonly WorldOperation[] = [
  refundAtProvider,
  settleRefund,
  dispute,
  decideDispute,
  changeDispute,
  payerStep('take the step of a payer', 'payment', 'payments'),
  payerStep('authenticate a saved method', 'method', 'payment-methods'),
  confirmInBrowser,
  cancelAtProvider,
  detachAtProvider,
  cancelSubscriptionAtProvider,
];
