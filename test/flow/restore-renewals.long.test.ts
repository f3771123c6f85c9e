import { afterEach, describe, expect, test } from 'vitest';
import { SECOND_MS } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { timesCharged, type User } from './flow.ts';
import type { TestHost } from './host.ts';
import { payctlOf } from './payctl.ts';
import { type RestoreDrill, signInForYear, startRestorable } from './restorers.ts';
import type { PaymentBody } from './routes.ts';
import { OWN_BILLING, payer, paymentsOf, readSubscription, type Subscriber, subscribe } from './subscribers.ts';

type Billed = readonly [slot: string, biller: string, token: string, env: Readonly<Record<string, string>>];
const BILLED: readonly Billed[] = [
  ['provider_a', 'the service', 'pm_card_visa', OWN_BILLING],
  ['provider_a', 'the provider', 'pm_card_visa', {}],
  ['provider_b', 'the service', 'SIM-OK', {}],
  ['provider_c', 'the service', 'cnon:card-nonce-ok', {}],
];

/** A subscription in the restored table, and its renewal. The restored table lacks the renewal. */
interface Renewed {
  readonly drill: RestoreDrill;
  readonly who: Subscriber;
  readonly id: string;
  readonly restoredTo: string;
  readonly renewal: PaymentBody;
}

let drill: RestoreDrill | undefined;
afterEach(async () => {
  await drill?.end();
  drill = undefined;
});

/**
 * The time between the renewal and the restore. PayPal keeps an order's key for six hours, and Stripe keeps keys for 24
 * hours.
 */
const SOON_SECONDS = 2 * HOUR_SECONDS;
const LATE_SECONDS = 2 * DAY_SECONDS;

const renewAndRestore = async (
  [slot, , token, env]: Billed,
  {
    env: restoredWith,
    afterSeconds,
  }: { readonly env: Readonly<Record<string, string>>; readonly afterSeconds: number },
): Promise<Renewed> => {
  const running = await startRestorable({ env, frozen: true });
  drill = running;
  const user: User = await signInForYear(running.service());
  const who = await payer(running.service(), user.options, { token, fields: { provider_id: slot } });
  const { id, current_period_end: renewedAt } = await subscribe(running.service(), who, {
    billing_interval: 'monthly',
  });
  await running.service().settle();
  await running.service().advance(25 * DAY_SECONDS);
  await running.copy();
  const restoredTo = new Date(running.service().now()).toISOString();
  await running.service().moveTo(new Date(Date.parse(renewedAt) + afterSeconds * SECOND_MS).toISOString());
  await running.service().settle();
  const [first, renewal, ...more] = await paymentsOf(running.service(), who, id);
  expect([present(first).status, present(renewal).status, more.length]).toEqual(['succeeded', 'succeeded', 0]);
  await running.restore(restoredWith);
  return { drill: running, who, id, restoredTo, renewal: present(renewal) };
};

const chargesAt = async (service: TestHost): Promise<number> =>
  (await service.ledger()).charges.filter((charge) => charge.status === 'succeeded').length;

/** A restored table has another name. */
const RESTORED_TABLE = { TABLE_NAME: 'payments-restored' } as const;

const runDueWork = async (running: RestoreDrill, env?: Readonly<Record<string, string>>): Promise<void> => {
  await running.restart(env);
  await running.service().advance(600);
  await running.service().settle();
};

describe('a renewal charged after the restored time', () => {
  test.each(BILLED)('is restored at %s, billed by %s, and is not charged again', async (...billed) => {
    const renewed = await renewAndRestore(billed, { env: { DUE_WORK: 'off' }, afterSeconds: LATE_SECONDS });
    const { who, id, restoredTo, renewal } = renewed;
    const payctl = payctlOf(renewed.drill.service());
    const { exitCode, json } = await payctl(['drift', '--fix', '--restored-to', restoredTo]);
    expect({ exitCode, json }).toMatchObject({
      exitCode: 0,
      json: { restore: { before: 1, lost: 1, found_again: 1, without_owner: [] } },
    });
    await runDueWork(renewed.drill);
    const service = renewed.drill.service();
    expect(await chargesAt(service)).toBe(2);
    const [, found, ...more] = await paymentsOf(service, who, id);
    expect(more).toEqual([]);
    expect(found).toMatchObject({ id: renewal.id, total_cents: renewal.total_cents, status: 'succeeded' });
    const subscription = await readSubscription(service, who, id);
    expect(subscription.status).toBe('active');
    expect(Date.parse(subscription.current_period_end)).toBeGreaterThan(service.now());
  });

  test.each(BILLED)(
    'is not charged again at %s, billed by %s, while its idempotency key is valid, even if due work runs first',
    async (...billed) => {
      const renewed = await renewAndRestore(billed, { env: {}, afterSeconds: SOON_SECONDS });
      await runDueWork(renewed.drill);
      const service = renewed.drill.service();
      expect(await timesCharged(service, renewed.renewal.id)).toBe(1);
      expect(await chargesAt(service)).toBe(2);
    },
  );
});

