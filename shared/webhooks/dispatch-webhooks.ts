import type { Log } from '../core/logger.ts';
import { runInSpan } from '../core/trace.ts';
import { deliveryTo } from '../event-log/delivery.ts';
import type { OutboundEvent } from '../event-log/outbound-event.ts';
import { newSpan, traceOfMessage } from '../platform/doors.ts';
import type { Queues } from '../platform/queues.ts';
import { type Target, wants } from './webhook-targets.ts';

export interface DispatchDeps {
  readonly queues: Queues;
  readonly targets: () => Promise<readonly Target[]>;
  readonly log: Log;
}

/** Queues one delivery per event and subscribed target. A repeat queues the same deliveries, under the same ids. */
export const dispatchWebhooks = async (deps: DispatchDeps, events: readonly OutboundEvent[]): Promise<void> => {
  const targets = await deps.targets();
  const deliveries = events.flatMap((event) =>
    targets.filter((target) => wants(target, event)).map((target) => deliveryTo(target.name, event)),
  );
  await deps.queues.send(
    'webhook-delivery',
    deliveries.map((delivery) => ({ body: JSON.stringify(delivery), group: delivery.target })),
  );
  for (const delivery of deliveries) {
    const { id, event, target } = delivery;
    runInSpan(newSpan(traceOfMessage(delivery)), () =>
      deps.log.info('webhook dispatched', { event_id: id, event_type: event, target }),
    );
  }
};
