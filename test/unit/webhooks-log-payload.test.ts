/** @module The packed payload of a log entry. */
import { describe, expect, test } from 'vitest';
import { type LogEntry, logItem, logRecordOf } from '../../shared/event-log/log-entry.ts';
import { packedPayload, payloadOf } from '../../shared/event-log/packed-payload.ts';
import { NOON } from '../builders/payment.ts';

const PAYLOADS: readonly unknown[] = [
  {},
  null,
  'plain text',
  [1, -2.5, true, null, { a: { b: [] } }],
  { event: 'payment.created', data: { payment_id: 'pay_1', name: 'Zoë 💳', empty: '' } },
  { long: 'x'.repeat(100_000) },
];

/** The stored form of 2026-11-29. */
const STORED = 'ASOn54uzbWiohCOY0HxeWwsA';
const STORED_PAYLOAD = {
  event: 'payment.created',
  provider: 'provider_a',
  data: { payment_id: 'pay_1', status: 'succeeded', livemode: false },
};

describe('the payload of a log entry', () => {
  test.each(PAYLOADS)('is unchanged after it is written and read: %j', (payload) => {
    expect(payloadOf(packedPayload(payload))).toEqual(payload);
  });

  test('is read from bytes that an earlier deployment stored, so its dictionary may never change', () => {
    expect(payloadOf(Uint8Array.from(Buffer.from(STORED, 'base64')))).toEqual(STORED_PAYLOAD);
  });

  test('is read from attributes, as version 0.2.0 stored it', () => {
    expect(payloadOf({ id: 'evt_1' })).toEqual({ id: 'evt_1' });
  });

  test('is refused if another dictionary packed it', () => {
    const bytes = packedPayload({ id: 'evt_1' });
    bytes[0] = 2;
    expect(() => payloadOf(bytes)).toThrow('no dictionary 2');
  });

  test('is redacted before it is packed', () => {
    const entry: LogEntry = {
      provider: 'provider_a',
      eventType: 'charge.succeeded',
      eventId: 'evt_1',
      status: 'success',
      direction: 'inbound',
      attempt: 1,
      response: {},
      createdAt: new Date(NOON).toISOString(),
      payload: { id: 'evt_1', client_secret: 'canary', email: 'ada@example.com' },
    };
    expect(logRecordOf(logItem(entry)).payload).toEqual({
      id: 'evt_1',
      client_secret: '[redacted]',
      email: 'a***@example.com',
    });
  });
});
