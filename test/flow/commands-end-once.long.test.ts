import { afterEach, describe, expect, test } from 'vitest';
import { FAULT_ACTIONS } from '../../infra/simulator/protocol/faults.ts';
import { COMMAND_PLACES, expectOneEnd, kindsAt, underNewKey, untilItsEnd } from './command-ends.ts';
import { IMPATIENT } from './flow.ts';
import { withHost } from './host.ts';

/** Faults of a command under a key at each provider. One event reports the end, and a repeat shows the same. */
const service = withHost({ frozen: true, env: IMPATIENT });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

/**
 * A fault of the first calls, with all events, and a fault until the end, without events; and a lost response with
 * events that come twice or in another order. With the four kills at Stripe, these are 18 faults.
 */
const CASES = [
  ...FAULT_ACTIONS.map((action) => ({ action, lasts: 'at first', mode: 'normal' }) as const),
  ...FAULT_ACTIONS.map((action) => ({ action, lasts: 'until its end', mode: 'drop' }) as const),
  ...(['duplicate', 'reorder'] as const).map((mode) => ({ action: 'timeout_after', lasts: 'at first', mode }) as const),
];

describe.each(COMMAND_PLACES)('at $holding.slot', (place) => {
  const { slot: provider } = place.holding;

  describe.each(kindsAt(place))('a $name', (kind) => {
    test.each(CASES)('ends once after the fault $action $lasts, with events in mode $mode', async (given) => {
      const subject = await kind.begin(service);
      const options = underNewKey();
      await service.webhookMode(given.mode);
      const times = given.lasts === 'at first' ? { times: 2 } : {};
      await service.fault({ provider, path: kind.path, method: 'POST', action: given.action, ...times });
      const answer = await subject.ask(options);
      if (given.lasts === 'at first') await service.clearFaults();
      await untilItsEnd(service);
      await service.clearFaults();
      await expectOneEnd(service, { kind, subject, options, answer });
    });
  });

  describe.each(kindsAt(place).filter(({ declinedLater }) => declinedLater))('a $name declined later', (kind) => {
    test.each(['normal', 'drop'] as const)('ends once, and a repeat shows the same, in mode %s', async (mode) => {
      const subject = await kind.begin(service, kind.declinedLater);
      const options = underNewKey();
      await service.webhookMode(mode);
      expect((await subject.ask(options)).status).toBeLessThan(300);
      if (kind.name === 'capture')
        await service.control('POST', `/simulator/payments/${subject.id}/pending-capture`, { outcome: 'failed' });
      await untilItsEnd(service);
      expect(await subject.ends()).toEqual([kind.failed]);
      expect(await subject.effects()).toBe(0);
      const again = await subject.ask(options);
      expect(again.headers.get('idempotent-replayed')).toBe(kind.name === 'refund' ? 'true' : null);
      expect(again.body.status).toBe(
        { refund: 'failed', capture: 'requires_capture' }[kind.name as string] ?? 'processing',
      );
    });
  });
});
