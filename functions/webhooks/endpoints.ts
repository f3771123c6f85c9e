/**
 * @module The HTTP endpoints for webhooks. Each provider slot has an endpoint for inbound events. The other endpoints
 * serve the log, test events and replays.
 */

import * as z from 'zod';
import { subjectOf } from '../../shared/access/caller.ts';
import { MEMORY_MB } from '../../shared/core/rights.ts';
import { PROVIDER_SLOTS } from '../../shared/core/settings.ts';
import { LOG_STATUSES } from '../../shared/event-log/log-entry.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { boundedObject, boundedText, idSchema, jsonValue } from '../../shared/http/fields.ts';
import { offsetQuery } from '../../shared/http/paging.ts';
import { logView } from '../../shared/webhooks/read-logs.ts';

const MINUTE_SECONDS = 60;
const TEST_DATA_BOUNDS = { keys: 100, bytes: 64 * 1024 };
const none = z.object({});
const logId = z.object({ id: idSchema.describe('Id of the log entry, `log_…`.') });

const receivedSchema = z
  .object({
    received: z.literal(true).describe('Always true.'),
    event_id: z.string().optional().describe("The provider's id of the event; absent if it has none."),
    duplicate: z
      .literal(true)
      .optional()
      .describe('Present if the event had arrived before; it has no further effect.'),
    ignored: z.literal(true).optional().describe('Present if the service does not use events of this type.'),
  })
  .meta({ id: 'ReceivedEvent', description: 'The response that makes a provider stop sending this event.' });

const inbound = (slot: 'a' | 'b' | 'c') =>
  endpoint(() => ({
    id: `webhooks.provider-${slot}`,
    method: 'POST',
    path: `/webhooks/provider_${slot}`,
    summary: `Receive an event of provider_${slot}`,
    description: `The address to register at the provider; you never call it. The provider signs each event, and a wrong signature gets 401. The
      event is stored and acknowledged immediately, and applied later. The result is the same in any order and for any number of deliveries.
      A type that the service does not use gets 200 with \`ignored\`.

      Besides the provider's own format the route accepts \`{id, type, provider, data: {object}, created}\`, signed as the provider signs.
      Such an event updates a subscription, unless the service bills the subscription.`,
    auth: 'provider-signature',
    params: none,
    query: none,
    body: z.unknown().meta({ description: "The provider's own event, byte for byte as the provider signed it." }),
    bodyForm: 'raw',
    response: () => receivedSchema,
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
    uses: ['table:receive', 'table:count', `signatures:provider_${slot}`],
    memoryMb: MEMORY_MB.background,
  }));

export const providerAWebhookEndpoint = /* @__PURE__ */ inbound('a');
export const providerBWebhookEndpoint = /* @__PURE__ */ inbound('b');
export const providerCWebhookEndpoint = /* @__PURE__ */ inbound('c');

export const listWebhookLogsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'webhooks.list-logs',
  method: 'GET',
  path: '/webhooks/logs',
  summary: 'List received events and sent webhooks, newest first',
  description: `Lists the events of providers and the deliveries to your targets, one entry per attempt. With an organization in the session it
    shows the organization's entries, else the caller's own; the merchant sees all. For payloads over 16 KB only the size is shown; read the
    entry for the whole payload.`,
  auth: 'session',
  params: none,
  query: z.object({
    ...offsetQuery,
    provider: z.enum(PROVIDER_SLOTS).optional().describe('Only entries about this provider slot.'),
    event_type: boundedText(200)
      .min(1)
      .optional()
      .meta({ description: 'Only entries of this event.', examples: ['payment.succeeded'] }),
    status: z.enum(LOG_STATUSES).optional().describe('Only attempts with this result: succeeded or failed.'),
  }),
  body: null,
  response: () => z.array(logView),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'ORGANIZATION_ACCESS_DENIED', 'RESOURCE_NOT_FOUND'],
  uses: ['table:read'],
}));

export const getWebhookLogEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'webhooks.get-log',
  method: 'GET',
  path: '/webhooks/logs/{id}',
  summary: 'Show one log entry with its payload and response',
  description: `Shows one attempt with its payload and outcome. The merchant sees a provider's event as received, and the target's
    response. Secrets, card numbers and tokens are left out.`,
  auth: 'session',
  params: logId,
  query: none,
  body: null,
  response: () => logView,
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND'],
  uses: ['table:read'],
}));

const sent = z.object({
  event_id: z.string().describe('The id of the event, `msg_…`, as in the header `webhook-id`.'),
  event: z.string().meta({
    description: 'The canonical name, or a slot and the name that the provider gave it.',
    examples: ['payment.succeeded'],
  }),
});
const senderErrors = ['VALIDATION_ERROR', 'INSUFFICIENT_PERMISSIONS', 'ORGANIZATION_ACCESS_DENIED'] as const;

