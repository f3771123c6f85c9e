import { afterEach, describe, expect, test } from 'vitest';
import { FAULT_ACTIONS } from '../../infra/simulator/protocol/faults.ts';
import {
  COMMAND_PLACES,
  expectFirst,
  expectOneEnd,
  expectOneOf,
  KILLS,
  kindsAt,
  stopAt,
  underNewKey,
  untilItsEnd,
} from './command-ends.ts';
import { IMPATIENT } from './flow.ts';
import type { RequestOptions, TestAnswer } from './host.ts';
import { withStops } from './stops.ts';

/** Faults, kills and parallel requests of a command at Stripe. One event and each repeat report the same end. */
const stoppable = withStops(IMPATIENT);
afterEach(async () => {
  await stoppable().service.clearFaults();
});

/** Without the partial capture, because it makes the same call as a full capture, with another amount. */
const KINDS = kindsAt(COMMAND_PLACES[0]).filter(({ name }) => name !== 'part capture');

describe.each(KINDS)('a $name', (kind) => {
  test.each(FAULT_ACTIONS)('ends once after the fault %s', async (action) => {
    const { service } = stoppable();
    const subject = await kind.begin(service);
    const options = underNewKey();
    await service.fault({ provider: 'provider_a', path: kind.path, method: 'POST', action, times: 2 });
    const answer = await subject.ask(options);
    expectFirst(kind, action, answer);
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

  test.each(
    (['before the claim', 'after the claim', 'after the call'] as const).flatMap((point) =>
      (['under its key', 'under another key'] as const).map((key) => ({ point, key })),
    ),
  )('happens once if a second request $key arrives $point', async ({ point, key }) => {
    const { service, overtaken } = stoppable();
    const stop = await stopAt(stoppable(), kind, point);
    const subject = await kind.begin(service);
    const options = underNewKey();
    await service.clearProviderRequests();
    const answers: TestAnswer[] = [];
    const ask = async (under: RequestOptions) => answers.push(await subject.ask(under));
    // Delays the response of the call before the claim, of the claim, or of the provider call.
    const at = Number(stop.call) - (stop.executed ? 0 : 1);
    await overtaken(
      at,
      () => ask(key === 'under its key' ? options : underNewKey()),
      () => ask(options),
    );
    await expectOneOf(service, { kind, subject, answers });
  });

  test.each([
    ['the same key', true],
    ['different keys', false],
  ])('happens once for 40 simultaneous requests under %s', async (_, isOne) => {
    const { service } = stoppable();
    const subject = await kind.begin(service);
    await service.clearProviderRequests();
    const options = underNewKey();
    const requests = Array.from({ length: 40 }, () => subject.ask(isOne ? options : underNewKey()));
    await expectOneOf(service, { kind, subject, answers: await Promise.all(requests) });
  });
});

describe.each(KINDS.filter(({ declined }) => declined))('a declined $name', (kind) => {
  test('is reported with 402 in the response', async () => {
    const { service } = stoppable();
    const subject = await kind.begin(service, kind.declined);
    const options = underNewKey();
    expect(await subject.ask(options)).toMatchObject({ status: 402 });
    await untilItsEnd(service);
    expect(await subject.ask(options)).toMatchObject({ status: 402 });
    expect(await subject.effects()).toBe(0);
    expect(await subject.ends()).toEqual(kind.failed === 'payment.failed' ? ['payment.failed'] : []);
  });
});
