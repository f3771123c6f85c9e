/** @module The stage of a local host decides the defaults of its settings. */
import { describe, expect, test } from 'vitest';
import { guestIntentBody } from '../builders/intent.ts';
import { rawCardBody } from '../builders/payer.ts';
import { signIn } from './flow.ts';
import { type TestHost, withHost } from './host.ts';

/** An empty variable counts as absent. */
const DEFAULTS = { RATE_LIMITS: '', ALLOW_RAW_CARDS: '' } as const;

/** Sends more guest creates than an address may send in one minute. @returns their statuses */
const guestCreates = async (service: TestHost): Promise<readonly number[]> => {
  const statuses: number[] = [];
  for (let at = 0; at < 11; at += 1) {
    const body = guestIntentBody({}, { email: `guest.${at}@example.com` });
    statuses.push((await service.post('/payments/intents', body)).status);
  }
  return statuses;
};

const saveRawCard = async (service: TestHost) => {
  const user = await signIn(service);
  return service.post('/payment-methods', rawCardBody(), user.options);
};

describe('a local host without a stage', () => {
  const service = withHost({ frozen: true, env: DEFAULTS });

  test('limits no requests', async () => {
    expect(new Set(await guestCreates(service))).toEqual(new Set([201]));
  });

  test('accepts raw cards', async () => {
    expect(await saveRawCard(service)).toMatchObject({ status: 201, body: { card_last_four: '4242' } });
  });
});

describe('a local host with RATE_LIMITS=on', () => {
  const service = withHost({ frozen: true, env: { RATE_LIMITS: 'on' } });

  test('limits requests', async () => {
    expect((await guestCreates(service)).at(-1)).toBe(429);
  });
});

describe.each(['dev', 'staging'])('a local host with STAGE=%s', (STAGE) => {
  const service = withHost({ frozen: true, env: { ...DEFAULTS, STAGE } });

  test('limits requests', async () => {
    expect((await guestCreates(service)).at(-1)).toBe(429);
  });

  test('refuses raw cards', async () => {
    expect(await saveRawCard(service)).toMatchObject({ status: 403, body: { code: 'RAW_CARD_DISABLED' } });
  });
});
