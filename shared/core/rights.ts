/** @module The rights, queues and memory sizes that functions declare. Each host grants only the declared rights. */

import { type PaymentSlot, PROVIDER_SLOTS, type ProviderSlot } from './settings.ts';

/** The queues of the service. Rights, triggers and hosts use the same names. */
export type QueueName = 'apply-provider-event' | 'follow-payment' | 'run-due' | 'webhook-dispatch' | 'webhook-delivery';

/**
 * A right of a function. `table:put` covers puts and updates of all items except service keys, which need `table:keys`.
 * `table:receive` covers puts of received events and their log, `table:count` updates of rate windows and of the last
 * use of a service key. `secrets:provider_a` covers only that slot's keys, and `signatures:provider_a` only the secrets
 * to verify that provider's events.
 */
export type Right =
  | TableRight
  | KeyedRight
  | 'events:put'
  | `secrets:${ProviderSlot}`
  | `signatures:${PaymentSlot}`
  | 'secrets:guest-tokens'
  | 'secrets:ids'
  | 'secrets:webhooks'
  | `queue:send:${QueueName}`
  | 'queue:depth:run-due';

type TableRight = 'table:read' | 'table:put' | 'table:delete' | 'table:scan';

/**
 * A transaction needs the action of each step. Only an erasure may scan, because no index lists all copies of a
 * person's data.
 */
export const TABLE_ACTIONS: Readonly<Record<TableRight, readonly string[]>> = {
  'table:read': ['dynamodb:BatchGetItem', 'dynamodb:ConditionCheckItem', 'dynamodb:GetItem', 'dynamodb:Query'],
  'table:put': ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
  'table:delete': ['dynamodb:DeleteItem'],
  'table:scan': ['dynamodb:Scan'],
};

export type KeyedRight = 'table:count' | 'table:receive' | 'table:keys';

interface KeyedActions {
  readonly actions: readonly string[];
  /** Patterns of partition keys, each a prefix and `*`. */
  readonly keys: readonly string[];
}

/** The rights that cover only items with these partition keys. */
export const KEYED_ACTIONS: Readonly<Record<KeyedRight, KeyedActions>> = {
  'table:count': { actions: ['dynamodb:UpdateItem'], keys: ['RATE#*', 'KEYUSE#*'] },
  'table:receive': { actions: ['dynamodb:PutItem'], keys: ['EVT#*', 'LOG#*'] },
  'table:keys': { actions: ['dynamodb:PutItem'], keys: ['KEY#*'] },
};

export const isKeyedRight = (right: Right): right is KeyedRight => Object.hasOwn(KEYED_ACTIONS, right);

/** These actions on service keys are denied to every function without `table:keys`, despite its other rights. */
export const DENIED_ON_KEYS: KeyedActions = {
  actions: ['dynamodb:BatchWriteItem', 'dynamodb:DeleteItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
  keys: KEYED_ACTIONS['table:keys'].keys,
};

/** The keys of the slots that take payments. The slot `provider_d` is for customers only and has no webhooks. */
export const PAYMENT_SECRETS = ['secrets:provider_a', 'secrets:provider_b', 'secrets:provider_c'] as const;
export const CUSTOMER_SECRETS = [...PAYMENT_SECRETS, 'secrets:provider_d'] as const;

/** The slots opened by a function with these rights, to call the provider or verify its events. */
export const slotsOpenedBy = (rights: readonly Right[]): readonly ProviderSlot[] =>
  PROVIDER_SLOTS.filter((slot) =>
    rights.some((right) => right === `secrets:${slot}` || right === `signatures:${slot}`),
  );

/** True if the function may call a provider. Verifying an event may need a call, too. */
export const callsProviders = (rights: readonly Right[]): boolean => slotsOpenedBy(rights).length > 0;

/**
 * Function memory in MB. Lambda's processor share is proportional to memory, with a whole processor at 1,769 MB. The
 * measured processor times are in docs/performance.md ("Processor time", "Memory").
 */
export const MEMORY_MB = {
  /** No person waits for a response. At 14 % of a processor, a function with Stripe's SDK (30 ms) loads in 0.2 s. */
  background: 256,
  /**
   * A person waits for a response. At 29 %, a function (22 ms) loads in 0.08 s, and a warm read (0.3 ms) takes 1 ms.
   */
  request: 512,
  /**
   * A payer waits for a charge. At 58 %, a function with the SDK loads in 0.05 s, and a warm create (2 ms) takes 4 ms.
   */
  payment: 1_024,
} as const;

export type MemoryMb = (typeof MEMORY_MB)[keyof typeof MEMORY_MB];
