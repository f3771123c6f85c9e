import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import type { DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_MS } from '../../shared/core/time.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { from, startTestHost, type TestHost, withHost } from './host.ts';
import { type FakeCatalogue, fakeCatalogue, GATHERING, HOURLY, QUEUE, STREAM, SWEEP } from './local-fake.ts';

/** The SDK's clients, configured for the host as in the functions. */
const clients = ({ host }: TestHost) => {
  const { env } = host();
  const config = { region: 'eu-central-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, maxAttempts: 1 };
  const at = (name: string) => ({ ...config, endpoint: env[name] ?? '' });
  return {
    sqs: new SQSClient(at('AWS_ENDPOINT_URL_SQS')),
    bus: new EventBridgeClient(at('AWS_ENDPOINT_URL_EVENTBRIDGE')),
    dynamo: new DynamoDBClient(at('AWS_ENDPOINT_URL_DYNAMODB')),
    queueUrl: env['QUEUE_URL_APPLY_PROVIDER_EVENT'] ?? '',
    table: env['TABLE_NAME'] ?? '',
  };
};

const send = (service: TestHost, body: string, more: { delay?: number; group?: string } = {}) => {
  const { sqs, queueUrl } = clients(service);
  return sqs.send(
    new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: body,
      ...(more.delay !== undefined && { DelaySeconds: more.delay }),
      ...(more.group !== undefined && { MessageGroupId: more.group }),
    }),
  );
};

const put = (service: TestHost, pk: string, more: Record<string, string> = {}) => {
  const { dynamo, table } = clients(service);
  const attributes = Object.entries({ pk, sk: 'PAY', ...more }).map(([name, value]) => [name, { S: value }]);
  return dynamo.send(new PutItemCommand({ TableName: table, Item: Object.fromEntries(attributes) }));
};

const putEvents = (service: TestHost, entries: PutEventsRequestEntry[]) =>
  clients(service).bus.send(
    new PutEventsCommand({ Entries: entries.map((entry) => ({ EventBusName: 'payments', ...entry })) }),
  );

const bodiesOf = (event: unknown): string[] => (event as SQSEvent).Records.map((record) => record.body);
const keysOf = (event: unknown): string[] =>
  (event as DynamoDBStreamEvent).Records.map((record) => record.dynamodb?.Keys?.['pk']?.S ?? '');
const callsOf = (catalogue: FakeCatalogue, id: string): unknown[] =>
  catalogue.calls.filter((call) => call.id === id).map((call) => call.event);
const allBodies = (catalogue: FakeCatalogue): string[] => callsOf(catalogue, QUEUE.id).flatMap(bodiesOf);
const allKeys = (catalogue: FakeCatalogue): string[] => callsOf(catalogue, STREAM.id).flatMap(keysOf);

const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'local-host-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

const freshHost = async (options: { env?: Record<string, string>; dataDir?: string } = {}) => {
  const catalogue = fakeCatalogue();
  const service = await startTestHost({ ...options, catalogue, frozen: true });
  onTestFinished(() => service.stop());
  return { service, catalogue };
};

/** Moves the clock to the next whole hour. @returns this hour, epoch ms */
const nextHour = async (service: TestHost): Promise<number> => {
  const hour = Math.ceil(service.now() / HOUR_MS) * HOUR_MS;
  await service.moveTo(new Date(hour).toISOString());
  return hour;
};

/** Sends a request as raw text. @returns the response as raw text */
const rawRequest = (baseUrl: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname, () => socket.end(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString('utf8');
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });

