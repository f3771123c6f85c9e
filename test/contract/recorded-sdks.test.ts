/**
 * @module Replays the recorded requests of the PayPal and Square SDKs, from the vendors' quick start guides. The SDKs
 * could read the recorded responses, so the simulator must still return them.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SQUARE_VERSION } from '../../shared/providers/square/outcome.ts';
import { targetOf } from '../builders/target-of.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL, SQUARE } from './provider-subjects.ts';
import { RECORDED_SDKS, type RecordedStep } from './recorded-sdks.ts';

let rig: ProviderRig;
afterEach(() => rig.close());

/**
 * Repeats one step of a recording. The response may contain more fields than the recorded response, because an SDK
 * ignores unknown fields.
 */
const repeat = async (step: RecordedStep): Promise<void> => {
  if ('advance' in step) return rig.clock.advance(step.advance);
  if ('delivered' in step) return expect(await rig.delivered()).toMatchObject(step.delivered);
  const { method, path } = targetOf('control' in step ? step.control : step.request);
  if ('control' in step) return rig.control(method, path, step.body);
  const { headers, body, status, version, response: expected } = step;
  const response = await fetch(`${rig.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  expect({ request: step.request, status: response.status, text }).toMatchObject({ status });
  expect(response.headers.get('square-version') ?? undefined).toBe(version);
  if (expected === undefined) expect(text).toBe('');
  else expect({ response: JSON.parse(text) }).toMatchObject({ response: expected });
};

describe.each([
  ['PayPal', PAYPAL],
  ['Square', SQUARE],
] as const)('recordings of the SDK of %s', (vendor, subject) => {
  beforeEach(async () => {
    rig = await openRig(subject);
  });

  test.each(RECORDED_SDKS[vendor].recordings)('$name', async ({ steps }) => {
    for (const step of steps) await repeat(step);
  });
});

describe('the SDK of Square', () => {
  test('requests our adapter’s API version in every recording (read Square’s changelog before an upgrade)', () => {
    const requests = RECORDED_SDKS.Square.recordings.flatMap(({ steps }) => steps).filter((step) => 'request' in step);
    expect(new Set(requests.map(({ headers }) => headers['square-version']))).toEqual(new Set([SQUARE_VERSION]));
  });
});
