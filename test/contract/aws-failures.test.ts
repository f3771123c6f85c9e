/** @module Tests the service's calls while AWS refuses, throttles, fails, drops connections or does not respond. */
import { hash } from 'node:crypto';
import { Socket } from 'node:net';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Environment } from '../../shared/core/setting.ts';
import { openDocumentClient, openEventBridge, openSecretsManager, openSqs } from '../../shared/platform/aws-clients.ts';
import { openBus } from '../../shared/platform/bus.ts';
import { connectDynamo } from '../../shared/platform/dynamo-table.ts';
import { openQueues } from '../../shared/platform/queues.ts';
import { openTable } from '../../shared/platform/table.ts';
import { NOON } from '../builders/payment.ts';
import { type StubReply, withAwsStub } from './aws-stub.ts';

const stub = withAwsStub();

const environment = (): Environment => ({
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'key_1',
  AWS_SECRET_ACCESS_KEY: 'example-secret',
  ...Object.fromEntries(
    ['DYNAMODB', 'SQS', 'EVENTBRIDGE', 'SECRETS_MANAGER'].map((name) => [`AWS_ENDPOINT_URL_${name}`, stub.endpoint()]),
  ),
});

const TABLE = 'records';
const KEY = { pk: 'PAY#1', sk: 'PAY' };
const refused = (type: string, more: object = {}, status = 400): StubReply => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'no', ...more },
});
const PAGE = '<html>a page of a load balancer</html>';

const openConnection = () => connectDynamo(openDocumentClient({ env: environment() }), TABLE, () => NOON);
const openServices = () => {
  const site = { env: environment() };
  const secrets = openSecretsManager(site);
  const bus = openBus(openEventBridge(site), 'the-bus', () => NOON);
  const queues = openQueues(openSqs(site), { 'run-due': `${stub.endpoint()}/000000000000/run-due` });
  return {
    publish: () => bus.publish([{ id: '1', source: 'payments', type: 'payment.created', detail: {} }]),
    send: () => queues.send('run-due', ['a', 'b']),
    defer: () => queues.retryAfter('run-due', 'receipt', 300),
    depth: () => queues.depth('run-due'),
    readSecret: async () => (await secrets.send(new GetSecretValueCommand({ SecretId: 'arn:a' }))).SecretString,
  };
};

const md5 = (text: string): string => hash('md5', text);

const ONCE = 1;
const ATTEMPTS = 4;

/** The timeouts of silent connections, in ms. */
const timeouts = new Set<number>();

/** Retries have no delay, and a silent connection times out immediately. */
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const waiting = new Set<Socket>();
  vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function (this: Socket, ms, onTimeout) {
    if (ms === 0 || onTimeout === undefined) return this;
    timeouts.add(ms);
    waiting.add(this);
    return this.on('timeout', onTimeout);
  });
  stub.onSilence(() => {
    for (const socket of waiting) socket.emit('timeout');
  });
});

