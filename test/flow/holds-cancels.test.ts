import { describe, expect, test } from 'vitest';
import { MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, PATIENT, read, signIn } from './flow.ts';
import { AT_STRIPE, holdsAtProvider, manualBody, release } from './holders.ts';
import type { TestAnswer } from './host.ts';
import { withStops } from './stops.ts';

/** At Stripe, a cancellation also ends a hold, so no hold may begin while the payer cancels. */
const stoppable = withStops(PATIENT);

describe('a payer with simultaneous cancel and confirm requests for a manual payment', () => {
  test('never ends a hold, even if the confirmation runs between two calls of the cancellation', async () => {
    const { service, watch, overtaken } = stoppable();
    const user = await signIn(service, { expires_in: YEAR_SECONDS });
    const create = () => createIntent(service, user, manualBody(AT_STRIPE));
    const seen = await create();
    const calls = await watch(() => release(service, seen.id, user.options));
    const confirmed = new Set<number>();
    for (let call = 1; call <= calls.length; call += 1) {
      const { id } = await create();
      let meanwhile: TestAnswer | undefined;
      const canceled = await overtaken(
        call,
        async () => {
          meanwhile = await confirm(service, id, user.options);
        },
        () => release(service, id, user.options),
      );
      await service.advance(2 * MINUTE_SECONDS);
      const { status } = await read(service, id, user.options);
      const isHeld = meanwhile?.status === 200;
      expect({ call, status, canceled: canceled.status }).toEqual(
        isHeld ? { call, status: 'requires_capture', canceled: 403 } : { call, status: 'canceled', canceled: 200 },
      );
      expect(await holdsAtProvider(service, id)).toMatchObject(isHeld ? [{ released: 0 }] : []);
      if (isHeld) confirmed.add(call);
    }
    expect(confirmed.size).toBeGreaterThan(0);
    expect(confirmed.size).toBeLessThan(calls.length);
  });

  test('can confirm or cancel again if the provider does not respond to the cancellation', async () => {
    const { service, losing } = stoppable();
    const user = await signIn(service, { expires_in: YEAR_SECONDS });
    for (const again of [confirm, release]) {
      const { id } = await createIntent(service, user, manualBody(AT_STRIPE));
      const lost = { call: 'POST /v1/payment_intents/:id/cancel', executed: false };
      expect((await losing(lost, () => release(service, id, user.options))).status).toBeGreaterThan(500);
      expect(await again(service, id, user.options)).toMatchObject({ status: 200 });
    }
  });
});
