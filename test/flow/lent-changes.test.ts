import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { signIn } from './flow.ts';
import { type RequestOptions, type TestAnswer, withHost } from './host.ts';
import { asMerchant, createKey, forOrganization, forUser, newAdmin } from './keys.ts';
import { company, saveMethod } from './payers.ts';
import { plan } from './plan-changes.ts';
import { command, OWN_BILLING, patch, payer } from './subscribers.ts';
import { takenSince } from './use/charges.ts';

/**
 * A member's own method pays for the organization's subscription. Only that member, the lender, may change the product
 * or the quantity, or withdraw a change. The merchant may only lower the price. The expected responses follow these
 * rules.
 */
const service = withHost({ frozen: true, env: OWN_BILLING });

const CALLERS = [
  ...(['the lender', 'a key for the lender', 'another admin', 'a key for the organization'] as const),
  ...(['a key of the merchant', 'operations', 'a platform admin'] as const),
] as const;
type CallerName = (typeof CALLERS)[number];

const MERCHANTS: readonly CallerName[] = ['a key of the merchant', 'operations', 'a platform admin'];
const isLender = (caller: CallerName): boolean => caller === 'the lender' || caller === 'a key for the lender';

type Asks = 'product' | 'lower price' | 'other price' | 'withdrawal';

interface Change {
  readonly name: string;
  readonly asks: Asks;
  readonly body: () => Promise<object>;
}

const SCHEDULED = { when: 'period_end' } as const;

interface Target {
  readonly cents: number;
  readonly billing_interval?: string;
  readonly when?: 'period_end';
}

const toProduct = (name: string, { cents, when, billing_interval = 'monthly' }: Target): Change => ({
  name,
  asks: 'product',
  body: async () => ({ product_id: await plan(service, cents, { billing_interval }), when }),
});

const asking = (name: string, asks: Asks, body: object): Change => ({ name, asks, body: async () => body });

const CHANGES: readonly Change[] = [
  toProduct('a dearer product', { cents: 9_900 }),
  toProduct('a dearer product later', { cents: 9_900, ...SCHEDULED }),
  toProduct('a cheaper product later', { cents: 900, ...SCHEDULED }),
  toProduct('a slightly cheaper product every day', { cents: 2_425, billing_interval: 'daily', ...SCHEDULED }),
  toProduct('a dearer product every day', { cents: 9_900, billing_interval: 'daily' }),
  toProduct('a product every year', { cents: 9_900, billing_interval: 'yearly', ...SCHEDULED }),
  asking('a larger quantity', 'product', { quantity: 4 }),
  asking('a smaller quantity later', 'product', { quantity: 1, ...SCHEDULED }),
  asking('a lower price', 'lower price', { total_cents: 1_000, when: 'now' }),
  asking('a lower price later', 'lower price', { total_cents: 1_000, ...SCHEDULED }),
  asking('a higher price later', 'other price', { total_cents: 2_501, ...SCHEDULED }),
  asking('a higher price without proration', 'other price', { total_cents: 2_501, when: 'now', proration: 'none' }),
  asking('a lower price every week', 'other price', { total_cents: 2_400, billing_interval: 'weekly', ...SCHEDULED }),
  asking('a lower price for another quantity', 'other price', { total_cents: 2_400, quantity: 3, ...SCHEDULED }),
  asking('the withdrawal of a scheduled change', 'withdrawal', {}),
];

type Expected = 'done' | 'lent' | 'refused';

const expectedOf = (caller: CallerName, { asks }: Change): Expected => {
  if (asks === 'withdrawal') return isLender(caller) ? 'done' : 'lent';
  const isMerchant = MERCHANTS.includes(caller);
  // With any method, a merchant cannot change a payer's product, and a payer cannot set a price.
  if (asks === 'product') return isLender(caller) ? 'done' : isMerchant ? 'refused' : 'lent';
  if (!isMerchant) return 'refused';
  return asks === 'lower price' ? 'done' : 'lent';
};

const outcomeOf = ({ status, body }: TestAnswer): string => {
  if (status === 200) return 'done';
  if (status !== 403 || body.code !== 'INSUFFICIENT_PERMISSIONS') return `${status} ${JSON.stringify(body)}`;
  return body.details?.reason === 'lent_method' ? 'lent' : 'refused';
};

/** A subscription to two pieces at 12.50 a month, paid by the card of a billing member. */
const lent = async () => {
  const acme = await company(service);
  const organization_id = acme.id;
  const who = await payer(service, acme.billing.options);
  const product_id = await plan(service, 1_250);
  const body = { ...who.names, organization_id, product_id, quantity: 2 };
  // The customer belongs to the organization, although the method is the member's.
  const { body: customer } = await service.post(
    '/customers',
    { provider_id: 'provider_a', name: 'Acme', email: 'acme@example.com', organization_id },
    acme.admin.options,
  );
  const { status, body: made } = await service.post(
    '/subscriptions',
    { ...body, customer_id: customer.id },
    acme.billing.options,
  );
  expect({ status, made }).toMatchObject({ status: 201, made: { total_cents: 2_500 } });
  const { body: card } = await service.get(`/payment-methods/${who.names.payment_method_id}`, acme.billing.options);
  await service.advance(HOUR_SECONDS);
  return { acme, id: made.id as string, made, lender: acme.billing, card };
};
type Lent = Awaited<ReturnType<typeof lent>>;

const optionsOf = async ({ acme, lender }: Lent, caller: CallerName): Promise<RequestOptions> => {
  const merchant = await newAdmin(service);
  switch (caller) {
    case 'the lender':
      return lender.options;
    case 'another admin':
      return acme.admin.options;
    case 'operations':
      return (await signIn(service, { staff_role: 'operations' })).options;
    case 'a platform admin':
      return merchant.options;
    default: {
      const key = await createKey(service, merchant);
      if (caller === 'a key for the lender') return forUser(key, lender);
      return caller === 'a key of the merchant' ? asMerchant(key) : forOrganization(key, acme.id);
    }
  }
};

