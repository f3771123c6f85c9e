import { afterEach, describe, expect, test } from 'vitest';
import { FAULT_ACTIONS } from '../../infra/simulator/protocol/faults.ts';
import { COMMAND_PLACES, expectOneEnd, KILLS, kindsAt, stopAt, underNewKey, untilItsEnd } from './command-ends.ts';
import { IMPATIENT } from './flow.ts';
import { withStops } from './stops.ts';

/** Faults of a command under a key at Stripe. One event reports the end, and a repeat shows the same. */
const stoppable = withStops(IMPATIENT);
afterEach(async () => {
  await stoppable().service.clearFaults();
});

const KINDS = kindsAt(COMMAND_PLACES[0]);

describe.each(KINDS)('a $name', (kind) => {
  test.each(FAULT_ACTIONS)('ends once after the fault %s', async (action) => {
    const { service } = stoppable();
    const subject = await kind.begin(service);
    const options = underNewKey();
    await service.fault({ provider: 'provider_a', path: kind.path, method: 'POST', action, times: 2 });
    const answer = await subject.ask(options);
    await service.clearFaults();
    await untilItsEnd(service);
    await expectOneEnd(service, { kind, subject, options, answer });
  });

  test.each(KILLS)('ends once if its function is killed %s', async (point) => {
    const { service, stopped } = stoppable();
    const stop = await stopAt(stoppable(), kind, point);
    const subject = await kind.begin(service);
    const options = underNewKey();
    await stopped(stop, () => subject.ask(options));
    await untilItsEnd(service);
    const answer = point === 'before the claim' ? undefined : 'claimed';
    await expectOneEnd(service, { kind, subject, options, answer });
  });
});

describe.each(KINDS.filter(({ declined }) => declined))('a $name that the bank declines', (kind) => {
  test('is reported by its response', async () => {
    const { service } = stoppable();
    const subject = await kind.begin(service, kind.declined);
    const options = underNewKey();
    expect(await subject.ask(options)).toMatchObject({ status: 402 });
    await untilItsEnd(service);
    expect(await subject.ask(options)).toMatchObject({ status: 402 });
    expect(await subject.effects()).toBe(0);
    expect(await subject.ends()).toEqual(kind.name === 'confirm' ? ['payment.failed'] : []);
  });
});