describe('a call to DynamoDB', () => {
  const put = () => openConnection().putItem(KEY, []);

  test.each([
    ['ValidationException', ONCE],
    ['AccessDeniedException', ONCE],
    ['ExpiredTokenException', ONCE],
    ['ProvisionedThroughputExceededException', ATTEMPTS],
    ['ThrottlingException', ATTEMPTS],
    ['TransactionInProgressException', ATTEMPTS],
  ])('throws DynamoDB’s error %s under its own name after %i attempts', async (name, attempts) => {
    stub.answer(refused(name));
    await expect(put()).rejects.toMatchObject({ name, message: 'no' });
    expect(stub.requests).toHaveLength(attempts);
  });

  test.each<readonly [string, StubReply, number]>([
    ['a page with status 413', { status: 413, body: PAGE }, ONCE],
    ['status 429', { status: 429, body: {} }, ATTEMPTS],
    ['InternalServerError', refused('InternalServerError', {}, 500), ATTEMPTS],
    ['a page with status 503', { status: 503, body: PAGE }, ATTEMPTS],
    ['a connection that ends before the response', { broken: 'before' }, ATTEMPTS],
    ['a connection that ends within the response', { broken: 'within' }, ATTEMPTS],
    ['a connection without a response', { broken: 'silent' }, ATTEMPTS],
    ['a response that stops', { broken: 'stalled' }, ATTEMPTS],
  ])('fails if every attempt gets %s, after the number of attempts for this failure', async (_, reply, attempts) => {
    stub.answer(reply);
    await expect(put()).rejects.toThrow();
    expect(stub.requests).toHaveLength(attempts);
  });

  test('fails within 10 s, the shortest function deadline, if every attempt gets no response', async () => {
    timeouts.clear();
    stub.answer({ broken: 'silent' });
    await expect(put()).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(Math.max(...timeouts) * ATTEMPTS).toBeLessThan(10_000);
  });

  test.each<readonly [string, StubReply]>([
    ['throttling', refused('ProvisionedThroughputExceededException')],
    ['status 500', { status: 500, body: PAGE }],
    ['a response that was cut off', { broken: 'within' }],
    ['silence', { broken: 'silent' }],
    ['a response that stopped', { broken: 'stalled' }],
  ])('succeeds at the next attempt after %s', async (_, failure) => {
    stub.answer(failure, { body: { Item: { pk: { S: 'PAY#1' }, cents: { N: '12' } } } });
    expect(await openConnection().getItem(KEY, true)).toEqual({ pk: 'PAY#1', cents: 12 });
    expect(stub.requests).toHaveLength(2);
  });

  test('keeps a transaction’s token across attempts, and uses a new token for the next transaction', async () => {
    const table = openConnection();
    stub.answer({ broken: 'before' }, {}, {});
    await table.transact([{ put: KEY }]);
    await table.transact([{ put: KEY }]);
    const [first, retried, next] = stub.requests.map(({ body }) => body.ClientRequestToken);
    expect(first).toMatch(/^[\da-f-]{36}$/);
    expect(retried).toBe(first);
    expect(next).not.toBe(first);
  });

  test('returns the stored item when a condition fails', async () => {
    stub.answer(refused('ConditionalCheckFailedException', { Item: marshall({ ...KEY, version: 7 }) }));
    const written = await openConnection().putItem(KEY, [{ exists: true }]);
    expect(written).toEqual({ ok: false, found: { ...KEY, version: 7 } });
  });

  test('returns the failed steps of a transaction with the stored items', async () => {
    const Item = { pk: { S: 'PAY#1' }, raw: { B: Buffer.from('bytes').toString('base64') } };
    const CancellationReasons = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item }];
    stub.answer(refused('TransactionCanceledException', { CancellationReasons }));
    const step = { check: KEY, if: [{ exists: true }] } as const;
    const found = [undefined, { pk: 'PAY#1', raw: new Uint8Array(Buffer.from('bytes')) }];
    expect(await openConnection().transact([step, step])).toEqual({ ok: false, failed: [1], found });
  });

  test('omits undefined fields of an item', async () => {
    await openConnection().putItem({ ...KEY, name: undefined, nested: { a: undefined, b: 1 } }, []);
    expect(stub.requests[0]?.body.Item).toEqual(marshall({ ...KEY, nested: { b: 1 } }));
  });

  test.each([
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['an integer that a double cannot hold', 2 ** 53],
    ['an empty set', new Set()],
    ['a Date', new Date(0)],
  ])('refuses to store %s without sending a request', async (_, value) => {
    await expect(openConnection().putItem({ ...KEY, value }, [])).rejects.toThrow();
    expect(stub.requests).toEqual([]);
  });
});

