import type { Actor, Exchange, Operation } from '../operation.ts';
import { untilAnswered } from './retry.ts';

const CARDS = ['pm_card_visa', 'pm_card_visa', 'pm_card_mastercard', 'pm_card_chargeDeclined'] as const;
const CURRENCIES = ['USD', 'EUR', 'JPY'] as const;

const newIntent = (actor: Actor): Record<string, unknown> => ({
  total_cents: actor.prng.int(100, 50_000),
  currency: actor.prng.pick(CURRENCIES),
});

const keyOf = (actor: Actor): string =>
  `key-${actor.prng.int(0, 2 ** 40).toString(36)}-of-${actor.name.replace(' ', '-')}`;

export const createIntent: Operation = {
  name: 'create an intent',
  weight: 3,
  run: async (actor) => {
    const body = { ...newIntent(actor), payment_method_id: actor.prng.pick(CARDS) };
    const idempotencyKey = keyOf(actor);
    const answered = await untilAnswered(actor, () =>
      actor.request('POST', '/payments/intents', { body, idempotencyKey }),
    );
    remember(actor, answered);
  },
};

const remember = (actor: Actor, { status, body }: Exchange): void => {
  if (status >= 300 || status === 0) return;
  const { id, provider_payment_id: providerPaymentId, provider_id: provider } = body.data ?? body;
  if (!actor.memory.payments.some((known) => known.id === id)) {
    actor.memory.payments.push({ id, providerPaymentId, provider });
  }
};

export const confirmIntent: Operation = {
  name: 'confirm an intent',
  weight: 3,
  possible: ({ memory }) => memory.payments.length > 0,
  run: async (actor) => {
    const { id } = actor.prng.pick(actor.memory.payments);
    await untilAnswered(actor, () => actor.request('POST', `/payments/confirm/${id}`, { body: {} }));
  },
};

/** A customer pays with the client secret: the service learns of it by the provider's event. */
export const payInBrowser: Operation = {
  name: 'pay in the browser',
  weight: 2,
  run: async (actor) => {
    const created = await untilAnswered(actor, () =>
      actor.request('POST', '/payments/intents', { body: newIntent(actor), idempotencyKey: keyOf(actor) }),
    );
    remember(actor, created);
    const { provider_payment_id: id, client_secret: secret } = created.body?.data ?? created.body ?? {};
    if (created.status >= 300 || !id || !secret) return;
    await actor.wait(actor.prng.int(0, 2_000));
    const path = `/_local/providers/stripe/v1/payment_intents/${id}/confirm`;
    const form = new URLSearchParams({ client_secret: secret, payment_method: actor.prng.pick(CARDS) });
    await actor.request('POST', path, {
      anonymous: true,
      body: form.toString(),
      headers: {
        authorization: `Basic ${Buffer.from('pk_test_local_provider_a:').toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
  },
};
