import * as z from 'zod';
import { principalOf } from '../../shared/access/caller.ts';
import { MEMORY_MB } from '../../shared/core/memory.ts';
import { PROVIDER_SLOTS } from '../../shared/core/settings.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema, jsonValue } from '../../shared/http/fields.ts';
import { offsetQuery } from '../../shared/http/paging.ts';
import { logView } from '../../shared/webhooks/logs/read.ts';
import { LOG_STATUSES } from '../../shared/webhooks/record/log-entry.ts';

const MINUTE = 60;
const none = z.object({});
const logId = z.object({ id: idSchema });

const inbound = (slot: 'a' | 'b' | 'c') =>
  endpoint({
    id: `webhooks.provider-${slot}`,
    method: 'POST',
    path: `/webhooks/provider_${slot}`,
    summary: `Take an event of provider_${slot}`,
    auth: 'provider-signature',
    params: none,
    query: none,
    body: z.unknown(),
    bodyForm: 'raw',
    response: z.object({
      received: z.literal(true),
      event_id: z.string().optional(),
      duplicate: z.literal(true).optional(),
      ignored: z.literal(true).optional(),
    }),
    status: 200,
    form: 'bare',
    errors: [
      'INVALID_WEBHOOK_SIGNATURE',
      'INVALID_JSON',
      'VALIDATION_ERROR',
      'ROUTE_NOT_FOUND',
      'PAYLOAD_TOO_LARGE',
      'RATE_LIMITED',
      'PROVIDER_UNAVAILABLE',
      'STORAGE_UNAVAILABLE',
    ],
    uses: ['table:put', `secrets:provider_${slot}`],
    memoryMb: MEMORY_MB.background,
  });

export const providerAWebhookEndpoint = inbound('a');
export const providerBWebhookEndpoint = inbound('b');
export const providerCWebhookEndpoint = inbound('c');

export const listWebhookLogsEndpoint = endpoint({
  id: 'webhooks.list-logs',
  method: 'GET',
  path: '/webhooks/logs',
  summary: 'List what came in and what was sent, newest first',
  auth: 'session',
  params: none,
  query: z.object({
    ...offsetQuery,
    provider: z.enum(PROVIDER_SLOTS).optional(),
    event_type: z.string().min(1).max(200).optional(),
    status: z.enum(LOG_STATUSES).optional(),
  }),
  body: null,
  response: z.array(logView),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'ORGANIZATION_ACCESS_DENIED', 'RESOURCE_NOT_FOUND'],
  uses: ['table:read'],
});

export const getWebhookLogEndpoint = endpoint({
  id: 'webhooks.get-log',
  method: 'GET',
  path: '/webhooks/logs/{id}',
  summary: 'Show one log entry with its payload and response',
  auth: 'session',
  params: logId,
  query: none,
  body: null,
  response: logView,
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND'],
  uses: ['table:read'],
});

const sent = z.object({ event_id: z.string(), event: z.string() });
const senderErrors = ['VALIDATION_ERROR', 'INSUFFICIENT_PERMISSIONS', 'ORGANIZATION_ACCESS_DENIED'] as const;

export const sendWebhookTestEndpoint = endpoint({
  id: 'webhooks.send-test',
  method: 'POST',
  path: '/webhooks/test',
  summary: 'Send a test event to every target that wants it',
  auth: 'session',
  params: none,
  query: none,
  body: z.object({
    event: z.string().min(1).max(200),
    test_data: z.record(z.string(), jsonValue).default({}),
  }),
  response: sent.extend({
    targets: z.array(
      z.object({
        node: z.string(),
        host: z.string(),
        matched: z.boolean(),
        status: z.enum(['success', 'failed', 'skipped']),
        http_status: z.int().optional(),
      }),
    ),
  }),
  status: 200,
  form: 'envelope',
  errors: [...senderErrors, 'UNKNOWN_EVENT', 'RESOURCE_NOT_FOUND', 'RATE_LIMITED'],
  idempotent: 'stored',
  limits: [{ name: 'webhook-test', max: 10, windowSeconds: MINUTE, by: ({ caller }) => principalOf(caller) }],
  uses: ['table:read', 'table:put', 'secrets:webhooks'],
  timeoutSeconds: 29,
});

export const replayWebhookLogEndpoint = endpoint({
  id: 'webhooks.replay-log',
  method: 'POST',
  path: '/webhooks/logs/{id}/replay',
  summary: 'Send the event of a log entry to its target again',
  auth: 'session',
  params: logId,
  query: none,
  body: none,
  response: sent.extend({ target: z.string(), status: z.literal('queued') }),
  status: 200,
  form: 'envelope',
  errors: [...senderErrors, 'RESOURCE_NOT_FOUND', 'INVALID_STATE', 'RATE_LIMITED'],
  idempotent: 'stored',
  limits: [{ name: 'webhook-replay', max: 60, windowSeconds: MINUTE, by: ({ caller }) => principalOf(caller) }],
  uses: ['table:read', 'table:put', 'queue:send:webhook-delivery'],
});

export const webhookEndpoints = [
  providerAWebhookEndpoint,
  providerBWebhookEndpoint,
  providerCWebhookEndpoint,
  listWebhookLogsEndpoint,
  getWebhookLogEndpoint,
  sendWebhookTestEndpoint,
  replayWebhookLogEndpoint,
];