describe('the gateway', () => {
  const catalogue = fakeCatalogue();
  const service = withHost({ catalogue });

  test('passes a request to the function in payload format 2.0', async () => {
    const { body } = await service.request('POST', '/items?a=1&b=x%20y&a=2', {
      body: { name: 'Ä' },
      headers: { 'X-Custom': 'Value', Cookie: 'one=1; two=2', 'User-Agent': 'a-test' },
    });
    expect(body).toMatchObject({
      version: '2.0',
      routeKey: 'POST /items',
      rawPath: '/items',
      rawQueryString: 'a=1&b=x%20y&a=2',
      cookies: ['one=1', 'two=2'],
      queryStringParameters: { a: '1,2', b: 'x y' },
      headers: { 'x-custom': 'Value', 'content-type': 'application/json' },
      requestContext: {
        http: { method: 'POST', path: '/items', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'a-test' },
        routeKey: 'POST /items',
        stage: '$default',
      },
      body: '{"name":"Ä"}',
      isBase64Encoded: false,
    });
    expect(body.headers.cookie).toBeUndefined();
    expect(body.pathParameters).toBeUndefined();
    expect(body.requestContext.time).toMatch(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/);
  });

  test('joins the values of a repeated header', async () => {
    const { host } = new URL(service.host().baseUrl);
    const answer = await rawRequest(
      service.host().baseUrl,
      `GET /items/1 HTTP/1.1\r\nHost: ${host}\r\nX-Many: a\r\nx-many: b\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toContain('"x-many":"a,b"');
  });

  test('prefers a literal path segment to a parameter, and decodes parameters', async () => {
    expect((await service.get('/items/special')).body.routeKey).toBe('GET /items/special');
    const { body } = await service.get('/items/a%2Fb%40c/parts/7');
    expect(body.routeKey).toBe('GET /items/{id}/parts/{part_id}');
    expect(body.pathParameters).toEqual({ id: 'a/b@c', part_id: '7' });
  });

  test.each([
    ['application/json; charset=utf-8', false],
    ['text/plain', false],
    ['application/x-www-form-urlencoded', true],
    ['application/octet-stream', true],
  ])('passes on a body of type %s (base64: %s)', async (type, encoded) => {
    const { body } = await service.request('POST', '/items', { body: 'a=1', headers: { 'content-type': type } });
    expect(body.isBase64Encoded).toBe(encoded);
    expect(Buffer.from(body.body, encoded ? 'base64' : 'utf8').toString('utf8')).toBe('a=1');
  });

  test('reads the caller’s address from the socket, and appends the address to X-Forwarded-For', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9, 10.0.0.1' };
    const { body } = await service.get('/items/1', { headers });
    expect(body.requestContext.http.sourceIp).toBe('127.0.0.1');
    expect(body.headers['x-forwarded-for']).toBe('203.0.113.9, 10.0.0.1, 127.0.0.1');
    const other = await service.get('/items/1', { headers, ...from('203.0.113.7') });
    expect(other.body.requestContext.http.sourceIp).toBe('127.0.113.7');
  });

  test.each([
    ['GET', '/nowhere'],
    ['DELETE', '/items/1'],
    ['OPTIONS', '/items/1'],
    ['GET', '/items/'],
  ])('passes the unmatched request %s %s to the default function', async (method, path) => {
    expect((await service.request(method, path)).body.routeKey).toBe('$default');
  });

  test('responds to HEAD without a body', async () => {
    const answer = await service.request('HEAD', '/items/1');
    expect(answer.body).toBeUndefined();
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(0);
  });

  test.each<[string, () => unknown]>([
    ['throws', () => Promise.reject(new Error('secret'))],
    ['returns nothing', () => undefined],
    ['returns an invalid status', () => ({ statusCode: 'ok', body: '' })],
    ['returns a body that is not a string', () => ({ statusCode: 200, body: { a: 1 } })],
    ['returns a header that cannot be sent', () => ({ statusCode: 200, headers: { 'x-bad': 'a\nb' }, body: '' })],
    ['does not end in time', () => new Promise(() => undefined)],
  ])('returns 500 if the function %s', async (_what, handler) => {
    catalogue.handle('fake.create', handler);
    onTestFinished(() => catalogue.handle('fake.create', () => ({ statusCode: 200, body: '' })));
    const answer = await service.post('/items', {});
    expect(answer).toMatchObject({ status: 500, body: { message: 'Internal Server Error' } });
  });

  test('sends cookies and binary bodies', async () => {
    catalogue.handle('fake.create', () => ({
      statusCode: 201,
      headers: { 'Content-Type': 'image/png' },
      cookies: ['a=1', 'b=2'],
      body: Buffer.from('bytes').toString('base64'),
      isBase64Encoded: true,
    }));
    const answer = await service.post('/items', {});
    expect(answer).toMatchObject({ status: 201, body: 'bytes' });
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(answer.headers.get('content-type')).toBe('image/png');
  });

  test('refuses a body over 10 MB', async () => {
    const answer = await service.post('/items', 'x'.repeat(10 * 1_024 * 1_024 + 1));
    expect(answer).toMatchObject({ status: 413, body: { message: 'Request Too Long' } });
  });

  test('refuses a path that cannot be decoded', async () => {
    expect((await service.get('/items/%E0%A4%A')).status).toBe(400);
  });

  test('serves 200 concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => service.get(`/items/${index}`)));
    expect(answers.map((answer) => answer.body.pathParameters.id)).toEqual(answers.map((_, index) => String(index)));
  });

  test('queues requests above its concurrency limit', async () => {
    let running = 0;
    let most = 0;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    catalogue.handle('fake.special', async () => {
      running += 1;
      most = Math.max(most, running);
      if (running === 32) setImmediate(open);
      await gate;
      running -= 1;
      return { statusCode: 200, body: 'ok' };
    });
    const answers = await Promise.all(Array.from({ length: 100 }, () => service.get('/items/special')));
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    expect(most).toBe(32);
  });

  test.each([
    ['GET', '/_local/nothing', 404],
    ['POST', '/_local/clock', 400],
    ['POST', '/_local/sessions', 400],
    ['POST', '/_local/queues/apply-provider-event/redrive', 404],
    ['POST', '/_local/queues/%E0/redrive', 400],
    ['GET', '/_local/sink/%E0%A4%A', 400],
  ])('rejects the invalid control request %s %s with %i and an error', async (method, path, status) => {
    const answer = await service.request(method, path);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toEqual(expect.any(String));
  });

  test('sends no CORS header unless origins are allowed', async () => {
    const answer = await service.get('/items/1', { headers: { Origin: 'https://shop.example' } });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a web page of another origin', () => {
  const service = withHost({ catalogue: fakeCatalogue() });
  const port = (): string => new URL(service.host().baseUrl).port;
  /** Sends a request with headers that `fetch` does not let its caller set. @returns the status */
  const ask = (line: string, headers: Readonly<Record<string, string>>, body = ''): Promise<number> => {
    const [method = '', path = ''] = line.split(' ');
    return new Promise((resolve, reject) => {
      const options = { method, headers: { ...headers, 'content-length': body.length }, agent: false };
      const sent = httpRequest(`${service.host().baseUrl}${path}`, options, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  };
  const own = (): { host: string } => ({ host: `127.0.0.1:${port()}` });
  const NEW_SESSION = '{"email":"mallory@example.com","is_admin":true}';

  test.each(['GET /items/1', 'GET /health', 'GET /docs', 'GET /_local/clock', 'POST /_local/sessions'])(
    'is refused if its hostname resolves to this host: %s',
    async (line) => {
      for (const name of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1', '']) {
        expect(await ask(line, { host: `${name}:${port()}` }, NEW_SESSION)).toBe(403);
      }
      for (const name of ['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST']) {
        expect(await ask(line, { host: `${name}:${port()}` }, NEW_SESSION)).toBeLessThan(300);
      }
    },
  );

  test.each<[string, Record<string, string>]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
    ['another port, in a form', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }],
  ])('cannot reach a control route from %s', async (_, headers) => {
    const plain = { 'content-type': 'text/plain', ...own(), ...headers };
    expect(await ask('POST /_local/sessions', plain, NEW_SESSION)).toBe(403);
    expect(await ask('POST /_local/clock', plain, '{"advance":1}')).toBe(403);
    expect(await ask('POST /_local/simulator/faults', plain, '{"action":"reset"}')).toBe(403);
    expect(await ask('POST /_local/aws/000000000000/run-due', plain, '{}')).toBe(403);
    expect(await ask('GET /items/1', plain)).toBe(200);
  });

  test('is not confused with the host’s own pages and programs', async () => {
    const origin = `http://127.0.0.1:${port()}`;
    const headers = { ...own(), origin, 'sec-fetch-site': 'same-origin' };
    expect(await ask('POST /_local/sessions', headers, NEW_SESSION)).toBe(201);
    expect(await ask('POST /_local/sessions', own(), NEW_SESSION)).toBe(201);
  });

  test.each(['http://localhost:5173', 'http://127.0.0.1:8080', 'http://[::1]:3001'])(
    'can call the service from %s on this machine',
    async (origin) => {
      const asked = { Origin: origin, 'Access-Control-Request-Method': 'POST' };
      const preflight = await service.request('OPTIONS', '/items', { headers: asked });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
      expect(preflight.headers.get('access-control-allow-headers')).toContain('x-session-id');
      const answer = await service.get('/items/1', { headers: { Origin: origin } });
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    },
  );

  test('is blocked if its origin only resembles this machine', async () => {
    for (const origin of ['http://localhost.evil.example', 'http://evil.example/http://localhost', 'null']) {
      const answer = await service.get('/items/1', { headers: { Origin: origin } });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test('can call the simulated providers if it is a shop page on this machine', async () => {
    const path = '/_local/providers/stripe/v1/payment_intents/pi_1/confirm';
    const Origin = 'http://localhost:4000';
    const asked = {
      Origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization',
    };
    const preflight = await service.request('OPTIONS', path, { headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(Origin);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization');
    const answer = await service.post(path, undefined, { headers: { Origin } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('access-control-allow-origin')).toBe(Origin);
  });

  test('can link to a page of the host', async () => {
    const followed = { ...own(), 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(await ask('GET /_local/clock', followed)).toBe(200);
  });
});

describe('the gateway with settings', () => {
  const service = withHost({
    catalogue: fakeCatalogue(),
    env: { BASE_PATH: '/pay', ALLOWED_ORIGINS: 'https://shop.example' },
  });

  test('serves under BASE_PATH only', async () => {
    const { body } = await service.get('/pay/items/1');
    expect(body).toMatchObject({ routeKey: 'GET /items/{id}', rawPath: '/pay/items/1' });
    expect((await service.get('/items/1')).body.routeKey).toBe('$default');
    expect(service.host().env['PUBLIC_BASE_URL']).toBe(`${service.host().baseUrl}/pay`);
  });

  test('responds to preflights of allowed origins', async () => {
    const preflight = { 'Access-Control-Request-Method': 'POST' };
    const allowed = await service.request('OPTIONS', '/pay/items', {
      headers: { ...preflight, Origin: 'https://shop.example' },
    });
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    const other = await service.request('OPTIONS', '/pay/items', {
      headers: { ...preflight, Origin: 'https://evil.example' },
    });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const get = await service.get('/pay/items/1', { headers: { Origin: 'https://shop.example' } });
    expect(get.headers.get('access-control-allow-origin')).toBe('https://shop.example');
  });
});

describe('the queues', () => {
  let service: TestHost;
  let catalogue: FakeCatalogue;
  beforeEach(async () => {
    catalogue = fakeCatalogue();
    service = await startTestHost({ catalogue, frozen: true });
    onTestFinished(() => service.stop());
  });
  const counts = async () => (await service.queues())['apply-provider-event'];

  test('deliver a message to the function as SQS does', async () => {
    await send(service, 'hello', { group: 'target-1' });
    await service.settle();
    expect(callsOf(catalogue, QUEUE.id)).toEqual([
      {
        Records: [
          expect.objectContaining({
            body: 'hello',
            md5OfBody: '5d41402abc4b2a76b9719d911017c592',
            eventSource: 'aws:sqs',
            eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:apply-provider-event',
            attributes: expect.objectContaining({
              ApproximateReceiveCount: '1',
              SentTimestamp: String(service.now()),
              MessageGroupId: 'target-1',
            }),
          }),
        ],
      },
    ]);
    expect(await counts()).toEqual({ visible: 0, delayed: 0, in_flight: 0 });
  });

  test('redeliver only failed messages after their visibility timeout', async () => {
    catalogue.handle(QUEUE.id, (event) => ({
      batchItemFailures: (event as SQSEvent).Records.filter(
        (record) => record.body === 'bad' && record.attributes.ApproximateReceiveCount === '1',
      ).map((record) => ({ itemIdentifier: record.messageId })),
    }));
    const { sqs, queueUrl } = clients(service);
    const entries = ['good', 'bad'].map((text) => ({ Id: text, MessageBody: text }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }));
    await service.settle();
    expect(allBodies(catalogue)).toEqual(['good', 'bad']);
    expect(await counts()).toEqual({ visible: 0, delayed: 0, in_flight: 1 });
    await service.advance(QUEUE.visibilitySeconds - 1);
    expect(allBodies(catalogue)).toHaveLength(2);
    await service.advance(1);
    expect(allBodies(catalogue)).toEqual(['good', 'bad', 'bad']);
    expect(await counts()).toEqual({ visible: 0, delayed: 0, in_flight: 0 });
  });

  test.each<[string, () => unknown]>([
    ['throws', () => Promise.reject(new Error('no'))],
    ['names a message that it was not given', () => ({ batchItemFailures: [{ itemIdentifier: 'other' }] })],
  ])('move a message to the dead-letter queue and back if the function %s too often', async (_what, handler) => {
    catalogue.handle(QUEUE.id, handler);
    await send(service, 'poison');
    await service.advance(HOUR_SECONDS);
    expect(allBodies(catalogue)).toHaveLength(QUEUE.maxReceives);
    expect(await service.queues()).toMatchObject({
      'apply-provider-event': { visible: 0, in_flight: 0 },
      'apply-provider-event-dlq': { visible: 1 },
    });
    catalogue.handle(QUEUE.id, () => undefined);
    expect(await service.redrive('apply-provider-event-dlq')).toEqual({ moved: 1 });
    await service.settle();
    expect(allBodies(catalogue)).toHaveLength(QUEUE.maxReceives + 1);
    expect(await service.queues()).toMatchObject({ 'apply-provider-event-dlq': { visible: 0 } });
  });

  test('support SQS redrive, but only for messages that SQS itself moved', async () => {
    const { sqs, queueUrl } = clients(service);
    const DestinationArn = `arn:aws:sqs:eu-central-1:000000000000:${QUEUE.queue}`;
    const SourceArn = `${DestinationArn}-dlq`;
    const redriven = async (destination?: string): Promise<unknown> => {
      await sqs.send(new StartMessageMoveTaskCommand({ SourceArn, DestinationArn: destination }));
      await service.settle();
      return (await sqs.send(new ListMessageMoveTasksCommand({ SourceArn }))).Results?.[0];
    };
    catalogue.handle(QUEUE.id, () => Promise.reject(new Error('no')));
    await send(service, 'poison');
    await service.advance(HOUR_SECONDS);
    catalogue.handle(QUEUE.id, () => undefined);
    expect(await redriven()).toMatchObject({ Status: 'COMPLETED', ApproximateNumberOfMessagesMoved: 1 });

    await sqs.send(new SendMessageCommand({ QueueUrl: `${queueUrl}-dlq`, MessageBody: 'of the bus' }));
    expect(await redriven()).toMatchObject({
      Status: 'FAILED',
      FailureReason: 'CouldNotDetermineMessageSource',
      ApproximateNumberOfMessagesMoved: 0,
    });
    expect(await redriven(DestinationArn)).toMatchObject({ Status: 'COMPLETED', DestinationArn });
    expect(allBodies(catalogue).slice(-2)).toEqual(['poison', 'of the bus']);
    expect(await service.queues()).toMatchObject({ 'apply-provider-event-dlq': { visible: 0 } });
    const wrongWay = sqs.send(new StartMessageMoveTaskCommand({ SourceArn: DestinationArn }));
    await expect(wrongWay).rejects.toThrow('must be configured as a Dead Letter Queue');
  });

  test('let the function choose the time of redelivery', async () => {
    const { sqs, queueUrl } = clients(service);
    catalogue.handle(QUEUE.id, async (event) => {
      const [record] = (event as SQSEvent).Records;
      if (record?.attributes.ApproximateReceiveCount !== '1') return undefined;
      await sqs.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: queueUrl,
          ReceiptHandle: record.receiptHandle,
          VisibilityTimeout: 5,
        }),
      );
      return { batchItemFailures: [{ itemIdentifier: record.messageId }] };
    });
    await send(service, 'later');
    await service.advance(4);
    expect(allBodies(catalogue)).toHaveLength(1);
    await service.advance(1);
    expect(allBodies(catalogue)).toHaveLength(2);
  });

  test('hide a message for at most 12 hours after it is received', async () => {
    const { sqs, queueUrl } = clients(service);
    const QueueUrl = `${queueUrl}-dlq`;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'later' }));
    const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 60 }));
    const hide = (VisibilityTimeout: number) =>
      sqs.send(
        new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle, VisibilityTimeout }),
      );
    await service.advance(1);
    await expect(hide(43_200)).rejects.toThrow('beyond the limit [43200 seconds]');
    await hide(43_199);
    await service.advance(43_198);
    expect((await service.queues())['apply-provider-event-dlq']).toMatchObject({ visible: 0, in_flight: 1 });
    await service.advance(1);
    expect((await service.queues())['apply-provider-event-dlq']).toMatchObject({ visible: 1 });
  });

  test('delay a delayed message', async () => {
    await send(service, 'later', { delay: 300 });
    expect(await counts()).toEqual({ visible: 0, delayed: 1, in_flight: 0 });
    await service.advance(299);
    expect(allBodies(catalogue)).toEqual([]);
    await service.advance(1);
    expect(allBodies(catalogue)).toEqual(['later']);
  });

  test('call a function in parallel, up to its concurrency', async () => {
    let running = 0;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const seen: number[] = [];
    catalogue.handle(QUEUE.id, async () => {
      running += 1;
      seen.push(running);
      await gate;
      running -= 1;
    });
    await Promise.all(Array.from({ length: 40 }, (_, index) => send(service, String(index))));
    expect(seen).toEqual([1, 2, 3]);
    open();
    await service.settle();
    expect(Math.max(...seen)).toBe(QUEUE.maxConcurrency);
    expect(allBodies(catalogue).toSorted()).toEqual(Array.from({ length: 40 }, (_, index) => String(index)).toSorted());
  });

  test('reject requests that SQS rejects', async () => {
    const { sqs, queueUrl } = clients(service);
    await expect(send(service, 'x', { delay: 901 })).rejects.toThrow('DelaySeconds');
    const unknown = new GetQueueAttributesCommand({ QueueUrl: `${queueUrl}-none` });
    await expect(sqs.send(unknown)).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
  });

  test('can be read by other clients, for example a dead-letter queue', async () => {
    const { sqs, queueUrl } = clients(service);
    const dlq = `${queueUrl}-dlq`;
    await sqs.send(new SendMessageCommand({ QueueUrl: dlq, MessageBody: 'dead' }));
    const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: dlq, MaxNumberOfMessages: 10 }));
    expect(Messages).toMatchObject([{ Body: 'dead' }]);
    expect((await service.queues())['apply-provider-event-dlq']).toEqual({ visible: 0, delayed: 0, in_flight: 1 });
    const attributes = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: dlq, AttributeNames: ['All'] }));
    expect(attributes.Attributes).toMatchObject({ ApproximateNumberOfMessagesNotVisible: '1' });
  });
});