describe('partial success of an AWS call', () => {
  const openPatient = () => openTable(openConnection(), () => NOON);
  const OTHER = { pk: 'PAY#2', sk: 'PAY' };
  const canceled = (...codes: readonly string[]) =>
    refused('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code, Message: 'no' })) });

  test('reads the keys that DynamoDB left unprocessed in a second request', async () => {
    stub.answer(
      {
        body: {
          Responses: { [TABLE]: [marshall({ ...KEY, a: 1 })] },
          UnprocessedKeys: { [TABLE]: { Keys: [marshall(OTHER)], ConsistentRead: true } },
        },
      },
      { body: { Responses: { [TABLE]: [marshall({ ...OTHER, a: 2 })] }, UnprocessedKeys: {} } },
    );
    const read = await openPatient().getMany([KEY, OTHER], { consistent: true });
    expect(read).toEqual([
      { ...KEY, a: 1 },
      { ...OTHER, a: 2 },
    ]);
    const asked = stub.requests.map(({ body }) => body.RequestItems[TABLE]);
    expect(asked).toEqual([
      { Keys: [marshall(KEY), marshall(OTHER)], ConsistentRead: true },
      { Keys: [marshall(OTHER)], ConsistentRead: true },
    ]);
  });

  test.each([
    ['ThrottlingError', ['None', 'ThrottlingError']],
    ['ProvisionedThroughputExceeded', ['ProvisionedThroughputExceeded', 'None']],
  ])('repeats a transaction that %s canceled, under the same token', async (_, codes) => {
    stub.answer(canceled(...codes), {});
    expect(await openPatient().transact([{ put: KEY }, { put: OTHER }])).toEqual({ ok: true });
    const [first, retried] = stub.requests.map(({ body }) => body.ClientRequestToken);
    expect(first).toMatch(/^[\da-f-]{36}$/);
    expect(retried).toBe(first);
  });

  test('does not repeat a transaction after a failed condition or DynamoDB’s refusal', async () => {
    const steps = [{ put: KEY }, { put: OTHER, if: [{ absent: true }] }] as const;
    stub.answer(canceled('ThrottlingError', 'ConditionalCheckFailed'));
    expect(await openPatient().transact(steps)).toMatchObject({ ok: false, failed: [1] });
    expect(stub.requests).toHaveLength(ONCE);
    stub.answer(canceled('ThrottlingError', 'ValidationError'));
    await expect(openPatient().transact(steps)).rejects.toMatchObject({ name: 'TransactionCanceledException' });
    expect(stub.requests).toHaveLength(ONCE);
  });

  test('throws the throttling error once a transaction exhausts its attempts', async () => {
    stub.answer(canceled('ThrottlingError'));
    await expect(openPatient().transact([{ put: KEY }])).rejects.toMatchObject({
      name: 'TransactionCanceledException',
    });
    expect(stub.requests).toHaveLength(10);
  });

  test('republishes only the refused entries of PutEvents', async () => {
    const throttled = { ErrorCode: 'ThrottlingException', ErrorMessage: 'Rate exceeded' };
    stub.answer(
      { body: { FailedEntryCount: 1, Entries: [throttled] } },
      { body: { FailedEntryCount: 0, Entries: [{ EventId: 'e' }] } },
    );
    expect(await openServices().publish()).toEqual([]);
    expect(stub.requests.map(({ body }) => body.Entries.length)).toEqual([1, 1]);
  });

  test('resends only the refused messages of SendMessageBatch', async () => {
    const accepted = (Id: string, body: string) => ({ Id, MessageId: Id, MD5OfMessageBody: md5(body) });
    stub.answer(
      {
        body: {
          Successful: [accepted('0', 'a')],
          Failed: [{ Id: '1', SenderFault: false, Code: 'RequestThrottled', Message: 'no' }],
        },
      },
      { body: { Successful: [accepted('1', 'b')] } },
    );
    await openServices().send();
    expect(
      stub.requests.map(({ body }) => body.Entries.map(({ MessageBody }: { MessageBody: string }) => MessageBody)),
    ).toEqual([['a', 'b'], ['b']]);
  });
});

describe('a call to another service', () => {
  test.each(['publish', 'send', 'defer', 'depth', 'readSecret'] as const)(
    'fails after four throttled attempts: %s',
    async (call) => {
      stub.answer({ status: 400, body: { __type: 'ThrottlingException', message: 'no' } });
      await expect(openServices()[call]()).rejects.toMatchObject({ name: 'ThrottlingException' });
      expect(stub.requests).toHaveLength(ATTEMPTS);
    },
  );

  test('publishes an event at the attempt after a failure', async () => {
    stub.answer({ status: 500, body: PAGE }, { body: { FailedEntryCount: 0, Entries: [{ EventId: 'e' }] } });
    expect(await openServices().publish()).toEqual([]);
    expect(stub.requests.map(({ headers }) => headers['x-amz-target'])).toEqual([
      'AWSEvents.PutEvents',
      'AWSEvents.PutEvents',
    ]);
  });

  test('throws if the checksum that SQS returns does not match the message body', async () => {
    stub.answer({ body: { Successful: [{ Id: '0', MD5OfMessageBody: 'of another' }] } });
    await expect(openServices().send()).rejects.toThrow();
  });

  test('reads a secret', async () => {
    stub.answer({ body: { SecretString: '{"API_KEY":"sk_test"}' } });
    expect(await openServices().readSecret()).toBe('{"API_KEY":"sk_test"}');
  });
});
