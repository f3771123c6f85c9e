import type { Catalogue } from '../../infra/local/host/assemble.ts';
import type { Handler } from '../../infra/local/machine/invoke.ts';
import type { QueueTrigger, ScheduleTrigger, StreamTrigger } from '../../shared/platform/trigger.ts';

/** Made-up routes, a queue, stream consumers and schedules, for tests of the host itself. */
export interface FakeCatalogue extends Catalogue {
  /** The function id and event of every call so far. */
  readonly calls: { readonly id: string; readonly event: unknown }[];
  /** Replaces the function's behaviour from now on. */
  handle(id: string, handler: Handler): void;
}

const common = { summary: '', uses: [], timeoutSeconds: 5, memoryMb: 256, impact: '' } as const;

export const QUEUE: QueueTrigger = {
  ...common,
  id: 'fake.queue',
  kind: 'queue',
  queue: 'apply-provider-event',
  rules: [{ name: 'from-tests', pattern: { source: ['tests'], 'detail-type': [{ prefix: 'wanted.' }] } }],
  batchSize: 2,
  maxConcurrency: 3,
  visibilitySeconds: 60,
  maxReceives: 3,
};
export const STREAM: StreamTrigger = {
  ...common,
  id: 'fake.stream',
  kind: 'stream',
  sortKeys: ['PAY'],
  batchSize: 10,
  batchesAtOnce: 1,
};
export const GATHERING: StreamTrigger = { ...STREAM, id: 'fake.gathering', gatherSeconds: 60 };
export const SWEEP: ScheduleTrigger = { ...common, id: 'workers.sweep-due', kind: 'schedule', everyMinutes: 1 };
export const HOURLY: ScheduleTrigger = { ...common, id: 'fake.hourly', kind: 'schedule', everyMinutes: 60 };

const ROUTES: Catalogue['endpoints'] = [
  { id: 'fake.by-id', method: 'GET', path: '/items/{id}', timeoutSeconds: 5, uses: [] },
  { id: 'fake.special', method: 'GET', path: '/items/special', timeoutSeconds: 5, uses: [] },
  { id: 'fake.create', method: 'POST', path: '/items', timeoutSeconds: 1, uses: [] },
  { id: 'fake.part', method: 'GET', path: '/items/{id}/parts/{part_id}', timeoutSeconds: 5, uses: [] },
];

const echo: Handler = (event) => ({
  statusCode: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(event),
});

export const fakeCatalogue = (): FakeCatalogue => {
  const calls: { id: string; event: unknown }[] = [];
  const handlers = new Map<string, Handler>();
  const isRoute = (id: string) => id === 'api.default' || ROUTES.some((route) => route.id === id);
  return {
    endpoints: ROUTES,
    triggers: [QUEUE, STREAM, GATHERING, SWEEP, HOURLY],
    calls,
    handle: (id, handler) => void handlers.set(id, handler),
    load: async (id) => (event, context) => {
      calls.push({ id, event });
      const handler = handlers.get(id) ?? (isRoute(id) ? echo : () => undefined);
      return handler(event, context);
    },
  };
};