describe('the bus', () => {
  test('sends an event’s envelope to the queues whose rules match', async () => {
    const { service, catalogue } = await freshHost();
    const answer = await putEvents(service, [
      { Source: 'tests', DetailType: 'wanted.event', Detail: '{"a":1}' },
      { Source: 'tests', DetailType: 'other.event', Detail: '{}' },
      { Source: 'tests', DetailType: 'wanted.broken', Detail: '{' },
      { Source: 'elsewhere', DetailType: 'wanted.event', Detail: '{}' },
    ]);
    expect(answer.FailedEntryCount).toBe(1);
    expect(answer.Entries?.[2]?.ErrorCode).toBe('MalformedDetail');
    await service.settle();
    expect(allBodies(catalogue).map((body) => JSON.parse(body))).toEqual([
      expect.objectContaining({ version: '0', source: 'tests', 'detail-type': 'wanted.event', detail: { a: 1 } }),
    ]);
    expect(await service.busEvents()).toHaveLength(3);
    expect(await service.busEvents('wanted.event')).toHaveLength(2);
  });
});

describe('the stream', () => {
  test('delivers only the changes that match its filter, in order', async () => {
    const { service, catalogue } = await freshHost();
    const { dynamo, table } = clients(service);
    await put(service, 'one', { a: '1' });
    await put(service, 'log', { sk: 'LOG' });
    await put(service, 'one', { a: '1' });
    await dynamo.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk: { S: 'one' }, sk: { S: 'PAY' } },
        UpdateExpression: 'SET b = :b',
        ExpressionAttributeValues: { ':b': { B: new Uint8Array([1, 2]) } },
      }),
    );
    await service.settle();
    const records = callsOf(catalogue, STREAM.id).flatMap((event) => (event as DynamoDBStreamEvent).Records);
    expect(records.map((record) => record.eventName)).toEqual(['INSERT', 'MODIFY']);
    expect(records[1]?.dynamodb).toMatchObject({
      OldImage: { a: { S: '1' } },
      NewImage: { a: { S: '1' }, b: { B: 'AQI=' } },
      ApproximateCreationDateTime: Math.floor(service.now() / 1_000),
    });
  });

  test('retries from the first failed record', async () => {
    const { service, catalogue } = await freshHost();
    let failures = 2;
    catalogue.handle(STREAM.id, (event) => {
      const bad = (event as DynamoDBStreamEvent).Records.find((record) => record.dynamodb?.Keys?.['pk']?.S === 'two');
      if (!bad || failures === 0) return undefined;
      failures -= 1;
      return { batchItemFailures: [{ itemIdentifier: bad.dynamodb?.SequenceNumber }] };
    });
    for (const pk of ['one', 'two', 'three']) await put(service, pk);
    await service.settle();
    const seen = allKeys(catalogue);
    expect(seen.filter((pk) => pk === 'one')).toHaveLength(1);
    expect(seen.filter((pk) => pk === 'two')).toHaveLength(3);
    expect(seen.lastIndexOf('two')).toBeLessThan(seen.lastIndexOf('three'));
  });

  test('stores the whole record after ten failed attempts, and continues', async () => {
    const { service, catalogue } = await freshHost();
    catalogue.handle(STREAM.id, (event) => {
      if (keysOf(event).includes('poison')) throw new Error('no');
    });
    for (const pk of ['one', 'poison', 'two']) await put(service, pk);
    await service.settle();
    expect(allKeys(catalogue)).toContain('two');
    const first = callsOf(catalogue, STREAM.id).map((event) => keysOf(event)[0]);
    expect(first.filter((pk) => pk === 'poison')).toHaveLength(10);
    const file = await readFile(join(service.host().folder, 'failures', `${STREAM.id}.jsonl`), 'utf8');
    const lines = file
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ tries: 10, record: { dynamodb: { NewImage: { pk: { S: 'poison' } } } } });
  });

  test('collects changes for a consumer with a batch window until the host settles', async () => {
    const { service, catalogue } = await freshHost();
    for (const pk of ['one', 'two']) {
      await put(service, pk);
      await vi.waitFor(() => expect(allKeys(catalogue)).toContain(pk));
    }
    expect(callsOf(catalogue, GATHERING.id)).toEqual([]);
    await service.settle();
    expect(callsOf(catalogue, GATHERING.id).map(keysOf)).toEqual([['one', 'two']]);
  });

  test('stops collecting when a batch is full', async () => {
    const { service, catalogue } = await freshHost();
    const names = Array.from({ length: GATHERING.batchSize }, (_, index) => `pk-${index}`);
    await Promise.all(names.map((pk) => put(service, pk)));
    await service.host().replayStream(GATHERING.id);
    await vi.waitFor(() => expect(callsOf(catalogue, GATHERING.id).length).toBeGreaterThan(0));
    const gathered = callsOf(catalogue, GATHERING.id).flatMap(keysOf);
    expect(new Set(gathered)).toEqual(new Set(names));
  });

  test('can be replayed to one consumer', async () => {
    const { service, catalogue } = await freshHost();
    await put(service, 'one');
    await service.settle();
    await service.host().replayStream(STREAM.id);
    await service.settle();
    expect(allKeys(catalogue)).toEqual(['one', 'one']);
  });
});

