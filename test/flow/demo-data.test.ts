import { expect, test } from 'vitest';
import { makeDemoData } from '../../infra/local/host/demo-data.ts';
import { PATIENT } from './flow.ts';
import { type ParsedJson, withHost } from './host.ts';

const service = withHost({ frozen: true, env: PATIENT });

test('the demo data shows refunds and disputes in every state, of payments that the demo owner reads', async () => {
  const { baseUrl } = service.host();
  const count = await makeDemoData({ baseUrl, serviceUrl: baseUrl });
  await service.settle();
  const list = async (path: string, session: string): Promise<ParsedJson[]> =>
    (await service.get(path, { session })).body.data;
  const payments = await list('/payments?limit=50', 'demo-owner');
  expect(payments.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 'succeeded'));
  const states = (all: readonly ParsedJson[], of: (one: ParsedJson) => string): string[] => all.map(of).sort();
  expect(states(await list('/refunds', 'demo-admin'), ({ source, status }) => `${source} ${status}`)).toEqual([
    'api failed',
    'api succeeded',
    'api succeeded',
    'provider pending',
    'provider succeeded',
  ]);
  expect(states(payments, ({ refund_status }) => refund_status)).toEqual([
    'full',
    ...Array.from({ length: count - 3 }, () => 'none'),
    'partial',
    'partial',
  ]);
  expect(states(await list('/disputes', 'demo-admin'), ({ status }) => status)).toEqual([
    'lost',
    'needs_response',
    'under_review',
    'won',
  ]);
});