describe('a restored table with due work left on', () => {
  test('charges no renewal a second time, neither before nor after restore-done accepts the table', async () => {
    const [billed] = BILLED;
    if (!billed) throw new Error('no biller');
    const renewed = await renewAndRestore(billed, { env: RESTORED_TABLE, afterSeconds: LATE_SECONDS });
    await runDueWork(renewed.drill, RESTORED_TABLE);
    expect(await chargesAt(renewed.drill.service())).toBe(2);
    const payctl = payctlOf(renewed.drill.service());
    const done = () => payctl(['restore-done', '--restored-to', renewed.restoredTo, '--erased', '/dev/null']);
    expect(await done()).toMatchObject({ exitCode: 1, json: { accepted: false } });
    expect((await payctl(['drift', '--fix', '--restored-to', renewed.restoredTo])).exitCode).toBe(0);
    expect(await done()).toMatchObject({ exitCode: 0, json: { accepted: true } });
    expect(await done()).toMatchObject({ exitCode: 0, json: { accepted: false } });
    await runDueWork(renewed.drill, RESTORED_TABLE);
    const service = renewed.drill.service();
    expect(await chargesAt(service)).toBe(2);
    const subscription = await readSubscription(service, renewed.who, renewed.id);
    expect(Date.parse(subscription.current_period_end)).toBeGreaterThan(service.now());
  });
});

describe('a renewal charged twice because the provider had forgotten the idempotency key', () => {
  const FORGETFUL = BILLED.filter(([slot, biller]) => slot !== 'provider_c' && biller === 'the service');

  const chargedTwice = async (billed: Billed): Promise<Renewed> => {
    const renewed = await renewAndRestore(billed, { env: {}, afterSeconds: LATE_SECONDS });
    await runDueWork(renewed.drill);
    expect(await chargesAt(renewed.drill.service())).toBe(3);
    return renewed;
  };

  test.each(FORGETFUL)('is reported at %s, billed by %s, until the second charge is refunded', async (...billed) => {
    const { drill: running, restoredTo, renewal } = await chargedTwice(billed);
    await running.restart({ DUE_WORK: 'off' });
    const drift = () => payctlOf(running.service())(['drift', '--fix', '--restored-to', restoredTo]);
    const { exitCode, json } = await drift();
    expect({ exitCode, findings: json.findings, restore: json.restore }).toMatchObject({
      exitCode: 1,
      findings: [{ payment_id: renewal.id, provider: billed[0], kind: 'charged again' }],
      restore: { lost: 0, charged_again: 1 },
    });
    const checked = await payctlOf(running.service())(['restore-check', '--restored-to', restoredTo]);
    expect(checked.json.checks).toContainEqual({
      check: 'providers',
      state: 'fail',
      detail: '1 further charges of an already charged payment',
    });
    const [{ provider_object_id: again }] = json.findings;
    const { charges } = await running.service().ledger();
    const { payment_intent: order } = present(charges.find((one) => [one.id, one.payment_intent].includes(again)));
    await running.service().control('POST', `/simulator/payments/${order}/refunds`, {});
    expect(await drift()).toMatchObject({ exitCode: 0, json: { drifted: 0, restore: { charged_again: 0 } } });
  });

  test.each(FORGETFUL)('is reported at %s, billed by %s, if both charges are lost', async (...billed) => {
    const { drill: running, restoredTo, renewal } = await chargedTwice(billed);
    await running.restore({ DUE_WORK: 'off' });
    const { exitCode, json } = await payctlOf(running.service())(['drift', '--fix', '--restored-to', restoredTo]);
    expect({ exitCode, findings: json.findings, restore: json.restore }).toMatchObject({
      exitCode: 1,
      findings: [
        { payment_id: renewal.id, kind: 'charged again' },
        { payment_id: renewal.id, kind: 'payment not here', fixed: true },
      ],
      restore: { lost: 1, found_again: 1, charged_again: 1 },
    });
  });
});

describe('a subscription created after the restored time', () => {
  test('is reported while its provider charges it, until it is canceled there', async () => {
    const running = await startRestorable({ frozen: true });
    drill = running;
    const user = await signInForYear(running.service());
    const who = await payer(running.service(), user.options);
    await running.copy();
    const restoredTo = new Date(running.service().now()).toISOString();
    const { id, provider_subscription_id: atStripe } = await subscribe(running.service(), who);
    await running.service().settle();
    await running.restore({ DUE_WORK: 'off' });
    const fix = () => payctlOf(running.service())(['drift', '--fix', '--restored-to', restoredTo]);
    const { exitCode, json } = await fix();
    expect({ exitCode, restore: json.restore }).toMatchObject({
      exitCode: 1,
      restore: {
        ...{ lost: 1, found_again: 1, without_owner: [] },
        subscriptions_not_here: [{ provider: 'provider_a', provider_subscription_id: atStripe, subscription_id: id }],
      },
    });
    await running.service().control('POST', `/simulator/subscriptions/${atStripe}`, { status: 'canceled' });
    expect(await fix()).toMatchObject({ exitCode: 0, json: { restore: { lost: 0, subscriptions_not_here: [] } } });
  });
});