describe('the clock', () => {
  test('runs the sweep only at the first whole minute after a due time', async () => {
    const { service, catalogue } = await freshHost();
    const hour = await nextHour(service);
    await put(service, 'late', { due: 'DUE#7', due_at: new Date(hour + 59 * 60_000 - 1).toISOString() });
    const { dynamo, table } = clients(service);
    catalogue.handle('workers.sweep-due', async () => {
      await dynamo.send(
        new UpdateItemCommand({
          TableName: table,
          Key: { pk: { S: 'late' }, sk: { S: 'PAY' } },
          UpdateExpression: 'REMOVE due, due_at',
        }),
      );
    });
    await service.advance(58 * MINUTE_SECONDS);
    expect(callsOf(catalogue, SWEEP.id)).toEqual([]);
    await service.advance(2 * HOUR_SECONDS);
    expect(callsOf(catalogue, SWEEP.id)).toEqual([
      expect.objectContaining({
        time: new Date(hour + 59 * 60_000).toISOString().replace('.000', ''),
        source: 'aws.events',
      }),
    ]);
    expect(callsOf(catalogue, HOURLY.id)).toHaveLength(1 + 2);
  });
});

describe('the identity service', () => {
  const service = withHost({ catalogue: fakeCatalogue() });
  const identity = (method: string, path: string, body?: unknown) =>
    service.request(method, `/_local/identity-service${path}`, { body });

  test('knows the demo sessions', async () => {
    expect(await identity('GET', '/sessions/demo-owner')).toMatchObject({
      status: 200,
      body: { user_id: 'user_demo_owner', email: 'demo.owner@example.com', is_admin: false },
    });
    expect((await identity('GET', '/sessions/demo-admin')).body.is_admin).toBe(true);
    expect((await identity('GET', '/sessions/none')).status).toBe(404);
  });

  test('creates users and sessions, and remembers expired sessions', async () => {
    const made = await service.session({ email: 'Ann@example.com', organization_id: 'org_1', expires_in: 60 });
    expect(await identity('GET', `/sessions/${made.session_id}`)).toMatchObject({
      body: { user_id: made.user_id, organization_id: 'org_1' },
    });
    await service.advance(61);
    const expired = await identity('GET', `/sessions/${made.session_id}`);
    expect(expired.status).toBe(200);
    expect(Date.parse(expired.body.expires_at)).toBeLessThan(service.now());
    const again = await service.session({ email: 'ann@example.com' });
    expect(again.user_id).toBe(made.user_id);
  });

  test('finds users by e-mail and by id', async () => {
    const { user_id } = await service.session({ email: 'bob@example.com' });
    expect((await identity('GET', '/users?email=BOB%40example.com')).body).toMatchObject({ id: user_id });
    expect((await identity('GET', '/users?email=unknown%40example.com')).status).toBe(404);
    const found = await identity('POST', '/users/lookup', { ids: [user_id, 'user_none'] });
    expect(found.body).toMatchObject([{ id: user_id, email: 'bob@example.com' }]);
  });

  test('signs tokens that its published key verifies', async () => {
    const { createRemoteJWKSet, jwtVerify } = await import('jose');
    const { token, user_id } = await service.session({ is_admin: true });
    const { env } = service.host();
    const keys = createRemoteJWKSet(new URL(env['IDENTITY_JWKS_URI'] ?? ''));
    const { payload } = await jwtVerify(token, keys, {
      issuer: env['IDENTITY_ISSUER'] ?? '',
      currentDate: new Date(service.now()),
    });
    expect(payload).toMatchObject({ sub: user_id, is_admin: true });
  });

  test('can be made unreachable', async () => {
    await service.identity({ available: false });
    await expect(identity('GET', '/sessions/demo-owner')).rejects.toThrow('fetch failed');
    await service.identity({ available: true });
    expect((await identity('GET', '/sessions/demo-owner')).status).toBe(200);
  });
});

