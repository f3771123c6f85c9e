import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord, SQSRecord } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import type { Payment } from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { advancePayment } from '../../shared/payments/payment-versions.ts';
import { openEventBridge, openSqs } from '../../shared/platform/aws-clients.ts';
import { openBus } from '../../shared/platform/bus.ts';
import type { BusEvent } from '../../shared/platform/bus-event.ts';
import { batchConsumer, queueConsumer, streamConsumer } from '../../shared/platform/consumers.ts';
import { openQueues } from '../../shared/platform/queues.ts';
import { type PublishDeps, publishChanges } from '../../shared/workers/publish-changes.ts';
import { logLines } from '../builders/log-lines.ts';
import { NOON, payment } from '../builders/payment.ts';
import { inTime, waitsOf } from '../builders/waits.ts';

const eventBridge = mockClient(EventBridgeClient);
const sqs = mockClient(SQSClient);
const bus = openBus(openEventBridge({ env: {} }), 'the-bus', () => NOON);
const queues = openQueues(openSqs({ env: {} }), { 'run-due': 'https://sqs.example/run-due' });

beforeEach(() => {
  eventBridge.reset();
  sqs.reset();
  // A retry waits for a random time. Here the time is zero.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

const event = (id: string): BusEvent => ({ id, source: 'payments', type: 'payment.created', detail: { id } });
const events = (count: number) => Array.from({ length: count }, (_, index) => event(String(index)));

/** The entry ids of each call. */
const sent = (): readonly (readonly string[])[] =>
  eventBridge
    .commandCalls(PutEventsCommand)
    .map(({ args }) => (args[0].input.Entries ?? []).map(({ Detail }) => JSON.parse(Detail ?? '{}').id));

/** Makes the bus refuse the entries for which `left` returns true. */
const leavesBehind = (left: (id: string, call: number) => boolean): void => {
  let call = 0;
  eventBridge.on(PutEventsCommand).callsFake(({ Entries }) => {
    call += 1;
    return {
      Entries: Entries.map(({ Detail }: { readonly Detail: string }) =>
        left(JSON.parse(Detail).id, call) ? { ErrorCode: 'ThrottlingException' } : { EventId: 'taken' },
      ),
    };
  });
};

describe('the event bus', () => {
  test('receives an event’s source, name, time and detail', async () => {
    leavesBehind(() => false);
    await bus.publish([event('1')]);
    expect(eventBridge.commandCalls(PutEventsCommand)[0]?.args[0].input.Entries).toEqual([
      {
        EventBusName: 'the-bus',
        Source: 'payments',
        DetailType: 'payment.created',
        Detail: '{"id":"1"}',
        Time: new Date(NOON),
      },
    ]);
  });

  test('receives at most ten entries per call, and no call without entries', async () => {
    leavesBehind(() => false);
    expect(await bus.publish([])).toEqual([]);
    expect(await bus.publish(events(23))).toEqual([]);
    expect(sent().map(({ length }) => length)).toEqual([10, 10, 3]);
  });

  test('receives only refused entries again', async () => {
    leavesBehind((id, call) => (id === '1' && call < 2) || (id === '2' && call < 3));
    expect(await bus.publish(events(4))).toEqual([]);
    expect(sent()).toEqual([['0', '1', '2', '3'], ['1', '2'], ['2']]);
  });

  test('receives refused entries at most four times', async () => {
    leavesBehind((id) => id === '2');
    expect(await bus.publish(events(12))).toEqual([event('2')]);
    expect(sent().map(({ length }) => length)).toEqual([10, 2, 1, 1, 1]);
  });

  test('receives refused entries again after growing delays', async () => {
    leavesBehind((id) => id === '2');
    expect(await waitsOf(() => bus.publish(events(3)))).toEqual([500, 1_000, 2_000]);
  });

  test('receives no refused entry again shortly before the function’s timeout', async () => {
    leavesBehind((id) => id === '2');
    expect(await waitsOf(() => inTime(2_000, () => bus.publish(events(3))))).toEqual([500, 1_000]);
    expect(sent()).toHaveLength(3);
  });

  test('causes an error if it cannot be reached', async () => {
    eventBridge.on(PutEventsCommand).rejects(new Error('no route'));
    await expect(bus.publish(events(1))).rejects.toThrow('no route');
  });
});

const change = (sequence: string, before: Payment | undefined, after: Payment): DynamoDBRecord => {
  // The stream's images have the SDK's format.
  const image = (of: Payment) => marshall(paymentItem(of, NOON), { removeUndefinedValues: true }) as never;
  return {
    eventName: before ? 'MODIFY' : 'INSERT',
    dynamodb: { SequenceNumber: sequence, NewImage: image(after), ...(before && { OldImage: image(before) }) },
  };
};

/** A table that holds one address, and lists the keys of each read. */
const addresses = (): { readonly asked: string[][]; readonly table: PublishDeps['table'] } => {
  const asked: string[][] = [];
  const fields = {
    providerId: 'provider_a',
    createdAt: '',
    updatedAt: '',
    version: 1,
    type: 'billing',
    isPartial: true,
  };
  const item = { id: 'addr_1', country: 'US', city: 'Boston', isBusiness: false, userId: 'user_1', ...fields };
  const getMany: PublishDeps['table']['getMany'] = async (keys) => {
    asked.push(keys.map(({ pk }) => pk));
    return keys.map(({ pk }) => (pk === 'ADDR#addr_1' ? { pk, sk: 'ADDR', ...item } : undefined));
  };
  return { asked, table: { getMany } };
};
const noTable: PublishDeps['table'] = {
  getMany: async () => {
    throw new Error('nothing is read for records without an address');
  },
};

const payloadsSent = () =>
  eventBridge
    .commandCalls(PutEventsCommand)
    .flatMap(({ args }) => args[0].input.Entries ?? [])
    .map(({ Detail }) => JSON.parse(Detail ?? '{}').payload);
const addressSent = (): readonly unknown[] => payloadsSent().map(({ data }) => data.billing_address?.city);

describe('the outbox', () => {
  const { log, lines } = logLines();
  const paid = advancePayment(payment(), { to: 'succeeded', now: NOON, cause: 'event' });
  const failing = (id: string): DynamoDBRecord => change(`at ${id}`, undefined, payment({ id }));

  test('publishes the events of each change, in order', async () => {
    leavesBehind(() => false);
    const leased = { ...paid, reconcileAt: 'later' };
    const records = [change('1', undefined, payment()), change('2', payment(), paid), change('3', paid, leased)];
    expect(await publishChanges({ bus, table: noTable, log }, records)).toBeUndefined();
    const { id } = payment();
    expect(sent()).toEqual([[`${id}:1:payment.created`, `${id}:2:payment.succeeded`]]);
  });

  test('reads each address of a batch once, and no address of an erased record', async () => {
    leavesBehind(() => false);
    const { asked, table } = addresses();
    const of = (id: string, fields: Partial<Payment>) => change(id, undefined, { ...payment({ id }), ...fields });
    const records = [
      of('pay_a', { billingAddressId: 'addr_1', status: 'succeeded' }),
      of('pay_b', { billingAddressId: 'addr_1' }),
      of('pay_c', { billingAddressId: 'addr_gone' }),
      of('pay_d', { billingAddressId: 'addr_1', erasedAt: '2026-01-01T00:00:00.000Z' }),
      of('pay_e', {}),
    ];
    await publishChanges({ bus, table, log }, records);
    expect(asked).toEqual([['ADDR#addr_1', 'ADDR#addr_gone']]);
    expect(addressSent()).toEqual(['Boston', 'Boston', 'Boston', undefined, undefined, undefined]);
    const orders = new Set(payloadsSent().map((payload) => Object.keys(payload).join()));
    expect([...orders]).toEqual(['event,provider,timestamp,data']);
  });

  test('continues from the first change whose event was refused', async () => {
    leavesBehind((id) => id.startsWith('pay_b') || id.startsWith('pay_d'));
    const records = ['pay_a', 'pay_b', 'pay_c', 'pay_d'].map(failing);
    expect(await publishChanges({ bus, table: noTable, log }, records)).toBe('at pay_b');
  });

  test('logs each decision of a provider once, and marks a decline', async () => {
    const of = (id: string, fields: Partial<Payment>) =>
      change(`at ${id}`, undefined, { ...payment({ id }), ...fields } as Payment);
    leavesBehind((id) => id.startsWith('pay_d'));
    const records = [
      of('pay_a', { status: 'succeeded' }),
      of('pay_b', { status: 'failed', failureCode: 'do_not_honor' }),
      of('pay_c', { status: 'failed', failureCode: 'processing_error' }),
      of('pay_d', {}),
      of('pay_e', { status: 'succeeded' }),
    ];
    const before = lines.length;
    expect(await publishChanges({ bus, table: noTable, log }, records)).toBe('at pay_d');
    const said = lines.slice(before).map(({ message, fields }) => [message, fields]);
    const settled = (payment_id: string, outcome: string) => [
      'payment settled',
      { payment_id, provider: 'provider_a', outcome },
    ];
    expect(said).toEqual([
      settled('pay_a', 'succeeded'),
      settled('pay_b', 'declined'),
      settled('pay_c', 'failed'),
      ['changes published', { count: 8, failed: 1 }],
    ]);
  });

  test('logs the decline of a withheld payment, which has no event', async () => {
    leavesBehind(() => false);
    const declined = {
      ...payment({ id: 'pay_w' }),
      withheld: true,
      status: 'failed',
      failureCode: 'lost_card',
    } as Payment;
    const start = lines.length;
    expect(
      await publishChanges({ bus, table: noTable, log }, [
        change('1', { ...declined, status: 'processing' }, declined),
      ]),
    ).toBeUndefined();
    expect(lines.slice(start).map(({ message, fields }) => [message, fields])).toEqual([
      ['payment settled', { payment_id: 'pay_w', provider: 'provider_a', outcome: 'declined' }],
      ['changes published', { count: 0, failed: 0 }],
    ]);
  });

  test('publishes nothing for items that are not records or are removed', async () => {
    leavesBehind(() => false);
    const removed = { eventName: 'REMOVE', dynamodb: { SequenceNumber: '1', OldImage: {} } } as const;
    const rate = {
      eventName: 'INSERT',
      dynamodb: { SequenceNumber: '2', NewImage: { pk: { S: 'RATE#x' }, sk: { S: '1' } } },
    } as const;
    expect(await publishChanges({ bus, table: noTable, log }, [removed, rate])).toBeUndefined();
    expect(sent()).toEqual([]);
  });

  test('returns to the first change if the bus cannot be reached', async () => {
    eventBridge.on(PutEventsCommand).rejects(new Error('no route'));
    const handler = streamConsumer('publish-changes', () => ({ bus, table: noTable, log }), publishChanges);
    expect(await handler({ Records: [failing('pay_a'), failing('pay_b')] })).toEqual({
      batchItemFailures: [{ itemIdentifier: 'at pay_a' }],
    });
  });
});

describe('a queue', () => {
  test('receives at most ten messages per call', async () => {
    sqs.on(SendMessageBatchCommand).resolves({});
    await queues.send(
      'run-due',
      Array.from({ length: 12 }, (_, index) => `${index}`),
    );
    await queues.send('run-due', []);
    const sizes = sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input.Entries?.length);
    expect(sizes).toEqual([10, 2]);
  });

  const Failed = [{ Id: '1', SenderFault: false, Code: 'InternalError' }];
  const bodies = () =>
    sqs
      .commandCalls(SendMessageBatchCommand)
      .map(({ args }) => args[0].input.Entries?.map(({ MessageBody }) => MessageBody));

  test('receives only refused messages again', async () => {
    sqs.on(SendMessageBatchCommand).resolvesOnce({ Failed }).resolves({});
    await queues.send('run-due', ['a', 'b']);
    expect(bodies()).toEqual([['a', 'b'], ['b']]);
  });

  test('receives refused messages again after growing delays', async () => {
    sqs.on(SendMessageBatchCommand).resolves({ Failed });
    expect(await waitsOf(() => queues.send('run-due', ['a', 'b']).catch(() => undefined))).toEqual([500, 1_000, 2_000]);
  });

  test('causes an error if it does not accept every message', async () => {
    sqs.on(SendMessageBatchCommand).resolves({ Successful: [], Failed });
    await expect(queues.send('run-due', ['a', 'b'])).rejects.toThrow('did not accept 1 messages');
  });

  test('causes an error without a retry if SQS blames the sender', async () => {
    sqs.on(SendMessageBatchCommand).resolves({ Failed: [{ ...Failed[0], SenderFault: true }] as never });
    await expect(queues.send('run-due', ['a', 'b'])).rejects.toThrow('did not accept 1 messages');
    expect(bodies()).toHaveLength(1);
  });

  test('causes an error that names the queue if it has no URL', async () => {
    await expect(queues.send('apply-provider-event', ['a'])).rejects.toThrow('apply-provider-event');
  });
});

describe('a queue or stream consumer', () => {
  const message = (messageId: string, body: string, receives = 1): SQSRecord => ({
    messageId,
    receiptHandle: `handle of ${messageId}`,
    body,
    attributes: {
      ApproximateReceiveCount: String(receives),
      SentTimestamp: '0',
      SenderId: 'x',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn',
    awsRegion: 'us-east-1',
  });

  test('handles each message separately, so only failed messages return to the queue', async () => {
    const { log, lines } = logLines();
    const seen: unknown[] = [];
    const handler = queueConsumer(
      'run-due',
      () => ({ log, queues }),
      async (_, body, { messageId, count }) => {
        seen.push([body, messageId, count]);
        if (body === 2) throw new Error('CANARY');
        return 'done';
      },
    );
    const Records = [message('a', '1'), message('b', '2', 3), message('c', '{'), message('d', '4')];
    expect(await handler({ Records })).toEqual({
      batchItemFailures: [{ itemIdentifier: 'b' }, { itemIdentifier: 'c' }],
    });
    expect(seen).toEqual([
      [1, 'a', 1],
      [2, 'b', 3],
      [4, 'd', 1],
    ]);
    expect(lines.map(({ level }) => level)).toEqual(['error', 'error']);
    expect(JSON.stringify(lines)).not.toContain('CANARY');
  });

  test('handles the readable messages of a batch together, and returns only unreadable messages unless the handler fails', async () => {
    const { log, lines } = logLines();
    const seen: unknown[] = [];
    let fails = false;
    const handler = batchConsumer('webhook-dispatch', () => ({ log }), {
      read: (body) => z.number().parse(body),
      handle: async (_, messages) => {
        seen.push(messages);
        if (fails) throw new Error('CANARY');
      },
    });
    const Records = [message('a', '1'), message('b', '"CANARY"'), message('c', '{'), message('d', '4')];
    const idsOf = async () =>
      (await handler({ Records })).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    expect(await idsOf()).toEqual(['b', 'c']);
    fails = true;
    expect((await idsOf()).sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(seen).toEqual([
      [1, 4],
      [1, 4],
    ]);
    expect(JSON.stringify(lines)).not.toContain('CANARY');
  });

  test('returns a message to the queue with the delay that its handler requests', async () => {
    sqs.on(ChangeMessageVisibilityCommand).resolves({});
    const { log, lines } = logLines();
    const handler = queueConsumer(
      'run-due',
      () => ({ log, queues }),
      async () => ({ retryAfterSeconds: 300 }),
    );
    expect(await handler({ Records: [message('a', '1')] })).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] });
    expect(sqs.commandCalls(ChangeMessageVisibilityCommand)[0]?.args[0].input).toEqual({
      QueueUrl: 'https://sqs.example/run-due',
      ReceiptHandle: 'handle of a',
      VisibilityTimeout: 300,
    });
    expect(lines).toEqual([]);
  });

  test('stops a stream only at the record that its handler returns', async () => {
    const { log } = logLines();
    const Records = [change('1', undefined, payment()), change('2', undefined, payment())];
    const at = (found: string | undefined) =>
      streamConsumer(
        'x',
        () => ({ log }),
        async () => found,
      )({ Records });
    expect(await at('2')).toEqual({ batchItemFailures: [{ itemIdentifier: '2' }] });
    expect(await at(undefined)).toEqual({ batchItemFailures: [] });
  });
});
