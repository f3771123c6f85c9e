/** @module Idempotency keys of confirms and creates, and concurrent updates. */

import { describe, expect, test } from 'vitest';
import { paidIntentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { atProvider, confirm, createPaidIntent, PATIENT, read, signIn } from './flow.ts';
import { withHost } from './host.ts';

const service = withHost({ frozen: true, env: PATIENT });

describe('a confirm under a key of the previous day', () => {
  test('gets 409 while the earlier attempt is pending, instead of the earlier response', async () => {
    const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
    const { id } = await createPaidIntent(service, user);
    const options = { ...user.options, idempotencyKey: 'confirm-again' };
    const body = { payment_method_id: 'pm_card_authenticationRequired' };
    expect(await confirm(service, id, { ...options, body })).toMatchObject({
      status: 200,
      body: { status: 'pending' },
    });
    expect(await confirm(service, id, { ...options, body })).toMatchObject({
      status: 200,
      body: { status: 'pending' },
    });
    await service.advance(DAY_SECONDS + 1);
    const later = await confirm(service, id, { ...options, body: { payment_method_id: 'pm_card_visa' } });
    expect(later).toMatchObject({ status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } });
  });
});

describe('a create', () => {
  test('can reuse the key of a refused create with a corrected body', async () => {
    const user = await signIn(service);
    const ask = (token: string) =>
      service.post('/payments/intents', paidIntentBody({ payment_method_id: token }), {
        ...user.options,
        idempotencyKey: 'corrected',
      });
    expect(await ask('pm_unknown')).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    const corrected = await ask('pm_card_visa');
    expect(corrected).toMatchObject({ status: 201, body: { status: 'created' } });
    expect((await atProvider(service, corrected.body.id)).intents).toHaveLength(1);
  });
});

describe('concurrent updates of one payment', () => {
  test('keep every update that returned 200', async () => {
    const user = await signIn(service);
    const fields = ['concept', 'category', 'reference_code', 'tags', 'description', 'return_url'] as const;
    const newValue = (field: string): string => (field === 'return_url' ? 'https://shop.example/' : `new ${field}`);
    for (let round = 0; round < 5; round += 1) {
      const { id } = await createPaidIntent(service, user);
      const answers = await Promise.all(
        fields.map((field) => service.put(`/payments/intents/${id}`, { [field]: newValue(field) }, user.options)),
      );
      const record = await read(service, id, user.options);
      for (const [index, { status, body }] of answers.entries()) {
        const field = present(fields[index]);
        if (status === 200) expect({ field, stored: record[field] }).toEqual({ field, stored: newValue(field) });
        else expect({ status, code: body.code }).toEqual({ status: 409, code: 'VERSION_CONFLICT' });
      }
      expect(answers.some(({ status }) => status === 200)).toBe(true);
    }
  });
});
