import { describe, expect, test } from 'vitest';
import { capture, release } from './holders.ts';
import { type RequestOptions, type TestAnswer, withHost } from './host.ts';
import { asMerchant, createKey, forUser, newAdmin } from './keys.ts';
import {
  DECIDERS,
  type DecidingParty,
  deciding,
  newDecider,
  PAYING,
  type Paid,
  type PayingParty,
  paidBy,
} from './own-payments.ts';
import { plan } from './plan-changes.ts';
import { paidPayment, refund } from './refunders.ts';
import { OWN_BILLING } from './subscribers.ts';

/**
 * A caller never decides as the merchant about a payment or a subscription that the caller pays for. The expected
 * responses follow this rule.
 */
const service = withHost({ frozen: true, env: OWN_BILLING });

const ACTIONS = ['refund', 'capture', 'release', 'free price', 'no proration', 'downgrade now'] as const;
type Action = (typeof ACTIONS)[number];

/** The staff roles that may decide on another person's payment, by action. */
const STAFF: Readonly<Record<Action, readonly DecidingParty[]>> = {
  refund: ['support', 'finance'],
  capture: ['finance', 'operations'],
  release: ['finance', 'operations'],
  'free price': ['finance', 'operations'],
  'no proration': ['finance', 'operations'],
  'downgrade now': ['finance', 'operations'],
};

const isStaff = (decider: DecidingParty): boolean => ['finance', 'operations', 'support'].includes(decider);
const isSession = (decider: DecidingParty): boolean => isStaff(decider) || decider === 'platform admin';

/** True if the decider counts as the payer. A mere membership counts for sessions, but not for keys. */
const BINDING: Readonly<Record<PayingParty, (decider: DecidingParty) => boolean>> = {
  'the person': (decider) => decider !== 'another’s key',
  'the person as a guest': (decider) => decider !== 'another’s key',
  'an organization of the person': (decider) => decider !== 'another’s key',
  'an organization with the person as a member': isSession,
  'another person': () => false,
};

type Expected = 'done' | 'own payment' | 'no scope';

const expectedOf = (decider: DecidingParty, payer: PayingParty, action: Action): Expected => {
  if (isStaff(decider) && !STAFF[action].includes(decider)) return 'no scope';
  return BINDING[payer](decider) ? 'own payment' : 'done';
};

const outcomeOf = ({ status, body }: TestAnswer): string => {
  if (status < 300) return 'done';
  const isRefused = status === 403 && body.code === 'INSUFFICIENT_PERMISSIONS';
  if (!isRefused) return `${status} ${JSON.stringify(body)}`;
  return body.details?.reason === 'own_payment' ? 'own payment' : 'no scope';
};

interface Case {
  readonly paid: Paid;
  readonly options: RequestOptions;
  /** True if the decider may also change the plan as the payer. The test then requests a product. */
  readonly isPayer: boolean;
}

const bodyOf = async (action: Action, { isPayer }: Case) => {
  switch (action) {
    case 'free price':
      return { total_cents: 4_000, when: 'period_end' };
    case 'no proration':
      return {
        ...(isPayer ? { product_id: await plan(service, 9_900) } : { total_cents: 4_500 }),
        ...{ proration: 'none', when: 'now' },
      };
    default:
      return { ...(isPayer ? { product_id: await plan(service, 1_900) } : { total_cents: 3_000 }), when: 'now' };
  }
};

/** The responses to the action and to its preview. */
const decide = async (action: Action, one: Case): Promise<TestAnswer[]> => {
  const { paid, options } = one;
  if (action === 'refund') return [await refund(service, paid.refundable, { ...options, body: { amount_cents: 100 } })];
  if (action === 'capture') return [await capture(service, paid.captured, options)];
  if (action === 'release') return [await release(service, paid.released, options)];
  const path = `/subscriptions/${paid.subscription}/change`;
  const body = await bodyOf(action, one);
  return [await service.post(`${path}/preview`, body, options), await service.post(path, body, options)];
};

const shown = async (paid: Paid, options: RequestOptions) => {
  const paths = [paid.refundable, paid.captured, paid.released].map((id) => `/payments/${id}`);
  const answers = [...paths, `/subscriptions/${paid.subscription}`].map((path) => service.get(path, options));
  return (await Promise.all(answers)).map(({ body }) => body);
};