const pathOf = ({ id }: Lent): string => `/subscriptions/${id}/change`;

const read = async ({ id, acme }: Lent) => (await service.get(`/subscriptions/${id}`, acme.owner.options)).body;

const scheduleByLender = async (one: Lent): Promise<void> => {
  const body = { product_id: await plan(service, 900), ...SCHEDULED };
  expect(await service.post(pathOf(one), body, one.lender.options)).toMatchObject({ status: 200 });
};

const ask = async (one: Lent, { asks, body: bodyOf }: Change, options: RequestOptions): Promise<TestAnswer[]> => {
  if (asks === 'withdrawal') return [await service.request('DELETE', pathOf(one), options)];
  const body = await bodyOf();
  return [await service.post(`${pathOf(one)}/preview`, body, options), await service.post(pathOf(one), body, options)];
};

describe('a plan change on a lent method', () => {
  test('to a daily product by another admin is refused, so the lender is not charged daily', async () => {
    const one = await lent();
    const daily = await plan(service, 2_425, { billing_interval: 'daily' });
    const asked = await service.post(pathOf(one), { product_id: daily, ...SCHEDULED }, one.acme.admin.options);
    expect(asked).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_PERMISSIONS', details: { reason: 'lent_method' } },
    });
    await service.moveTo(one.made.current_period_end);
    await service.advance(20 * DAY_SECONDS);
    await service.settle();
    const taken = (await takenSince(service)).filter(({ method }) => method === one.card.provider_payment_method_id);
    expect(taken).toHaveLength(2);
  });

  test.each(CHANGES)('($name) is allowed only to the lender, or to the merchant for a lower price', async (change) => {
    const one = await lent();
    // The lender is last, because the lender's change succeeds.
    for (const caller of [...CALLERS].reverse()) {
      const expected = expectedOf(caller, change);
      const fresh = expected === 'done' ? await lent() : one;
      if (change.asks === 'withdrawal') await scheduleByLender(fresh);
      const before = await read(fresh);
      const outcomes = (await ask(fresh, change, await optionsOf(fresh, caller))).map(outcomeOf);
      expect({ caller, outcomes }).toEqual({ caller, outcomes: outcomes.map(() => expected) });
      if (expected !== 'done') expect(await read(fresh)).toEqual(before);
    }
  });

  test('scheduled by the lender cannot be replaced by the merchant', async () => {
    const one = await lent();
    await scheduleByLender(one);
    const merchant = await newAdmin(service);
    for (const body of [
      { total_cents: 800, ...SCHEDULED },
      { total_cents: 2_000, when: 'now', proration: 'none' },
    ]) {
      const outcome = outcomeOf(await service.post(pathOf(one), body, merchant.options));
      expect({ body, outcome }).toEqual({ body, outcome: 'lent' });
    }
    expect(await read(one)).toMatchObject({ scheduled_change: { total_cents: 1_800 } });
  });

  test('by the merchant may lower the price repeatedly, but never raise it', async () => {
    const one = await lent();
    const merchant = await newAdmin(service);
    const lower = (total_cents: number) =>
      service.post(pathOf(one), { total_cents, ...SCHEDULED }, merchant.options).then(outcomeOf);
    expect([await lower(2_000), await lower(1_500), await lower(1_600)]).toEqual(['done', 'done', 'lent']);
    expect(outcomeOf(await service.request('DELETE', pathOf(one), merchant.options))).toBe('lent');
    expect(await read(one)).toMatchObject({ scheduled_change: { total_cents: 1_500 } });
  });

  test('is allowed to another admin after the admin sets their own method', async () => {
    const one = await lent();
    const { acme, id } = one;
    const card = await saveMethod(service, acme.admin.options, { organization_id: null });
    const who = { options: acme.admin.options, names: one.made };
    expect(await patch(service, who, { id, body: { payment_method_id: card.id } })).toMatchObject({ status: 200 });
    const body = { product_id: await plan(service, 900), ...SCHEDULED };
    expect(outcomeOf(await service.post(pathOf(one), body, one.lender.options))).toBe('lent');
    expect(outcomeOf(await service.post(pathOf(one), body, acme.admin.options))).toBe('done');
  });

  test.each(['pause', 'cancel'] as const)('does not prevent a %s by a managing member', async (name) => {
    const one = await lent();
    await scheduleByLender(one);
    const who = { options: one.acme.admin.options, names: one.made };
    expect(await command(service, who, { id: one.id, name })).toMatchObject({ status: 200 });
  });
});

test('a personal method and an organization’s own method are not lent', async () => {
  const acme = await company(service);
  const organization_id = acme.id;
  const user = await signIn(service, { expires_in: YEAR_SECONDS });
  for (const [options, fields, other] of [
    [user.options, {}, user.options],
    [acme.billing.options, { organization_id }, acme.admin.options],
  ] as const) {
    const who = await payer(service, options, { fields });
    const body = { ...who.names, product_id: await plan(service, 2_500), ...fields };
    const { body: made } = await service.post('/subscriptions', body, options);
    const change = { product_id: await plan(service, 900), ...SCHEDULED };
    expect(await service.post(`/subscriptions/${made.id}/change`, change, other)).toMatchObject({ status: 200 });
    const withdrawn = await service.request('DELETE', `/subscriptions/${made.id}/change`, other);
    expect(withdrawn).toMatchObject({ status: 200, body: { scheduled_change: null } });
  }
});
