import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { marshall } from '@aws-sdk/util-dynamodb';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Environment } from '../../shared/core/setting.ts';
import { awsSignedHeaders } from '../../shared/platform/aws-signature.ts';
import type { DynamoOperations } from '../../shared/platform/dynamo-operations.ts';
import { connectDynamo } from '../../shared/platform/dynamo-table.ts';
import { sdkDynamo, sdkPutEvents, sdkQueues, sdkReadSecret } from '../../shared/platform/sdk-clients.ts';
import { sdkOperations } from '../../shared/platform/sdk-operations.ts';
import { thinDynamo, thinPutEvents, thinQueues, thinReadSecret } from '../../shared/platform/thin-clients.ts';
import { NOON } from '../builders/payment.ts';
import { refusalIn } from '../builders/refusal.ts';
import { type StubReply, withAwsStub } from './aws-stub.ts';

/** Both clients of AWS keep one contract: what they send, what they retry, and what they throw. */
const stub = withAwsStub();

const environment = (): Environment => ({
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'key_1',
  AWS_SECRET_ACCESS_KEY: 'example-secret',
  ...Object.fromEntries(
    ['DYNAMODB', 'SQS', 'EVENTBRIDGE', 'SECRETS_MANAGER'].map((name) => [`AWS_ENDPOINT_URL_${name}`, stub.endpoint()]),
  ),
});

const CLIENTS = {
  sdk: {
    dynamo: sdkDynamo,
    putEvents: sdkPutEvents,
    queues: sdkQueues,
    readSecret: sdkReadSecret,
  },
  thin: {
    dynamo: (env: Environment) => thinDynamo({ env }),
    putEvents: (env: Environment) => thinPutEvents({ env }),
    queues: (env: Environment) => thinQueues({ env }),
    readSecret: (env: Environment) => thinReadSecret({ env }),
  },
} as const;
const NAMES = ['sdk', 'thin'] as const;

const TABLE = 'records';
const KEY = { pk: 'PAY#1', sk: 'PAY' };
const refused = (type: string, more: object = {}, status = 400): StubReply => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'no', ...more },
});
const PAGE = '<html>an answer of a load balancer</html>';

const put = (dynamo: DynamoOperations) => dynamo.put({ TableName: TABLE, Item: KEY });
const thrownBy = async (call: Promise<unknown>): Promise<Error> => {
  const error = await call.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  );
  return error instanceof Error ? error : new Error(String(error));
};

const HOUR_MS = 3_600_000;
/** The time that a request is signed with, epoch ms. */
const sentAt = (headers: IncomingHttpHeaders): number =>
  Date.parse(String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)(..)/, '$1-$2-$3:$4:$5'));

/** Retries come without a wait: its bound is random, from zero. */
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

const ONCE = 1;
const DYNAMODB_TRIES = 4;

