import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { itemsOf, PATIENT, signIn } from './flow.ts';
import { foreign, importedOutcomes, importer, tryImport } from './foreigners.ts';
import { saveReadyMethod } from './payers.ts';
import { withStops } from './stops.ts';
import { subscriptionEventsOf } from './subscribers.ts';

/** Imports interrupted between two calls, and imports during a change at Stripe. */
const stoppable = withStops(PATIENT);

const MINUTES = 60_000;
const DAY = 86_400;

const prepare = async ({ card = 'pm_card_visa', ...subscription }: Readonly<Record<string, unknown>> = {}) => {
  const { service } = stoppable();
  const [who, user] = [await importer(service), await signIn(service, { expires_in: YEAR_SECONDS })];
  const made = await foreign(service, {
    customers: [{ payment_methods: [{ token: card }], default_payment_method: 0 }],
    subscriptions: [{ customer: 0, items: [{ unit_amount: 1_000 }], ...subscription }],
  });
  const row = { provider_customer_id: present(made.customers[0]).id, owner: `user:${user.userId}` };
  await service.settle();
  return { service, who, user, row, subscription: present(made.subscriptions[0]).id };
};
type Prepared = Awaited<ReturnType<typeof prepare>>;

const run = ({ service, who, row }: Prepared) => tryImport(service, who, [row]);

const recordsOf = async ({ service, user }: Prepared) =>
  (await itemsOf(service)).filter(({ sk, userId }) => ['CUS', 'PM', 'SUB'].includes(sk) && userId === user.userId);

const paymentsOf = async ({ service, user }: Prepared) =>
  (await service.get('/payments?limit=50', user.options)).body.data;

const chargesOf = async ({ service, row }: Prepared) => {
  const { charges, payment_intents } = await service.ledger();
  const own = payment_intents.filter(({ customer }) => customer === row.provider_customer_id).map(({ id }) => id);
  return charges.filter(({ payment_intent, status }) => own.includes(payment_intent) && status === 'succeeded');
};

/** The payment intent of the opening invoice of the import's period. */
const openingOf = async (prepared: Prepared): Promise<string | null | undefined> => {
  const subscription = (await recordsOf(prepared)).find(({ sk }) => sk === 'SUB');
  const { invoices } = await prepared.service.ledger();
  return invoices.find(({ id }) => id === subscription?.openedBy?.invoice)?.payment_intent;
};

const expectImported = async (prepared: Prepared): Promise<void> => {
  const { service, subscription } = prepared;
  expect(importedOutcomes(await run(prepared))).toEqual([
    ['customer known', 'payment_method known', 'subscription known'],
  ]);
  await service.advance(40 * 60);
  await service.settle();
  const records = await recordsOf(prepared);
  expect(records.map(({ sk }) => sk).toSorted()).toEqual(['CUS', 'PM', 'SUB']);
  const { metadata } = await atStripe(service, `GET subscriptions/${subscription}`);
  expect(metadata['subscription_id']).toBe(records.find(({ sk }) => sk === 'SUB')?.id);
  expect(await chargesOf(prepared)).toEqual([]);
};

describe('an interrupted import', () => {
  test(
    'is finished by a repeat of the request, or by due work, whichever call it stopped at',
    async () => {
      const { watch, stopped } = stoppable();
      const seen = await prepare();
      const calls = await watch(() => run(seen));
      expect(calls.length).toBeGreaterThan(10);
      for (const executed of [false, true]) {
        for (let call = 1; call <= calls.length; call += 1) {
          const prepared = await prepare();
          await stopped({ call, executed }, () => run(prepared).catch(() => undefined));
          await run(prepared);
          await expectImported(prepared);
        }
      }
    },
    30 * MINUTES,
  );
});

