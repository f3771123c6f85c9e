import { beforeAll, describe, expect, test } from 'vitest';
import { documentedEndpoints } from '../../functions/api/catalogue.ts';
import { exampleRequests } from '../../functions/api/example-requests.ts';
import { DEMO_DAYS, makeDemoData } from '../../infra/local/demo/demo-data.ts';
import { acceptedOf } from './examples/accepted.ts';
import { PRESENT, steadying } from './examples/steadied.ts';
import { walkDocument } from './examples/walk.ts';
import { PATIENT } from './flow.ts';
import { withHost } from './host.ts';

const MADE_MS = 240_000;

/** `npm run examples` records the responses again. */
describe('the API document’s examples, sent in order to a new host with demo data', () => {
  const service = withHost({
    daysAgo: DEMO_DAYS,
    present: PRESENT,
    env: { ...PATIENT, EXTERNAL_WEBHOOKS_ENABLED: 'true' },
  });
  let walk: Awaited<ReturnType<typeof walkDocument>>;
  let accepted: Awaited<ReturnType<typeof acceptedOf>>;

  beforeAll(async () => {
    const { baseUrl, door, clock } = service.host();
    const ids = await makeDemoData({
      ...{ baseUrl, serviceUrl: baseUrl, pass: door?.pass ?? {}, now: clock.now },
      present: PRESENT,
    });
    door?.open();
    const named = JSON.stringify(exampleRequests).match(/[0-9A-Za-z_]+/g) ?? [];
    const steady = steadying(new Set([...ids.values(), ...named]));
    walk = await walkDocument(service, steady);
    accepted = await acceptedOf(service, steady);
  }, MADE_MS);

  test('all return their documented status', () => {
    expect(walk.failures).toEqual([]);
    expect(walk.count).toBe(documentedEndpoints.length);
  });

  test('match the responses of the service', async () => {
    const recorded = `${JSON.stringify(walk.answers, null, 2)}\n`;
    await expect(recorded).toMatchFileSnapshot('../../functions/api/example-answers.json');
  });

  test('include the responses to requests whose outcome at the provider is unknown', async () => {
    const recorded = `${JSON.stringify(accepted, null, 2)}\n`;
    await expect(recorded).toMatchFileSnapshot('../../functions/api/example-accepted.json');
  });
});