describe.each(NAMES)('the %s client', (name) => {
  const open = () => CLIENTS[name].dynamo(environment());
  const table = () => connectDynamo(open(), TABLE, () => NOON);

  test.each([
    ['ValidationException', ONCE],
    ['ResourceNotFoundException', ONCE],
    ['ItemCollectionSizeLimitExceededException', ONCE],
    ['ConditionalCheckFailedException', ONCE],
    ['TransactionCanceledException', ONCE],
    ['TransactionConflictException', ONCE],
    ['AccessDeniedException', ONCE],
    ['UnrecognizedClientException', ONCE],
    ['ExpiredTokenException', ONCE],
    ['RequestTimeTooSkewed', ONCE],
    ['InvalidSignatureException', ONCE],
    ['ProvisionedThroughputExceededException', DYNAMODB_TRIES],
    ['ThrottlingException', DYNAMODB_TRIES],
    ['RequestLimitExceeded', DYNAMODB_TRIES],
    ['TransactionInProgressException', DYNAMODB_TRIES],
  ])('throws %s under that name, after %i tries', async (type, tries) => {
    stub.answer(refused(type));
    expect(await thrownBy(put(open()))).toMatchObject({ name: type, message: 'no' });
    expect(stub.requests).toHaveLength(tries);
  });

  test.each<readonly [string, StubReply, number]>([
    ['a page with status 413', { status: 413, body: PAGE }, ONCE],
    ['status 429', { status: 429, body: {} }, DYNAMODB_TRIES],
    ['InternalServerError', refused('InternalServerError', {}, 500), DYNAMODB_TRIES],
    ['a page with status 500', { status: 500, body: PAGE }, DYNAMODB_TRIES],
    ['a page with status 503', { status: 503, body: PAGE }, DYNAMODB_TRIES],
    ['an empty answer with status 503', { status: 503, body: '' }, DYNAMODB_TRIES],
    [
      'a signature that expired',
      refused('InvalidSignatureException', { message: 'Signature expired: x' }),
      DYNAMODB_TRIES,
    ],
    ['a connection that ends before the answer', { broken: 'before' }, DYNAMODB_TRIES],
    ['a connection that ends within the answer', { broken: 'within' }, DYNAMODB_TRIES],
  ])('fails after %s, in the tries of its kind', async (_, reply, tries) => {
    stub.answer(reply);
    expect((await thrownBy(put(open()))).message).not.toBe('nothing was thrown');
    expect(stub.requests).toHaveLength(tries);
  });

  test.each<readonly [string, StubReply]>([
    ['a refusal for lack of capacity', refused('ProvisionedThroughputExceededException')],
    ['status 500', { status: 500, body: PAGE }],
    ['an answer that was cut off', { broken: 'within' }],
  ])('returns the answer that follows %s', async (_, failure) => {
    stub.answer(failure, { body: { Item: { pk: { S: 'PAY#1' }, cents: { N: '12' } } } });
    expect((await open().get({ TableName: TABLE, Key: KEY })).Item).toEqual({ pk: 'PAY#1', cents: 12 });
    expect(stub.requests).toHaveLength(2);
  });

  test('stops retrying where the budget of retries is used up', async () => {
    const dynamo = open();
    stub.answer({ status: 503, body: PAGE });
    for (let calls = 0; calls < 20; calls += 1) await thrownBy(put(dynamo));
    // 20 calls, and the retries that a budget of 500 pays at 14 each.
    expect(stub.requests).toHaveLength(20 + 35);
  });

  test('signs with the time of the service where the clock of this machine is wrong', async () => {
    const date = new Date(Date.now() + HOUR_MS).toUTCString();
    const dynamo = open();
    stub.answer(
      { ...refused('InvalidSignatureException', { message: 'Signature not yet current' }), headers: { date } },
      { headers: { date } },
    );
    await put(dynamo);
    await put(dynamo);
    const isAhead = stub.requests.map(({ headers }) => sentAt(headers) - Date.now() > HOUR_MS / 2);
    expect(isAhead).toEqual([false, true, true]);
  });

  test('sends one token with all tries of a transaction, and another with the next transaction', async () => {
    const dynamo = open();
    const transact = () => dynamo.transact({ TransactItems: [{ Put: { TableName: TABLE, Item: KEY } }] });
    stub.answer({ broken: 'before' }, {}, {});
    await transact();
    await transact();
    const tokens = stub.requests.map(({ body }) => body.ClientRequestToken);
    expect(tokens[0]).toMatch(/^[\da-f-]{36}$/);
    expect(tokens[1]).toBe(tokens[0]);
    expect(tokens[2]).not.toBe(tokens[0]);
  });

  test('returns the stored item where a condition fails', async () => {
    stub.answer(refused('ConditionalCheckFailedException', { Item: marshall({ ...KEY, version: 7 }) }));
    const written = await table().putItem(KEY, [{ exists: true }]);
    expect(written).toEqual({ ok: false, found: { ...KEY, version: 7 } });
  });

  test('returns the failed steps of a transaction with the stored items', async () => {
    const Item = { pk: { S: 'PAY#1' }, raw: { B: Buffer.from('bytes').toString('base64') } };
    const CancellationReasons = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item }];
    stub.answer(refused('TransactionCanceledException', { CancellationReasons }));
    const step = { check: KEY, if: [{ exists: true }] } as const;
    const result = await table().transact([step, step]);
    const found = [undefined, { pk: 'PAY#1', raw: new Uint8Array(Buffer.from('bytes')) }];
    expect(result).toEqual({ ok: false, failed: [1], found });
  });

  test('retries a write that conflicts with a transaction, and reports a version conflict at the end', async () => {
    stub.answer(refused('TransactionConflictException'), {});
    expect(await table().putItem(KEY, [])).toEqual({ ok: true, item: KEY });
    stub.answer(refused('TransactionCanceledException', { CancellationReasons: [{ Code: 'TransactionConflict' }] }));
    const refusal = await refusalIn(table().transact([{ put: KEY }]));
    expect(refusal.code).toBe('VERSION_CONFLICT');
    expect(stub.requests).toHaveLength(6);
  });

  test('requests the unprocessed keys of a batch again', async () => {
    const keys = [KEY, { pk: 'PAY#2', sk: 'PAY' }];
    const [one = {}, other = {}] = keys.map((key) => marshall(key));
    stub.answer(
      { body: { Responses: { [TABLE]: [one] }, UnprocessedKeys: { [TABLE]: { Keys: [other] } } } },
      { body: { Responses: { [TABLE]: [other] }, UnprocessedKeys: {} } },
    );
    expect(await table().getBatch(keys, true)).toEqual(keys);
    expect(stub.requests.map(({ body }) => body.RequestItems[TABLE].Keys)).toEqual([[one, other], [other]]);
  });

  test('sends messages, returns the failed entries, and throws where a body differs', async () => {
    const queues = CLIENTS[name].queues(environment());
    const QueueUrl = `${stub.endpoint()}/000000000000/run-due`;
    const Failed = [{ Id: '1', Code: 'InternalError', SenderFault: false }];
    stub.answer({ body: { Successful: [{ Id: '0', MD5OfMessageBody: '0cc175b9c0f1b6a831c399e269772661' }], Failed } });
    const Entries = [
      { Id: '0', MessageBody: 'a' },
      { Id: '1', MessageBody: 'b', MessageGroupId: 'g' },
    ];
    expect((await queues.sendBatch({ QueueUrl, Entries })).Failed).toEqual(Failed);
    expect(stub.requests[0]?.headers['x-amz-target']).toBe('AmazonSQS.SendMessageBatch');
    expect(stub.requests[0]?.body).toEqual({ QueueUrl, Entries });
    stub.answer({ body: { Successful: [{ Id: '0', MD5OfMessageBody: 'another' }] } });
    await expect(queues.sendBatch({ QueueUrl, Entries })).rejects.toThrow();
  });

  test('changes the visibility of a message', async () => {
    const input = { QueueUrl: `${stub.endpoint()}/000000000000/run-due`, ReceiptHandle: 'r', VisibilityTimeout: 300 };
    await CLIENTS[name].queues(environment()).changeVisibility(input);
    expect(stub.requests[0]?.headers['x-amz-target']).toBe('AmazonSQS.ChangeMessageVisibility');
    expect(stub.requests[0]?.body).toEqual(input);
  });

  test('reads how many messages wait in a queue', async () => {
    const Attributes = { ApproximateNumberOfMessages: '7' };
    stub.answer({ body: { Attributes } });
    const input = {
      QueueUrl: `${stub.endpoint()}/000000000000/run-due`,
      AttributeNames: ['ApproximateNumberOfMessages' as const],
    };
    expect((await CLIENTS[name].queues(environment()).attributes(input)).Attributes).toEqual(Attributes);
    expect(stub.requests[0]?.headers['x-amz-target']).toBe('AmazonSQS.GetQueueAttributes');
    expect(stub.requests[0]?.body).toEqual(input);
  });

  test('publishes events with times in epoch seconds, and returns the failed entries', async () => {
    const Entries = [{ EventId: 'e' }, { ErrorCode: 'InternalFailure', ErrorMessage: 'no' }];
    stub.answer({ status: 500, body: PAGE }, { body: { FailedEntryCount: 1, Entries } });
    const entry = { EventBusName: 'bus', Source: 'payments', DetailType: 'payment.created', Detail: '{}' };
    const answer = await CLIENTS[name].putEvents(environment())({
      Entries: [{ ...entry, Time: new Date(NOON + 312) }],
    });
    expect(answer.Entries).toEqual(Entries);
    expect(stub.requests).toHaveLength(2);
    expect(stub.requests[1]?.headers['x-amz-target']).toBe('AWSEvents.PutEvents');
    expect(stub.requests[1]?.body).toEqual({ Entries: [{ ...entry, Time: NOON / 1_000 + 0.312 }] });
  });

  test('tries a call of the other services three times', async () => {
    const busy = { status: 400, body: { __type: 'ThrottlingException', message: 'no' } };
    const { putEvents, queues, readSecret } = CLIENTS[name];
    const QueueUrl = `${stub.endpoint()}/000000000000/run-due`;
    for (const call of [
      () => putEvents(environment())({ Entries: [] }),
      () => queues(environment()).changeVisibility({ QueueUrl, ReceiptHandle: 'r', VisibilityTimeout: 1 }),
      () => readSecret(environment())('arn:a'),
    ]) {
      stub.answer(busy);
      expect((await thrownBy(call())).name).toBe('ThrottlingException');
      expect(stub.requests).toHaveLength(3);
    }
  });

  test('reads a secret', async () => {
    stub.answer({ body: { SecretString: '{"API_KEY":"sk_test"}' } });
    expect(await CLIENTS[name].readSecret(environment())('arn:a')).toBe('{"API_KEY":"sk_test"}');
    expect(stub.requests[0]?.headers['x-amz-target']).toBe('secretsmanager.GetSecretValue');
    expect(stub.requests[0]?.body).toEqual({ SecretId: 'arn:a' });
  });
});

