/**
 * @module The webhooks of the simulated providers. Each is stored in the transaction of the change that it reports,
 * then delivered at least once. Events of one object are delivered in order, unless a test requests another order.
 */

import * as z from 'zod';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import type { Clock } from '../../local/machine/clock.ts';
import { shuffled } from '../state/random.ts';
import type { Store } from '../state/store.ts';

const WEBHOOK_MODES = ['normal', 'duplicate', 'reorder', 'delay', 'drop'] as const;

export const DELIVERY_MODES = [...WEBHOOK_MODES, 'forged', 'stale'] as const;
export type DeliveryMode = (typeof DELIVERY_MODES)[number];

export const webhookMode = z.object({ mode: z.enum(WEBHOOK_MODES), seed: z.int().default(1) });
export type WebhookSetting = z.infer<typeof webhookMode>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const RETRY_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS];
const LATER_DELAY_MS = 12 * HOUR_MS;
const DELAY_MS = HOUR_MS;
const COPIES = 3;
/** Maximum deliveries per read (BATCH) and in flight (AT_ONCE). */
const BATCH = 64;
const AT_ONCE = 16;

export interface OutboxDelivery {
  readonly seq: number;
  readonly slot: ProviderSlot;
  readonly subject: string;
  readonly body: string;
  readonly manner: DeliveryMode;
  readonly attempts: number;
}

export interface Posting {
  readonly slot: ProviderSlot;
  readonly subject: string;
  readonly body: string;
  readonly manner: DeliveryMode | undefined;
}

export interface Outbox {
  /** Must run within the transaction that the event reports. */
  post(posting: Posting): void;
  setting(): WebhookSetting;
  use(setting: WebhookSetting): void;
  /** Retries the deliveries given up by the vendor. @returns their number */
  resend(): number;
  nextDueAt(): number | undefined;
  /** Starts due deliveries; `idle` shows when they are done. */
  drain(): void;
  idle(): boolean;
  /** Numbers of deliveries by state. */
  counts(): Record<string, number>;
  close(): void;
}

interface OutboxParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Slots with a vendor. Deliveries of other slots wait until they have a vendor again. */
  readonly served: readonly ProviderSlot[];
  /** Retry period of the vendor's events, in days. */
  readonly retriesForDays: (slot: ProviderSlot) => number;
  /** @returns the status of the service's response; 0 without a response. Never rejects. */
  readonly send: (delivery: OutboxDelivery) => Promise<number>;
}

const SETTING = 'webhooks';

export const openOutbox = ({ store, clock, served, retriesForDays, send }: OutboxParts): Outbox => {
  let setting = store.readSetting(SETTING, webhookMode) ?? { mode: 'normal', seed: 1 };
  const isServed = `slot IN (${served.map((slot) => `'${slot}'`).join(', ')})`;
  let closed = false;
  const inFlight = new Set<number>();
  const lane = lanes(AT_ONCE);

  const deliver = async (delivery: OutboxDelivery): Promise<void> => {
    if (closed) return;
    const status = await send(delivery);
    if (closed) return;
    const retryIn = retryDelay(delivery, retriesForDays(delivery.slot));
    record(store, delivery, { status, at: clock.now(), retryIn });
    inFlight.delete(delivery.seq);
    known = undefined;
    if (inFlight.size <= AT_ONCE) drain();
    clock.wake();
  };
  const due = (limit: number): OutboxDelivery[] =>
    store
      .rows(
        `SELECT seq, slot, subject, body, manner, attempts FROM outbox
         WHERE state = 'pending' AND due_at <= ? AND ${isServed}
         ORDER BY due_at, seq LIMIT ?`,
        clock.now(),
        limit,
      )
      .map((row) => deliveryRow.parse(row))
      .filter((delivery) => !inFlight.has(delivery.seq));

  const findNextDue = (): number | undefined => {
    const rows = store.rows(
      `SELECT seq, due_at AS dueAt FROM outbox
       WHERE state = 'pending' AND ${isServed} ORDER BY due_at LIMIT ?`,
      inFlight.size + 1,
    );
    return rows.map((row) => dueRow.parse(row)).find((row) => !inFlight.has(row.seq))?.dueAt;
  };
  /** Cached, because the clock polls often and usually nothing has been written since. */
  let known: { readonly writes: number; readonly dueAt: number | undefined } | undefined;
  const nextDueAt = (): number | undefined => {
    const writes = store.writes();
    if (known?.writes !== writes) known = { writes, dueAt: findNextDue() };
    return known.dueAt;
  };
  const isDue = (): boolean => (nextDueAt() ?? Number.POSITIVE_INFINITY) <= clock.now();

  const drain = (): void => {
    if (closed || inFlight.size >= BATCH || !isDue()) return;
    for (const delivery of inOrder(due(BATCH), setting.seed)) {
      inFlight.add(delivery.seq);
      lane(delivery.subject, () => deliver(delivery));
    }
    known = undefined;
  };

  return {
    post: (posting) => post(store, { ...posting, manner: posting.manner ?? setting.mode }, clock.now()),
    setting: () => setting,
    use: (next) => {
      setting = next;
      store.writeSetting(SETTING, next);
    },
    resend: () => {
      const { n } = countOf(store.rows("SELECT count(*) AS n FROM outbox WHERE state = 'given_up'"));
      store.run("UPDATE outbox SET state = 'pending', attempts = 0, due_at = ? WHERE state = 'given_up'", clock.now());
      clock.wake();
      return n;
    },
    nextDueAt,
    drain,
    idle: () => closed || (inFlight.size === 0 && !isDue()),
    counts: () =>
      Object.fromEntries(
        store
          .rows('SELECT state, count(*) AS n FROM outbox GROUP BY state')
          .map((row) => countRow.parse(row))
          .map(({ state, n }) => [state, n]),
      ),
    close: () => {
      closed = true;
    },
  };
};