describe('a sink', () => {
  const service = withHost({ catalogue: fakeCatalogue(), frozen: true });

  test('keeps received requests, oldest first, and fails as configured', async () => {
    await service.control('POST', '/sink/mine/behaviour', { status: 503, times: 1 });
    const headers = { 'webhook-id': 'msg_1' };
    const first = await service.request('POST', '/_local/sink/mine', { body: '{"a": 1}', headers });
    const second = await service.request('POST', '/_local/sink/mine', { body: 'no json', headers });
    expect([first.status, second.status]).toEqual([503, 200]);
    expect(await service.sink('mine')).toMatchObject([
      { received_at: new Date(service.now()).toISOString(), headers, body: { a: 1 }, raw: '{"a": 1}' },
      { body: null, raw: 'no json' },
    ]);
    await service.control('DELETE', '/sink/mine');
    expect(await service.sink('mine')).toEqual([]);
  });
});

describe('a restart on the same data', () => {
  test('keeps all data', async () => {
    const dataDir = await temporaryFolder();
    const before = await startTestHost({ dataDir, catalogue: fakeCatalogue() });
    await before.advance(3 * HOUR_SECONDS);
    const reached = before.now();
    await send(before, 'delayed', { delay: 900 });
    await put(before, 'one');
    await before.settle();
    const { session_id } = await before.session();
    await before.stop();

    const { service, catalogue } = await freshHost({ dataDir });
    expect(service.now()).toBeGreaterThanOrEqual(reached);
    await put(service, 'two');
    await service.settle();
    expect(allKeys(catalogue)).toEqual(['two']);
    expect((await service.queues())['apply-provider-event']).toMatchObject({ delayed: 1 });
    await service.advance(900);
    expect(allBodies(catalogue)).toEqual(['delayed']);
    expect((await service.get(`/_local/identity-service/sessions/${session_id}`)).status).toBe(200);
  });

  test('delivers changes that no consumer had received', async () => {
    const dataDir = await temporaryFolder();
    const deaf = fakeCatalogue();
    deaf.handle(STREAM.id, () => Promise.reject(new Error('no')));
    const before = await startTestHost({ dataDir, catalogue: deaf });
    await put(before, 'unheard');
    await before.stop();
    const { service, catalogue } = await freshHost({ dataDir });
    await service.settle();
    expect(allKeys(catalogue)).toEqual(['unheard']);
  });
});

