import { describe, expect, test } from 'vitest';
import { putCode } from './discounts.ts';
import { PATIENT, signIn } from './flow.ts';
import { withStops } from './stops.ts';

const stoppable = withStops(PATIENT);

const BODY = { subtotal_cents: 2_000, currency: 'USD' };

describe('the calls of a create', () => {
  test('are a read and plain puts without a code, but a batch read and a transaction with a code', async () => {
    const { service, watch } = stoppable();
    await putCode(service, 'COST', { max_redemptions: 10 });
    const user = await signIn(service);
    const create = (fields: Readonly<Record<string, unknown>>) =>
      service.post('/payments/intents', { ...BODY, ...fields }, user.options);
    await create({});
    const plain = await watch(() => create({}));
    const coded = await watch(() => create({ discount_code: 'COST' }));
    const [intent, ...others] = plain.slice(2);
    expect(plain.slice(0, 2)).toEqual(['GetItem', 'PutItem']);
    expect(intent).toBe('POST /v1/payment_intents');
    expect(new Set(others)).toEqual(new Set(['PutItem']));
    expect(coded).toEqual(['BatchGetItem', 'TransactWriteItems', intent, ...others]);
  });
});
