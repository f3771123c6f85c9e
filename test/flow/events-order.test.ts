import { describe, expect, test } from 'vitest';
import { fullAddress } from '../builders/address.ts';
import { freePort } from '../builders/free-port.ts';
import { paidIntentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { plantedIn, platformAdmin, requestErasure, textOf, untilErased } from './erasures.ts';
import { confirm, itemsOf } from './flow.ts';
import { withHost } from './host.ts';
import { createAddress } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import { OWN_BILLING, patch, readSubscription, subscribe, subscriber } from './subscribers.ts';
import { nodesAt } from './targets.ts';

/** A payer's events of 60 days contain the order and its billing address, until an erasure removes both. */
const port = await freePort();
const service = withHost({
  port,
  frozen: true,
  env: { ...OWN_BILLING, ...nodesAt(port, { all: { EVENTS: 'payment.*,subscription.*' } }) },
});

const ORDER = ['reference_code', 'metadata', 'product_id'] as const;
const shownBy = (record: ParsedJson) => ({
  ...Object.fromEntries(ORDER.map((name) => [name, record[name] ?? null])),
  quantity: record.quantity ?? 1,
  subtotal: record.subtotal_cents,
  tax: record.tax_cents,
  discount: record.discount_cents,
});
const carriedBy = (data: ParsedJson) => ({
  ...Object.fromEntries([...ORDER, 'quantity', 'subtotal', 'tax', 'discount'].map((name) => [name, data[name]])),
});

const WORDS = ['Planted Street', 'Moved Avenue', 'planted-cart', 'cart-two'];

describe('events about payments and subscriptions', () => {
  test('carry the record’s state at their version, and an erasure removes order and address completely', async () => {
    const admin = await platformAdmin(service);
    const who = await subscriber(service);
    const { id: addressId } = await createAddress(service, who.options, fullAddress({ line1: '1 Planted Street' }));
    const order = { reference_code: 'ORDER-7', metadata: { cart: 'planted-cart' }, billing_address_id: addressId };
    const price = { subtotal_cents: 2_000, tax_cents: 400, discount_cents: 100, total_cents: 2_300 };
    const seen: ParsedJson[] = [];
    const look = async (id: string) => seen.push(await readSubscription(service, who, id));

    const made = await service.post(
      '/payments/intents',
      { ...paidIntentBody(), currency: 'USD', ...price, ...order },
      who.options,
    );
    expect(made).toMatchObject({ status: 201 });
    await confirm(service, made.body.id, who.options);
    const { id } = await subscribe(service, who, { ...price, ...order });
    await look(id);
    await service.settle();
    await service.advance(1);
    await service.request('PUT', `/addresses/${addressId}`, { ...who.options, body: { line1: '2 Moved Avenue' } });
    await patch(service, who, { id, body: { metadata: { cart: 'cart-two' }, metadata_mode: 'replace' } });
    await look(id);
    for (let day = 0; day < 60; day += 15) {
      await service.advance(15 * DAY_SECONDS);
      await service.settle();
      await look(id);
    }

    const events = (await service.busEvents()).filter(({ source }) => source === 'payments');
    const dataOf = (name: string) =>
      events.filter((event) => event['detail-type'] === name).map(({ detail }) => detail.payload.data);
    const paid = present(dataOf('payment.succeeded').filter(({ payment_id }) => payment_id === made.body.id)[0]);
    expect(carriedBy(paid)).toEqual(shownBy({ ...made.body, product_id: null }));
    expect(paid.billing_address).toMatchObject({ id: addressId, line1: '1 Planted Street', name: 'Ada Lovelace' });
    const at = new Map(seen.map((record) => [record.updated_at, record]));
    const compared = events
      .filter((event) => event['detail-type'].startsWith('subscription.'))
      .flatMap(({ detail: { payload } }) => {
        const record = at.get(payload.timestamp);
        return record ? [{ carried: carriedBy(payload.data), shown: shownBy(record) }] : [];
      });
    expect(compared.length).toBeGreaterThanOrEqual(3);
    expect(compared.map(({ carried }) => carried)).toEqual(compared.map(({ shown }) => shown));
    const streets = dataOf('subscription.updated').map(({ billing_address }) => billing_address.line1);
    expect(new Set(streets)).toEqual(new Set(['2 Moved Avenue']));
    const renewals = dataOf('payment.succeeded').filter(({ subscription_id }) => subscription_id === id);
    expect(renewals.map(({ billing_address }) => billing_address.line1)).toEqual([
      '1 Planted Street',
      '2 Moved Avenue',
    ]);

    const found = async () => (await itemsOf(service)).filter((item) => plantedIn(textOf(item), WORDS).length > 0);
    expect((await found()).map(({ sk }) => sk)).toContain('LOG');
    const { id: erasure } = await requestErasure(service, admin.options, { user_id: who.user.userId });
    await untilErased(service, admin.options, { id: erasure });
    expect((await found()).map(({ pk, sk }) => [pk, sk])).toEqual([]);
  });
});
