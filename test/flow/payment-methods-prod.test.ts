import { expect, test } from 'vitest';
import { rawCardBody } from '../builders/payer.ts';
import { itemsOf, signIn } from './flow.ts';
import { withHost } from './host.ts';

/** Production takes no card's own number, whatever else the settings say. */
const service = withHost({ frozen: true, env: { STAGE: 'prod', RATE_LIMITS: 'on', ALLOW_RAW_CARDS: 'true' } });

test('a raw card is refused in production, and kept nowhere', async () => {
  const user = await signIn(service);
  const answer = await service.post('/payment-methods', rawCardBody({ card_number: '4000056655665556' }), user.options);
  expect(answer).toMatchObject({ status: 403, body: { success: false, code: 'RAW_CARD_DISABLED' } });
  expect(JSON.stringify(answer.body)).not.toContain('4000');
  expect(JSON.stringify(await itemsOf(service))).not.toContain('4000056655665556');
  expect(await service.providerRequests()).toEqual([]);
});