describe('an import during a change at Stripe', () => {
  const secondsAgo = ({ service }: { readonly service: { readonly now: () => number } }, seconds: number): string =>
    new Date(service.now() - seconds * 1_000).toISOString();

  test(
    'records the charge of a renewal once',
    async () => {
      const { service, watch, overtaken } = stoppable();
      const calls = await watch(async () => run(await prepare()));
      const reads = calls.filter((name) => name.startsWith('GET '));
      for (const name of new Set(reads)) {
        const prepared = await prepare({
          billing_cycle_anchor: secondsAgo({ service }, 30 * DAY - 1),
          items: [{ unit_amount: 700, interval: 'day', interval_count: 30 }],
        });
        // The period ends a second after the import has read Stripe.
        await overtaken(
          name.split('?')[0] ?? name,
          () => service.advance(2),
          () => run(prepared),
        ).catch(() => undefined);
        await run(prepared);
        await service.advance(2 * DAY);
        await service.settle();
        const charges = await chargesOf(prepared);
        const paid = (await paymentsOf(prepared)).filter(({ status }) => status === 'succeeded');
        // A charge that Stripe made before the import's read opened the current period, and has no payment here.
        const opening = await openingOf(prepared);
        expect({ name, charges: charges.length }).toEqual({ name, charges: 1 });
        expect({ name, known: paid.length + (opening === charges[0]?.payment_intent ? 1 : 0) }).toEqual({
          name,
          known: 1,
        });
      }
    },
    20 * MINUTES,
  );

  /** A subscription with a declining card. Its period ends in a second. */
  const prepareDeclining = () =>
    prepare({
      card: 'pm_card_chargeCustomerFail',
      billing_cycle_anchor: secondsAgo(stoppable(), 30 * DAY - 1),
      items: [{ unit_amount: 700, interval: 'day', interval_count: 30 }],
    });

  /** The subscription at Stripe and in the service, after every retry of a function has ended. */
  const settledStates = async (prepared: Prepared) => {
    const { service, user, subscription } = prepared;
    await service.advance(3 * 3_600);
    await service.settle();
    const there = await atStripe(service, `GET subscriptions/${subscription}`);
    const here = present((await service.get('/subscriptions', user.options)).body[0]);
    return { there, here };
  };

  const expectDeclinedOnce = async (name: string, prepared: Prepared): Promise<void> => {
    const { service, user } = prepared;
    const { there, here } = await settledStates(prepared);
    expect({ name, status: there.status }).toEqual({ name, status: 'past_due' });
    expect({ name, status: here.status, billing: here.billing_status }).toEqual({
      ...{ name, status: 'past_due', billing: 'retrying' },
    });
    const sent = await subscriptionEventsOf(service, here.id);
    // If the import itself reads the decline, the import's event reports it.
    const failed = sent.filter((event) => event !== 'subscription.created imported');
    const imported = (await service.busEvents()).find(
      ({ detail, 'detail-type': type }) =>
        type === 'subscription.created' && detail.payload.data.subscription_id === here.id,
    );
    const isReadDeclined = imported?.detail.payload.data.status === 'past_due';
    expect({ name, failed }).toEqual({ name, failed: isReadDeclined ? [] : ['subscription.updated payment_failed'] });
    expect({ name, charges: await chargesOf(prepared) }).toEqual({ name, charges: [] });
    const method = await saveReadyMethod(service, user.options, { provider_payment_method_token: 'pm_card_visa' });
    const body = { payment_method_id: method.id };
    const paid = await service.request('PATCH', `/subscriptions/${here.id}`, { ...user.options, body });
    expect({ name, status: paid.status, said: paid.body.status }).toEqual({ name, status: 200, said: 'active' });
    await service.advance(DAY);
    await service.settle();
    const payments = await paymentsOf(prepared);
    const charges = await chargesOf(prepared);
    expect({ name, charges: charges.map(({ amount }) => amount) }).toEqual({ name, charges: [700] });
    expect({ name, payments: payments.map(({ status, total_cents }) => [status, total_cents]) }).toEqual({
      ...{ name, payments: [['succeeded', 700]] },
    });
  };

  test(
    'stores a declined renewal as past due, with one event and no further charge',
    async () => {
      const { service, watch, overtaken } = stoppable();
      const before = await prepareDeclining();
      await run(before);
      await service.advance(2);
      await expectDeclinedOnce('import just before', before);
      const after = await prepareDeclining();
      await service.advance(2);
      await run(after);
      await expectDeclinedOnce('import just after', after);
      const watched = await prepareDeclining();
      const all = await watch(() => run(watched));
      // Later calls process the events about the new metadata at Stripe, and their number varies.
      const calls = all.slice(0, all.lastIndexOf('POST /v1/subscriptions/:id') + 1);
      for (const call of calls.keys()) {
        const name = `${call + 1} ${calls[call]}`;
        const prepared = await prepareDeclining();
        await overtaken(
          call + 1,
          () => service.advance(2),
          async () => expect((await run(prepared)).status).toBe(200),
        );
        await run(prepared);
        await expectDeclinedOnce(name, prepared);
      }
    },
    30 * MINUTES,
  );

  test(
    'stores a cancellation at Stripe',
    async () => {
      const { service, overtaken } = stoppable();
      const prepared = await prepare();
      await overtaken(
        'TransactWriteItems',
        () => atStripe(service, `DELETE subscriptions/${prepared.subscription}`),
        () => run(prepared),
      );
      await service.advance(3_600);
      await service.settle();
      const [subscription] = (await service.get('/subscriptions', prepared.user.options)).body;
      expect(subscription).toMatchObject({ status: 'canceled' });
      expect(await chargesOf(prepared)).toEqual([]);
    },
    5 * MINUTES,
  );
});
