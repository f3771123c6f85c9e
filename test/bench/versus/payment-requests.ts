/** @module The requests for both sides. Each write has its own Idempotency-Key. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { gatewayRequest } from '../gateway-request.ts';
import type { Measured } from './reference-functions.ts';

const NEW = {
  ...{ total_cents: 2500, currency: 'USD', payment_method_id: 'pm_card_visa', description: 'Two tickets' },
  metadata: { seat: '12', row: 'F' },
};

export const REQUESTS = {
  create: () => gatewayRequest('POST /payments/intents', { body: NEW, idempotencyKey: randomUUID() }),
  get: (id: string) => gatewayRequest('GET /payments/{id}', { pathParameters: { id } }),
  confirm: (id: string) =>
    gatewayRequest('POST /payments/confirm/{id}', { pathParameters: { id }, body: {}, idempotencyKey: randomUUID() }),
} as const satisfies Readonly<Record<Measured, (id: string) => object>>;

export const STATUSES: Readonly<Record<Measured, number>> = { get: 200, create: 201, confirm: 200 };

const createdSchema = z.object({ id: z.string() });
export const createdId = (body: unknown): string => createdSchema.parse(JSON.parse(String(body))).id;
