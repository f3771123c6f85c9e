/**
 * @module A client secret alone never charges a saved method. Even after an interrupted update or confirmation,
 * Stripe's intent for a payment with a saved method names no method.
 */

import { describe, expect, test } from 'vitest';
import { PUBLISHABLE_KEY } from '../../infra/local/machine/environment.ts';
import { draw } from '../../infra/simulator/state/random.ts';
import { atProvider, confirm, createIntent, read, timesCharged, type User } from './flow.ts';
import { withHost } from './host.ts';
import { type Company, company, removeMember, saveMethod } from './payers.ts';
import type { MethodBody, PaymentBody } from './routes.ts';

const service = withHost({ frozen: true });

const PERSONAL = { provider_id: 'provider_a', organization_id: null } as const;
const BACK = 'https://shop.example/back';

/** Confirms like a page that names no method, with only the publishable key and the client secret. */
const confirmBySecret = ({
  provider_payment_id,
  client_secret,
}: {
  readonly provider_payment_id: string;
  readonly client_secret: string;
}) =>
  service.request('POST', `/_local/providers/stripe/v1/payment_intents/${provider_payment_id}/confirm`, {
    headers: { authorization: `Bearer ${PUBLISHABLE_KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_secret }).toString(),
  });

/** A seed with which a fault of probability 0.5 spares the first call and strikes the next `struck` calls. */
const sparingFirst = (struck: number): number => {
  let seed = 1;
  const strikesRest = () => Array.from({ length: struck }, (_, n) => draw(seed, n + 1)).every((value) => value < 0.5);
  while (!(draw(seed, 0) >= 0.5 && strikesRest())) seed += 1;
  return seed;
};

interface Strikes {
  readonly path: string;
  readonly action: 'rate_limit' | 'malformed';
  readonly times: number;
}

const strike = (strikes: Strikes, choice = {}) => service.fault({ provider: 'provider_a', ...strikes, ...choice });

const strikeLater = (strikes: Strikes) => strike(strikes, { probability: 0.5, seed: sparingFirst(strikes.times) });

/** A payment without a customer in its intent, and a card saved later by its organization. */
const ofOrganization = async ({ acme }: Lent) => {
  const payment: PaymentBody = await createIntent(service, acme.owner, { organization_id: acme.id });
  const sent = { organization_id: acme.id, provider_payment_method_token: 'pm_card_visa' };
  const own = await saveMethod(service, acme.owner.options, sent);
  const pay = async () =>
    (await confirm(service, payment.id, { ...acme.owner.options, body: { payment_method_id: own.id } })).status;
  return { payment, pay };
};

interface Lent {
  readonly acme: Company;
  readonly lender: User;
  readonly saved: MethodBody;
}

const lend = async (token = 'pm_card_visa'): Promise<Lent> => {
  const acme = await company(service);
  const lender = acme.billing;
  const saved = await saveMethod(service, lender.options, { ...PERSONAL, provider_payment_method_token: token });
  return { acme, lender, saved };
};

/** The ways to store or try the lender's saved card without a charge. */
const ENDINGS: readonly {
  readonly ending: string;
  readonly token?: string;
  readonly status: number;
  /** @returns the payment and the response */
  readonly run: (lent: Lent) => Promise<{ readonly payment: PaymentBody; readonly answered: number }>;
}[] = [
  {
    ending: 'a confirmation that Stripe refuses because no return address is set',
    status: 400,
    run: async ({ acme, lender, saved }) => {
      const fields = { organization_id: acme.id, payment_method_id: saved.id, return_url: BACK };
      const payment = await createIntent(service, lender, fields);
      const path = `/payments/intents/${payment.id}`;
      expect((await service.put(path, { return_url: null }, lender.options)).status).toBe(200);
      return { payment, answered: (await confirm(service, payment.id, lender.options)).status };
    },
  },
  {
    ending: 'a refusal, then a 429, after Stripe was sent the customer',
    status: 503,
    run: async (lent) => {
      const { payment, pay } = await ofOrganization(lent);
      await strikeLater({ path: '/confirm', action: 'rate_limit', times: 2 });
      return { payment, answered: await pay() };
    },
  },
  {
    ending: 'a 429 after Stripe received the lender’s customer',
    status: 503,
    run: async ({ acme, lender, saved }) => {
      const payment = await createIntent(service, acme.owner, { organization_id: acme.id });
      await strike({ path: '/confirm', action: 'rate_limit', times: 2 });
      const answer = await confirm(service, payment.id, { ...lender.options, body: { payment_method_id: saved.id } });
      return { payment, answered: answer.status };
    },
  },
  {
    ending: 'a lost response to the update after a refusal that names the customer',
    status: 503,
    run: async (lent) => {
      const { payment, pay } = await ofOrganization(lent);
      await strikeLater({ path: payment.provider_payment_id, action: 'malformed', times: 1 });
      return { payment, answered: await pay() };
    },
  },
  {
    ending: 'a lost response to the update that names the lender’s customer',
    status: 503,
    run: async ({ acme, lender, saved }) => {
      const payment = await createIntent(service, acme.owner, { organization_id: acme.id });
      await strike({ path: payment.provider_payment_id, action: 'malformed', times: 1 });
      const answer = await confirm(service, payment.id, { ...lender.options, body: { payment_method_id: saved.id } });
      return { payment, answered: answer.status };
    },
  },
  {
    ending: 'a decline',
    token: 'pm_card_chargeCustomerFail',
    status: 402,
    run: async ({ acme, lender, saved }) => {
      const payment = await createIntent(service, acme.owner, { organization_id: acme.id });
      const answer = await confirm(service, payment.id, { ...lender.options, body: { payment_method_id: saved.id } });
      return { payment, answered: answer.status };
    },
  },
  {
    ending: 'an update that names the card by the id that the payment already holds as a token',
    status: 200,
    run: async ({ acme, lender }) => {
      const { body: card } = await service.request('POST', '/_local/providers/stripe/v1/payment_methods', {
        headers: { authorization: `Bearer ${PUBLISHABLE_KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ type: 'card', 'card[token]': 'tok_visa' }).toString(),
      });
      const payment = await createIntent(service, lender, { organization_id: acme.id, payment_method_id: card.id });
      const token = { provider_payment_method_token: card.id };
      const named = { payment_method_id: (await saveMethod(service, lender.options, { ...PERSONAL, ...token })).id };
      const { status } = await service.put(`/payments/intents/${payment.id}`, named, lender.options);
      return { payment, answered: status };
    },
  },
];

describe('the client secret of a payment', () => {
  test.each(ENDINGS)('cannot charge a saved card after $ending', async ({ token, status, run }) => {
    const lent = await lend(token);
    const { payment, answered } = await run(lent);
    await service.clearFaults();
    expect(answered).toBe(status);
    const { intents } = await atProvider(service, payment.id);
    expect(intents).toMatchObject([{ payment_method: null }]);
    await removeMember(service, lent.acme, lent.lender);
    const inBrowser = await confirmBySecret(await read(service, payment.id, lent.acme.owner.options));
    expect(inBrowser.status).toBe(400);
    expect(await timesCharged(service, payment.id)).toBe(0);
  });
});
