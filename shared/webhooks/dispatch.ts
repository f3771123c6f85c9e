import type { Log } from '../observability/logger.ts';
import type { Handled } from '../workers/consumer.ts';
import type { Queues } from '../workers/queues.ts';
import { deliveryTo } from './delivery.ts';
import { wants } from './filters.ts';
import { outboundEventOf } from './outbound-event.ts';
import type { Target } from './targets.ts';

export interface DispatchDeps {
  readonly queues: Queues;
  readonly targets: () => Promise<readonly Target[]>;
  readonly log: Log;
}

/** One message for every target that wants the event. Sent again, it is the same deliveries under the same ids. */
export const dispatchWebhooks = async (deps: DispatchDeps, message: unknown): Promise<Handled> => {
  const event = outboundEventOf(message);
  const wanting = (await deps.targets()).filter((target) => wants(target, event));
  await deps.queues.send(
    'webhook-delivery',
    wanting.map((target) => ({ body: JSON.stringify(deliveryTo(target, event)), group: target.name })),
  );
  if (wanting.length > 0) {
    deps.log.info('webhook dispatched', { event_id: event.id, event_type: event.name, count: wanting.length });
  }
  return 'done';
};
