import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';

const none = z.object({});

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
    errors: ['INVALID_WEBHOOK_SIGNATURE', 'INVALID_JSON', 'VALIDATION_ERROR', 'ROUTE_NOT_FOUND', 'PAYLOAD_TOO_LARGE'],
    uses: ['table:write', 'secrets:providers'],
    memoryMb: 256,
  });

export const providerA = inbound('a');
export const providerB = inbound('b');
export const providerC = inbound('c');

export const webhookEndpoints = [providerA, providerB, providerC];