const deliveryRow = z.object({
  seq: z.int(),
  slot: z.enum(PROVIDER_SLOTS),
  subject: z.string(),
  body: z.string(),
  manner: z.enum(DELIVERY_MODES),
  attempts: z.int(),
});
const dueRow = z.object({ seq: z.int(), dueAt: z.int() });
const countRow = z.object({ state: z.string(), n: z.int() });
const countOf = ([row]: readonly unknown[]) => countRow.pick({ n: true }).parse(row);

const post = (store: Store, posting: Posting & { readonly manner: DeliveryMode }, now: number): void => {
  const { manner } = posting;
  const copies = manner === 'duplicate' ? COPIES : 1;
  for (let copy = 0; copy < copies; copy += 1) {
    store.run(
      'INSERT INTO outbox (state, due_at, slot, subject, body, manner) VALUES (?, ?, ?, ?, ?, ?)',
      manner === 'drop' ? 'dropped' : 'pending',
      manner === 'delay' ? now + DELAY_MS : now,
      posting.slot,
      posting.subject,
      posting.body,
      manner,
    );
  }
};

/**
 * A forged event has only one try, because its sender does not know the secret.
 * @returns ms until the next try, or undefined if the vendor gives up
 */
const retryDelay = ({ manner, attempts }: OutboxDelivery, days: number): number | undefined => {
  if (manner === 'forged') return undefined;
  const delays = Array.from({ length: attempts + 1 }, (_, index) => RETRY_DELAYS_MS[index] ?? LATER_DELAY_MS);
  return delays.reduce((sum, delay) => sum + delay, 0) > days * DAY_MS ? undefined : delays.at(-1);
};

interface Tried {
  readonly status: number;
  readonly at: number;
  readonly retryIn: number | undefined;
}

const record = (store: Store, { seq }: OutboxDelivery, { status, at, retryIn }: Tried): void => {
  const delivered = status >= 200 && status < 300;
  const state = delivered ? 'delivered' : retryIn === undefined ? 'given_up' : 'pending';
  store.run(
    'UPDATE outbox SET state = ?, due_at = ?, attempts = attempts + 1, last_status = ? WHERE seq = ?',
    state,
    at + (retryIn ?? 0),
    status,
    seq,
  );
};

const inOrder = (deliveries: readonly OutboxDelivery[], seed: number): readonly OutboxDelivery[] =>
  deliveries.some((delivery) => delivery.manner === 'reorder')
    ? shuffled(deliveries, seed, (delivery) => delivery.seq)
    : deliveries;

/** Runs the tasks of one lane in sequence and lanes in parallel, up to `atOnce` at a time. */
const lanes = (atOnce: number) => {
  const tails = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let running = 0;
  const enter = async (): Promise<void> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
  return (name: string, task: () => Promise<void>): void => {
    const tail = (tails.get(name) ?? Promise.resolve()).then(async () => {
      await enter();
      await task().finally(leave);
    });
    const done = tail.finally(() => {
      if (tails.get(name) === done) tails.delete(name);
    });
    tails.set(name, done);
  };
};
