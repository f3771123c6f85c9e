/**
 * @module The streams, queues and schedules that trigger the worker functions, with the rights and limits of each.
 * Every host creates its workers from this list.
 */

import { CUSTOMER_SECRETS, MEMORY_MB, PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { keysOf } from '../../shared/core/rows.ts';
import type { CanonicalEvent } from '../../shared/platform/bus-event.ts';
import type { Trigger } from '../../shared/platform/trigger.ts';
import { PROJECTIONS } from '../../shared/workers/project-changes.ts';
import { EVENTS_OF } from '../../shared/workers/publish-changes.ts';

export const workerTriggers = [
  {
    id: 'workers.publish-changes',
    kind: 'stream',
    summary: 'Turns stored changes into events on the bus',
    sortKeys: keysOf(EVENTS_OF),
    batchSize: 100,
    batchesAtOnce: 4,
    uses: ['table:read', 'events:put'],
    timeoutSeconds: 60,
    memoryMb: MEMORY_MB.request,
    impact: 'Changes of payments are not published, so no webhook is sent and no provider event is applied.',
  },
  {
    id: 'workers.project-changes',
    kind: 'stream',
    summary: 'Keeps histories, counters, uses of codes, and the lists of all records',
    sortKeys: keysOf(PROJECTIONS),
    removalsOf: ['PAY', 'SUB', 'CUS'],
    batchSize: 100,
    batchesAtOnce: 4,
    // Usually puts a call's claim and outcome in one batch, so counters, sums and the list entry are written once.
    gatherSeconds: 1,
    uses: ['table:read', 'table:put', 'table:delete'],
    timeoutSeconds: 60,
    memoryMb: MEMORY_MB.request,
    impact: 'Totals, histories, and the lists and search of platform admins are out of date.',
  },
  {
    id: 'workers.apply-provider-event',
    kind: 'queue',
    summary: 'Applies a stored provider event to its record',
    queue: 'apply-provider-event',
    rules: [{ name: 'provider-events', pattern: { source: ['payments.providers'] } }],
    batchSize: 1,
    maxConcurrency: 20,
    visibilitySeconds: 180,
    maxReceives: 10,
    uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:ids'],
    timeoutSeconds: 30,
    memoryMb: MEMORY_MB.background,
    impact: 'Payments settled at the provider are not shown as settled here.',
  },
  {
    id: 'workers.follow-payment',
    kind: 'queue',
    summary: 'Updates a subscription after a change of its payment',
    queue: 'follow-payment',
    rules: [
      {
        name: 'subscription-payments',
        pattern: {
          source: ['payments'],
          'detail-type': ['payment.succeeded', 'payment.failed'] satisfies readonly CanonicalEvent[],
          detail: { payload: { data: { subscription_id: [{ prefix: 'subs_' }] } } },
        },
      },
    ],
    batchSize: 1,
    maxConcurrency: 10,
    visibilitySeconds: 180,
    maxReceives: 5,
    uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
    timeoutSeconds: 30,
    memoryMb: MEMORY_MB.background,
    impact: 'Subscriptions get the outcome of their payments late, when their own due work runs.',
  },
  {
    id: 'workers.sweep-due',
    kind: 'schedule',
    summary: 'Queues every record with due work',
    everyMinutes: 1,
    uses: ['table:read', 'table:put', 'queue:depth:run-due', 'queue:send:run-due'],
    timeoutSeconds: 55,
    // Sized for the first of the month, when each run leases thousands of records.
    memoryMb: MEMORY_MB.payment,
    impact:
      'Subscriptions are not billed, unknown outcomes of payments are not looked up, client secrets are kept past 24 h.',
  },
  {
    id: 'workers.probe-health',
    kind: 'schedule',
    summary: 'Asks the public address of the stage for its health',
    everyMinutes: 1,
    installedBy: 'HEALTH_CHECK',
    uses: [],
    timeoutSeconds: 20,
    memoryMb: MEMORY_MB.background,
    impact: 'Nothing reports that clients cannot reach the stage, and no payer may be able to pay.',
  },
  {
    id: 'workers.run-due',
    kind: 'queue',
    summary: 'Runs the due work of a record',
    queue: 'run-due',
    rules: [],
    batchSize: 1,
    // Fits the default of RUN_DUE_CONCURRENCY; each host applies the operator's value.
    maxConcurrency: 60,
    visibilitySeconds: 360,
    maxReceives: 5,
    uses: [
      ...(['table:read', 'table:put', 'table:delete', 'table:scan', 'queue:send:webhook-delivery'] as const),
      ...CUSTOMER_SECRETS,
      'secrets:ids',
    ],
    // The function may first wait up to 10 s, until the limit on due work's provider calls admits it.
    timeoutSeconds: 60,
    memoryMb: MEMORY_MB.background,
    impact:
      'Subscriptions are not billed, unknown outcomes of payments are not looked up, client secrets are kept past 24 h.',
  },
  {
    id: 'workers.dispatch-webhooks',
    kind: 'queue',
    summary: 'Queues one delivery of an event per target that subscribes to it',
    queue: 'webhook-dispatch',
    rules: [{ name: 'events-out', pattern: { source: ['payments', 'payments.providers'] } }],
    batchSize: 10,
    maxConcurrency: 20,
    visibilitySeconds: 180,
    maxReceives: 10,
    uses: ['secrets:webhooks', 'queue:send:webhook-delivery'],
    timeoutSeconds: 30,
    memoryMb: MEMORY_MB.background,
    impact: 'Events are not sent to the targets of outbound webhooks.',
  },
  {
    id: 'workers.deliver-webhook',
    kind: 'queue',
    summary: 'Sends one event to one target, signed, and logs the attempt',
    queue: 'webhook-delivery',
    rules: [],
    batchSize: 1,
    maxConcurrency: 100,
    visibilitySeconds: 180,
    // Fits the defaults of EXTERNAL_WEBHOOK_MAX_RETRIES and _TIMEOUT; each host applies the operator's values.
    maxReceives: 4,
    // The target was down during all retries. The target's operator knows this, or a later alarm reports it.
    deadLettersCanWait: true,
    uses: ['table:read', 'table:put', 'secrets:webhooks', 'queue:send:webhook-delivery'],
    timeoutSeconds: 20,
    memoryMb: MEMORY_MB.background,
    impact: 'Targets of outbound webhooks have missed events; redrive the queue when they respond again.',
  },
] as const satisfies readonly Trigger[];
