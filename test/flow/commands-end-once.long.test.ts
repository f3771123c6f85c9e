import { afterEach, describe, expect, test } from 'vitest';
import { FAULT_ACTIONS } from '../../infra/simulator/protocol/faults.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import {
  COMMAND_PLACES,
  callsOf,
  expectFirst,
  expectOneEnd,
  expectOneOf,
  kindsAt,
  underNewKey,
  untilItsEnd,
} from './command-ends.ts';
import { IMPATIENT } from './flow.ts';
import { withHost } from './host.ts';

/** Faults and parallel requests of a command at each provider. One event and each repeat report the same end. */
const service = withHost({ frozen: true, env: IMPATIENT });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

/**
 * Temporary faults with all events, lasting faults without events, and lost responses with repeated or reordered
 * events. With the four kills at Stripe, these are 18 faults.
 */
const CASES = [
  ...FAULT_ACTIONS.map((action) => ({ action, lasts: 'at first', mode: 'normal' }) as const),
  ...FAULT_ACTIONS.map((action) => ({ action, lasts: 'until its end', mode: 'drop' }) as const),
  ...(['duplicate', 'reorder'] as const).map((mode) => ({ action: 'timeout_after', lasts: 'at first', mode }) as const),
];

describe.each(COMMAND_PLACES)('at $holding.slot', (place) => {
  const { slot: provider } = place.holding;

  describe.each(kindsAt(place))('a $name', (kind) => {
    test.each(CASES)('ends once despite the fault $action $lasts, with events in mode $mode', async (given) => {
      const subject = await kind.begin(service);
      const options = underNewKey();
      await service.webhookMode(given.mode);
      const times = given.lasts === 'at first' ? { times: 2 } : {};
      await service.fault({ provider, path: kind.path, method: 'POST', action: given.action, ...times });
      const answer = await subject.ask(options);
      expectFirst(kind, given.action, answer);
      if (given.lasts === 'at first') await service.clearFaults();
      await untilItsEnd(service);
      await service.clearFaults();
      await expectOneEnd(service, { kind, subject, options, answer });
    });

    test.each([
      ['the same key', true],
      ['different keys', false],
    ])('happens once for 20 simultaneous requests under %s', async (_, isOne) => {
      const subject = await kind.begin(service);
      await service.clearProviderRequests();
      const options = underNewKey();
      const requests = Array.from({ length: 20 }, () => subject.ask(isOne ? options : underNewKey()));
      await expectOneOf(service, { kind, subject, answers: await Promise.all(requests) });
    });

    test('happens only if one of 40 simultaneous requests is accepted while the rate is limited', async () => {
      const subject = await kind.begin(service);
      await service.fault({ provider, path: kind.path, method: 'POST', action: 'rate_limit' });
      const answers = await Promise.all(Array.from({ length: 40 }, () => subject.ask(underNewKey())));
      await service.clearFaults();
      expect(answers.filter(({ status }) => ![202, 400, 409, 503].includes(status)).map(({ body }) => body)).toEqual(
        [],
      );
      await untilItsEnd(service);
      const accepted = answers.filter(({ status }) => status === 202).length;
      expect(await subject.effects()).toBe(accepted);
      expect(await subject.ends()).toEqual(accepted > 0 ? [kind.done] : []);
    });
  });

  // A plan change sends the creation of its payment again without a read.
  describe.each(kindsAt(place).filter(({ name }) => name !== 'change'))('a $name', (kind) => {
    test('is looked up but never resent while the provider cannot be read, and ends once', async () => {
      const subject = await kind.begin(service);
      const options = underNewKey();
      await service.webhookMode('drop');
      await service.fault({ provider, path: kind.path, method: 'POST', action: 'timeout_after', times: 1 });
      const answer = await subject.ask(options);
      await service.fault({ provider, method: 'GET', action: 'error_500' });
      await service.clearProviderRequests();
      await untilItsEnd(service);
      expect(await callsOf(service, kind)).toBe(0);
      expect(await subject.ends()).toEqual([]);
      await service.clearFaults();
      await service.advance(12 * HOUR_SECONDS);
      await expectOneEnd(service, { kind, subject, options, answer });
    });
  });

  describe.each(kindsAt(place).filter(({ declineNeedsRead }) => declineNeedsRead))(
    'a declined $name at an unreadable provider',
    (kind) => {
      test('stays pending until a read succeeds, and then fails', async () => {
        const subject = await kind.begin(service, kind.declined);
        await service.webhookMode('drop');
        await service.fault({ provider, method: 'GET', action: 'error_500' });
        expect(await subject.ask(underNewKey())).toMatchObject({ status: 202 });
        await service.advance(HOUR_SECONDS);
        expect(await subject.ask(underNewKey())).toMatchObject({ body: { code: 'PAYMENT_IN_PROGRESS' } });
        expect(await subject.ends()).toEqual([]);
        await service.clearFaults();
        await service.advance(3 * HOUR_SECONDS);
        expect(await subject.ends()).toEqual([kind.failed]);
        expect(await subject.effects()).toBe(0);
      });
    },
  );

  describe.each(kindsAt(place).filter(({ declinedLater }) => declinedLater))('a $name with a late decline', (kind) => {
    test.each(['normal', 'drop'] as const)('ends once, and a repeat shows this end (events: %s)', async (mode) => {
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