describe('the thin client alone', () => {
  const env = (): Environment => ({ ...environment(), AWS_SESSION_TOKEN: 'token' });

  test('retries where an answer does not have its checksum', async () => {
    const json = JSON.stringify({ Item: marshall(KEY) });
    const headers = { 'x-amz-crc32': String(crc32(json)) };
    stub.answer({ body: json.replace('PAY#1', 'PAY#2'), headers }, { body: json, headers });
    expect((await thinDynamo({ env: env() }).get({ TableName: TABLE, Key: KEY })).Item).toEqual(KEY);
    stub.answer({ body: json, headers: { 'x-amz-crc32': '1' } });
    const error = await thrownBy(thinDynamo({ env: env() }).get({ TableName: TABLE, Key: KEY }));
    expect([error.name, stub.requests.length]).toEqual(['DamagedAnswer', DYNAMODB_TRIES]);
  });

  test.each(['silent', 'stalled'] as const)('retries where a connection is %s', async (broken) => {
    stub.answer({ broken }, { body: { Item: marshall(KEY) } });
    const dynamo = thinDynamo({ env: env(), timeoutMs: 50 });
    expect((await dynamo.get({ TableName: TABLE, Key: KEY })).Item).toEqual(KEY);
    stub.answer({ broken });
    expect((await thrownBy(put(dynamo))).message).toMatch(/no answer in 50 ms|aborted/);
    expect(stub.requests).toHaveLength(DYNAMODB_TRIES);
  });

  test('sends the session token of temporary credentials, and the newest credentials at each try', async () => {
    const changing = { ...env() };
    const dynamo = thinDynamo({ env: changing });
    stub.answer({});
    await put(dynamo);
    changing['AWS_ACCESS_KEY_ID'] = 'key_2';
    changing['AWS_SESSION_TOKEN'] = 'another';
    await put(dynamo);
    const sent = stub.requests.map(({ headers }) => [
      /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1],
      headers['x-amz-security-token'],
    ]);
    expect(sent).toEqual([
      ['key_1', 'token'],
      ['key_2', 'another'],
    ]);
  });

  test('passes on the trace of the invocation, unsigned', async () => {
    const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793';
    stub.answer({});
    await put(thinDynamo({ env: { ...env(), AWS_LAMBDA_FUNCTION_NAME: 'f', _X_AMZN_TRACE_ID: trace } }));
    const [sent] = stub.requests;
    expect(sent?.headers['x-amzn-trace-id']).toBe(trace);
    expect(sent?.headers.authorization).not.toContain('trace');
  });

  test.each(['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])('throws without %s', async (name) => {
    const error = await thrownBy(put(thinDynamo({ env: { ...env(), [name]: undefined } })));
    expect([error.message, stub.requests.length]).toEqual([`${name} is not set`, 0]);
  });

  test('uses the endpoint of all services where its own is not set', async () => {
    const all = { ...env(), AWS_ENDPOINT_URL_DYNAMODB: undefined, AWS_ENDPOINT_URL: `${stub.endpoint()}/aws` };
    stub.answer({});
    await put(thinDynamo({ env: all }));
    expect(stub.requests[0]?.path).toBe('/aws/');
  });
});

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.uint8Array({ minLength: 1, maxLength: 20 }),
    fc.uniqueArray(text, { minLength: 1, maxLength: 3 }).map((members) => new Set(members)),
    fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 3 }).map((members) => new Set(members)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name(), tie('value'), { maxKeys: 4 }),
  ),
})).value;
/** Names that requests, answers and errors use too. */
function name() {
  const ours = fc.constantFrom('Item', 'Key', 'Keys', 'B', 'BS', 'N', 'S', 'M', 'L', 'NULL', 'name', 'message', 'code');
  return fc.oneof(ours, fc.stringMatching(/^[a-z_.#-]{1,8}$/));
}
const items = fc.dictionary(name(), values, { maxKeys: 5 }).map((item) => ({ ...item, ...KEY }));

describe('the two clients', () => {
  test('send the same JSON for an item, and read the same item', async () => {
    const [sdk, thin] = [CLIENTS.sdk.dynamo(environment()), CLIENTS.thin.dynamo(environment())];
    await fc.assert(
      fc.asyncProperty(items, values, async (item, value) => {
        const condition = { ConditionExpression: '#a = :v', ExpressionAttributeNames: { '#a': 'a' } };
        const input = {
          TableName: TABLE,
          Item: item,
          ...condition,
          ...(value !== undefined && { ExpressionAttributeValues: { ':v': value } }),
        };
        stub.answer({});
        await sdk.put(input);
        await thin.put(input);
        const [first, second] = stub.requests.map(({ body }) => body);
        expect(second).toEqual(first);
        stub.answer({ body: { Item: first.Item } });
        const get = { TableName: TABLE, Key: KEY };
        expect((await thin.get(get)).Item).toEqual((await sdk.get(get)).Item);
      }),
    );
  });

  test('refuse the same values', async () => {
    for (const value of [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 53,
      -(2 ** 53),
      new Set(),
      new Date(0),
      Symbol('s'),
    ]) {
      for (const name of NAMES) {
        const call = CLIENTS[name].dynamo(environment()).put({ TableName: TABLE, Item: { ...KEY, value } });
        await expect(call).rejects.toThrow();
      }
    }
    expect(stub.requests).toEqual([]);
  });

  test('sign a request alike', async () => {
    const secret = fc.stringMatching(/^[A-Za-z\d/+=]{8,40}$/);
    const path = fc.constantFrom('', '/', '/aws', '/a b/(c)!', '/%41/é');
    const given = fc.record({ id: fc.stringMatching(/^[A-Z\d]{8,20}$/), secret, path, token: fc.option(secret), text });
    await fc.assert(
      fc.asyncProperty(given, fc.constantFrom('eu-central-1', 'us-east-1', 'cn-north-1'), async (one, region) => {
        const credentials = {
          accessKeyId: one.id,
          secretAccessKey: one.secret,
          ...(one.token !== null && { sessionToken: one.token }),
        };
        stub.answer({});
        const endpoint = `${stub.endpoint()}${one.path}`;
        await sdkOperations({ endpoint, region, credentials }).put({
          TableName: TABLE,
          Item: { ...KEY, text: one.text },
        });
        const [sent] = stub.requests;
        const { path = '', text: body = '' } = sent ?? {};
        const authorization = sent?.headers.authorization ?? '';
        const signed = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
        const again = awsSignedHeaders(
          {
            url: new URL(path, stub.endpoint()),
            headers: Object.fromEntries(signed.map((header) => [header, String(sent?.headers[header])])),
            body,
          },
          { service: 'dynamodb', region, ...credentials, sessionToken: one.token ?? undefined },
          new Date(sentAt(sent?.headers ?? {})),
        );
        expect(again['authorization']).toBe(authorization);
      }),
    );
  });
});
