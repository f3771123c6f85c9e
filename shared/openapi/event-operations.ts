/** @module The events sent to targets, as the `webhooks` section of the API document. */

import * as z from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { optionalText } from '../http/fields.ts';
import { CANONICAL_EVENTS, type CanonicalEvent } from '../platform/bus-event.ts';
import { SAMPLES } from '../webhooks/event-samples.ts';
import { EVENTS, eventBody } from './event-bodies.ts';
import { WEBHOOKS_GROUP } from './groups.ts';

const headers = z.object({
  'webhook-id': z.string().meta({
    description: 'Id of the event, `msg_…`, the same for every target, retry and replay. Apply each id once.',
    examples: ['msg_842eabd54743348afd297711'],
  }),
  'webhook-timestamp': z.string().meta({
    description:
      'When this attempt was made, in seconds since 1970. Refuse an event whose time is more than five minutes off.',
    examples: ['1795215858'],
  }),
  'webhook-signature': optionalText.meta({
    description: `The signatures over id, time and raw body in the Standard Webhooks scheme, \`v1,…\`: one per secret, separated by spaces.
      Absent for a target without a secret.`,
    examples: ['v1,qdrn2m4xPMxRJfq2Tbn1Q3zj9rl0ZuD4vdHltXuM+gc='],
  }),
  'webhook-event': z.string().describe('The name of the event, as `event` in the body.'),
  'webhook-test': z
    .literal('true')
    .optional()
    .describe('Marks a test event of `POST /webhooks/test`. Do not act on it.'),
  traceparent: z.string().meta({
    description:
      'The W3C trace context: the trace of the request that caused the event, else a new trace. It is not signed.',
    examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  }),
});

const responses = {
  '2XX': {
    description:
      'The event was received. Respond within the time-out, 10 s by default, and process the event afterwards.',
  },
  '410': { description: 'The target no longer accepts this event, so the event is not delivered again.' },
  '4XX': {
    description:
      'The event was not received. The service retries after 5, 10 and 20 s, unless the operator sets other times.',
  },
};

const SAMPLE_TIME = '2026-11-02T09:30:40.000Z';

const operationOf = (event: CanonicalEvent) => ({
  operationId: event,
  summary: EVENTS[event].summary,
  description: EVENTS[event].when,
  tags: [WEBHOOKS_GROUP],
  security: [],
  requestParams: { header: headers },
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: eventBody(event, EVENTS[event]),
        example: { event, provider: 'provider_a', timestamp: SAMPLE_TIME, data: SAMPLES[event] },
      },
    },
  },
  responses,
});

export const eventOperations: ZodOpenApiPathsObject = Object.fromEntries(
  CANONICAL_EVENTS.map((event) => [event, { post: operationOf(event) }]),
);