describe('a host that cannot start', () => {
  test('fails with an error that names the reason', async () => {
    const dataDir = await temporaryFolder();
    const { service } = await freshHost({ dataDir });
    const { startHost } = await import('../../infra/local/host/host.ts');
    const port = Number(new URL(service.host().baseUrl).port);
    const catalogue = fakeCatalogue();
    await expect(startHost({ port, dataDir: ':memory:', catalogue })).rejects.toThrow(`port ${port} is in use`);
    await expect(startHost({ dataDir, catalogue })).rejects.toThrow('another local host uses this DATA_DIR');
    const wrong = { BASE_PATH: 'no-slash', PORT: 'abc' };
    await expect(startHost({ dataDir: ':memory:', catalogue, env: wrong })).rejects.toMatchObject({
      mistakes: [expect.stringContaining('PORT'), expect.stringContaining('BASE_PATH')],
    });
  });

  test('names a data folder with only the former engine’s data, and leaves the folder unchanged', async () => {
    const dataDir = await temporaryFolder();
    await writeFile(join(dataDir, 'dynamodb.db'), 'former');
    await expect(startTestHost({ dataDir, catalogue: fakeCatalogue() })).rejects.toThrow(
      `DATA_DIR ${dataDir} has the data of the dynoxide engine, which this version does not read; set another DATA_DIR`,
    );
    expect(await readFile(join(dataDir, 'dynamodb.db'), 'utf8')).toBe('former');
  });
});
