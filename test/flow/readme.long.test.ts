import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DEMO_DAYS, makeDemoData } from '../../infra/local/demo/demo-data.ts';
import { PATIENT } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { matchesShown, stepsOf } from './tour.ts';
import { canRunTours, runTour } from './tour-run.ts';

/** Runs the tours in the docs, command by command, as a new user types them. */
const TOURS = [
  ['README.md', 'Five minutes'],
  ['docs/authentication.md', 'A subscription in the EU'],
] as const;

const env = { EXTERNAL_WEBHOOKS_ENABLED: 'true', RATE_LIMITS: 'on' };

const takeTour = async (service: TestHost, page: string, heading: string): Promise<void> => {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  const folder = mkdtempSync(join(tmpdir(), 'payments-readme-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const steps = stepsOf(text, heading);
  expect(steps.filter(({ shown }) => shown !== undefined).length).toBeGreaterThanOrEqual(4);
  await runTour(steps, service.host().baseUrl, folder);
  expect(readdirSync(folder)).toEqual([]);
};

describe.skipIf(!canRunTours)('the tours in the docs (skipped without bash or curl)', () => {
  const service = withHost({ env });

  test.each(TOURS)('return the printed responses in %s (%s)', (page, heading) => takeTour(service, page, heading));

  test('fail if a response differs from the printed text', () => {
    expect(
      matchesShown(
        '{"id":"pay_0123456789ab", … "status":"created"}',
        '{"id":"pay_a1b2c3d4e5f6","x":1,"status":"created"}',
      ),
    ).toBe(true);
    expect(
      matchesShown(
        '{"id":"pay_0123456789ab", … "status":"failed"}',
        '{"id":"pay_a1b2c3d4e5f6","x":1,"status":"created"}',
      ),
    ).toBe(false);
    expect(matchesShown('{"id":"pay_0123456789ab"}', '{"id":"pay_a1b2c3d4e5f6","more":1}')).toBe(false);
  });
});

describe.skipIf(!canRunTours)('the first tour on a host with demo data', () => {
  const service = withHost({ env: { ...env, ...PATIENT }, daysAgo: DEMO_DAYS });

  // Demo data takes longer to create than the tour, so a hook with its own timeout creates it.
  beforeAll(async () => {
    const { baseUrl, door, clock } = service.host();
    await makeDemoData({ baseUrl, serviceUrl: baseUrl, pass: door?.pass ?? {}, now: clock.now });
    door?.open();
  });

  test('returns the printed responses', () => takeTour(service, ...TOURS[0]));
});