export const sendWebhookTestEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'webhooks.send-test',
  method: 'POST',
  path: '/webhooks/test',
  summary: 'Send a test event to every target that subscribes to it',
  description: `Sends a sample of an event to every target that subscribes to it: one attempt each, without retries. The
    response has the result of each target. The event is marked by \`test: true\` in its body and by the header \`webhook-test: true\`.

    Owners and admins of the session's organization and the merchant may send. The error 400 \`UNKNOWN_EVENT\` lists the event names.`,
  auth: 'session',
  alsoPlatformAdmins: true,
  params: none,
  query: none,
  body: z
    .object({
      event: boundedText(200)
        .min(1)
        .meta({
          description:
            "A canonical name, or a provider's event type, sent to raw nodes as `<provider>:<type>`. A type may start with a slot, as in `provider_b:invoice.payment_failed`, else it is a type of `provider_a`. A name that is both, such as `customer.created`, means the canonical event.",
          examples: ['payment.succeeded'],
        }),
      test_data: boundedObject(TEST_DATA_BOUNDS, z.record(boundedText(200), jsonValue))
        .default({})
        .describe(
          'Values for the sample: `amount`, `currency`, `status` and `reason`; the merchant may send any field. Other fields are left out.',
        ),
    })
    .meta({ id: 'SendTestEvent', description: 'The event to send, and values for its sample.' }),
  response: () =>
    sent
      .extend({
        targets: z
          .array(
            z
              .object({
                node: z
                  .string()
                  .meta({ description: 'The name of the target in the settings.', examples: ['WEBHOOK_1'] }),
                host: z.string().describe("The host of the target's address."),
                matched: z.boolean().describe('True if the target subscribes to the event.'),
                status: z
                  .enum(['success', 'failed', 'skipped'])
                  .describe('The result of the attempt; `skipped` if the target does not subscribe.'),
                http_status: z
                  .int()
                  .optional()
                  .describe("The target's HTTP status; absent if the target did not respond."),
              })
              .meta({ id: 'TestDelivery', description: 'The result of a test event at one target.' }),
          )
          .describe('Every configured target.'),
      })
      .meta({ id: 'SentTestEvent', description: 'The test event, and its result at each target.' }),
  status: 200,
  form: 'envelope',
  errors: [...senderErrors, 'UNKNOWN_EVENT', 'RESOURCE_NOT_FOUND', 'RATE_LIMITED'],
  idempotent: 'stored',
  limits: [{ name: 'webhook-test', max: 10, windowSeconds: MINUTE_SECONDS, by: ({ caller }) => subjectOf(caller) }],
  uses: ['table:read', 'table:put', 'secrets:webhooks'],
  timeoutSeconds: 29,
}));

export const replayWebhookLogEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'webhooks.replay-log',
  method: 'POST',
  path: '/webhooks/logs/{id}/replay',
  summary: 'Send the event of a log entry to its target again',
  description: `Queues the same event once more for the same target: the same id and body, a new signature, and the retries of a new event. A
    receiver that stores processed ids applies each event once.

    Owners and admins of the session's organization, for its deliveries, and the merchant may send again. Only deliveries can be sent
    again, for 30 days, and no test events; anything else gets 409 \`INVALID_STATE\`.`,
  auth: 'session',
  alsoPlatformAdmins: true,
  params: logId,
  query: none,
  body: none,
  response: () =>
    sent
      .extend({
        target: z.string().meta({ description: 'The target that gets the event.', examples: ['WEBHOOK_1'] }),
        status: z.literal('queued').describe('The event is in the queue; the log shows the attempt.'),
      })
      .meta({ id: 'ReplayedEvent', description: 'The event that is sent again.' }),
  status: 200,
  form: 'envelope',
  errors: [...senderErrors, 'RESOURCE_NOT_FOUND', 'INVALID_STATE', 'RATE_LIMITED'],
  idempotent: 'stored',
  limits: [{ name: 'webhook-replay', max: 60, windowSeconds: MINUTE_SECONDS, by: ({ caller }) => subjectOf(caller) }],
  uses: ['table:read', 'table:put', 'queue:send:webhook-delivery'],
}));

export const webhookEndpoints = [
  listWebhookLogsEndpoint,
  getWebhookLogEndpoint,
  sendWebhookTestEndpoint,
  replayWebhookLogEndpoint,
  providerAWebhookEndpoint,
  providerBWebhookEndpoint,
  providerCWebhookEndpoint,
];
