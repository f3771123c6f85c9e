import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withHost } from './host.ts';
import { stepsOf } from './tour.ts';
import { canRunTours, runTour } from './tour-run.ts';

const GUIDES = [
  'browser',
  'webhooks',
  'testing',
  'refunds-and-disputes',
  'holds',
  'backend',
  'plan-changes',
  'discounts',
  'support',
  'save-card',
  'save-while-paying',
  'sandbox',
  'wallets',
  'webhook-service',
  'events-to-s3',
  'tax',
  'agent',
  'adoption',
  'hosted-pages',
];

/** A guide moves the clock, so each guide has its own host. */
describe.skipIf(!canRunTours).each(GUIDES)('the guide %s (skipped if bash or curl is missing)', (guide) => {
  const service = withHost({ env: { EXTERNAL_WEBHOOKS_ENABLED: 'true', RATE_LIMITS: 'on' } });

  test('shows the real response under each command', async () => {
    const steps = stepsOf(readFileSync(new URL(`../../docs/guides/${guide}.md`, import.meta.url), 'utf8'));
    expect(steps.filter(({ shown }) => shown !== undefined).length).toBeGreaterThanOrEqual(3);
    await runTour(steps, service.host().baseUrl, new URL('../..', import.meta.url).pathname);
  });
});