describe('a key that another admin rotates', () => {
  test('may decide on payments of neither its creator nor that admin', async () => {
    const [creator, holder, other] = [await newAdmin(service), await newAdmin(service), await newDecider(service)];
    const { id } = await createKey(service, creator);
    const rotated = await service.post(`/admin/keys/${id}/rotate`, {}, holder.options);
    const options = { bearer: rotated.body.data.secret };
    for (const [payer, status] of [
      [creator, 403],
      [holder, 403],
      [other, 201],
    ] as const) {
      const payment = await paidPayment(service, payer);
      expect(await refund(service, payment.id, options)).toMatchObject({ status });
    }
  });
});

describe('a decision of the merchant', () => {
  const rows = DECIDERS.flatMap((decider) => PAYING.map((payer) => ({ decider, payer })));

  test.each(rows)('is refused to $decider as an own payment if the decider pays (payer: $payer)', async (row) => {
    const { decider, payer } = row;
    const observer = await newAdmin(service);
    const { person, options } = await deciding(service, decider);
    const paid = await paidBy(service, person, payer);
    const mayPay = payer === 'the person' || payer === 'an organization of the person';
    await service.settle();
    for (const action of ACTIONS) {
      const expected = expectedOf(decider, payer, action);
      const before = await shown(paid, observer.options);
      const answers = await decide(action, { paid, options, isPayer: isSession(decider) && mayPay });
      const outcomes = answers.map(outcomeOf);
      expect({ action, outcomes }).toEqual({ action, outcomes: outcomes.map(() => expected) });
      await service.settle();
      if (expected !== 'done') expect(await shown(paid, observer.options)).toEqual(before);
    }
  });
});

describe('a merchant who pays', () => {
  const OWN = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS', details: { reason: 'own_payment' } } };

  test('upgrades their own plan like every payer, at the full price', async () => {
    const { person } = await deciding(service, 'operations');
    const { subscription } = await paidBy(service, person, 'the person');
    const path = `/subscriptions/${subscription}/change`;
    const dear = await plan(service, 9_900);
    const upgraded = await service.post(path, { product_id: dear }, person.options);
    expect(upgraded).toMatchObject({ status: 200, body: { product_id: dear, total_cents: 9_900 } });
    const cheap = { product_id: await plan(service, 1_900) };
    expect(await service.post(path, cheap, person.options)).toMatchObject({
      status: 200,
      body: { total_cents: 9_900, scheduled_change: cheap },
    });
  });

  test('cannot turn a month into a year without proration, or 49.00 into 0.50', async () => {
    const { person } = await deciding(service, 'finance');
    const { subscription } = await paidBy(service, person, 'the person');
    const path = `/subscriptions/${subscription}/change`;
    for (const body of [
      { total_cents: 50, when: 'period_end' },
      { billing_interval: 'yearly', when: 'now', proration: 'none' },
    ]) {
      expect(await service.post(path, body, person.options)).toMatchObject(OWN);
    }
  });

  test('gains no right by their own key, and may change the product with the key but not the price', async () => {
    const admin = await newDecider(service, { is_admin: true });
    const key = await createKey(service, admin);
    const { subscription, refundable, released } = await paidBy(service, admin, 'the person');
    expect(await refund(service, refundable, asMerchant(key))).toMatchObject(OWN);
    expect(await release(service, released, asMerchant(key))).toMatchObject(OWN);
    const path = `/subscriptions/${subscription}/change`;
    const price = { total_cents: 50, when: 'period_end' };
    expect(await service.post(path, price, asMerchant(key))).toMatchObject(OWN);
    expect(await service.post(path, price, forUser(key, admin))).toMatchObject({
      status: 403,
      body: { details: { required_scope: 'subscriptions:operate' } },
    });
    const dear = await plan(service, 9_900);
    const changed = await service.post(path, { product_id: dear }, forUser(key, admin));
    expect(changed).toMatchObject({ status: 200, body: { product_id: dear, total_cents: 9_900 } });
  });

  test('gets an error saying that another person must decide', async () => {
    const { person, options } = await deciding(service, 'platform admin');
    const { refundable } = await paidBy(service, person, 'an organization with the person as a member');
    const { body } = await refund(service, refundable, options);
    expect(body.error).toMatch(/another person/i);
  });
});
