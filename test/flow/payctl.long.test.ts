import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, test } from 'vitest';
import { LOCAL_SECRETS, queueUrl } from '../../infra/local/machine/environment.ts';
import { HOUR_MS, SECOND_MS } from '../../shared/core/time.ts';
import { VISA } from '../builders/intent.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  changeTable,
  confirm,
  confirmInBrowser,
  createIntent,
  createPaidIntent,
  itemsOf,
  read,
  signIn,
  storedPayment,
  type User,
} from './flow.ts';
import { startTestHost, type TestHost, withHost } from './host.ts';
import { payctlOf, spawned } from './payctl.ts';
import { PAYING_METHODS, paidPayment, refund, signInAdmin } from './refunders.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';
import { subscribe, subscriber } from './subscribers.ts';

/** Sends a message as the bus does, bypassing the host's own queues. */
const sendTo = async ({ host }: TestHost, queue: string, message: unknown): Promise<void> => {
  const { env, baseUrl } = host();
  const sqs = new SQSClient({
    endpoint: env['AWS_ENDPOINT_URL_SQS'] ?? '',
    region: env['AWS_REGION'] ?? '',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl(baseUrl, queue), MessageBody: JSON.stringify(message) }));
};

/** Starts a server. `rule` returns the response to each request. */
const answering = async (rule: (url: string) => readonly [status: number, body: unknown]) => {
  const server = createServer((request, response) => {
    const [status, body] = rule(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => new Promise((resolve) => server.close(resolve)) };
};

const CLOCK = { now: new Date().toISOString() };
const HOST = {
  base_path: '',
  dynamodb_endpoint: 'http://127.0.0.1:1',
  queues: [],
  settings: {},
  closed: [],
  targets: [],
  switches_off: [],
};

describe('payctl', () => {
  const service = withHost({ frozen: true, env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });
  const payctl = payctlOf(service);

  const stateOf = ({ checks }: ParsedJson, check: string) => checks.find((one: ParsedJson) => one.check === check);

  test('doctor finds no problem, and ignores the environment of its own shell', async () => {
    const well = await payctl(['doctor'], {
      DUNNING_DAYS: 'never',
      PROVIDER_B: '',
      EXTERNAL_WEBHOOKS_ENABLED: 'false',
    });
    expect(well).toMatchObject({ exitCode: 0, json: { healthy: true, closed: 0 } });
    expect(new Set(well.json.checks.map(({ state }: ParsedJson) => state))).toEqual(new Set(['ok']));
    expect(stateOf(well.json, 'outbound webhooks')).toMatchObject({ detail: 'events are sent to WEBHOOK_1' });
    expect(stateOf(well.json, 'provider_c')).toMatchObject({ detail: expect.stringMatching(/; accepts only USD$/) });
  });

  test('doctor reports each successful check in a line, and their number in the last line', async () => {
    const { stdout } = await spawned(service.host().baseUrl, ['doctor']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.at(-1)).toBe(`All ${lines.length - 1} checks are ok.`);
    for (const line of [
      /^ok +settings +every setting of http:\S+ is valid$/,
      /^ok +table +payments is ACTIVE and has its \d+ indexes and its stream$/,
      /^ok +queue webhook-delivery +no message is a dead letter, \d+ wait$/,
      /^ok +identity service +responds, with HTTP 404 for an unknown session$/,
      /^ok +bearer tokens +keys that verify them are published: 1$/,
      /^ok +provider_a +stripe responds in \d+ ms and accepts our keys$/,
      /^ok +clock +agrees with the providers’ clocks, \d+ s off$/,
      /^ok +payments +no charge has an unknown outcome for over 10 minutes$/,
      /^ok +creations +no creation is unfinished for over 5 minutes$/,
      /^ok +disputes +no evidence is due within 3 days$/,
    ]) {
      expect(lines).toContainEqual(expect.stringMatching(line));
    }
  });

  test('doctor reports every configuration error', async () => {
    const settings = { DUNNING_DAYS: 'never', PROVIDER_A: 'unknown' };
    const host = await answering((url) => [200, url === '/_local/clock' ? CLOCK : { ...HOST, settings }]);
    const { exitCode, stdout } = await spawned(host.url, ['--json', 'doctor']);
    await host.stop();
    const { healthy, checks } = JSON.parse(stdout);
    expect({ exitCode, healthy }).toEqual({ exitCode: 1, healthy: false });
    expect(checks.map(({ detail }: ParsedJson) => detail.split(/[.:]/)[0]).toSorted()).toEqual([
      'DUNNING_DAYS',
      'PROVIDER_A',
    ]);
  });

  test('doctor reports that a provider refuses the credentials', async () => {
    const { exitCode, json } = await payctl(['doctor'], {
      PROVIDER_A_API_KEY: 'sk_test_wrong',
      PROVIDER_C_ACCESS_TOKEN: '',
    });
    expect(exitCode).toBe(1);
    expect(stateOf(json, 'provider_a')).toMatchObject({ state: 'fail', detail: expect.stringContaining('our keys') });
    expect(stateOf(json, 'provider_b')).toMatchObject({ state: 'ok' });
    expect(stateOf(json, 'provider_c')).toMatchObject({
      state: 'fail',
      detail: 'the host has keys of square, but this shell has none',
    });
  });

  test('finds the local host by PORT, and suggests --url if no host responds', async () => {
    const { port } = new URL(service.host().baseUrl);
    expect(await spawned(undefined, ['clock', 'show'], { PORT: port })).toMatchObject({ exitCode: 0, stderr: '' });
    const { exitCode, stderr } = await spawned(undefined, ['clock', 'show'], { PORT: '1' });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr:
        'no local host responds at http://127.0.0.1:1; start it (npm start), or name another host by --url or PORT\n',
    });
  });

  test('reports an unreachable host and an unknown command with exit code 2', async () => {
    const unreachable = await spawned('http://127.0.0.1:1', ['drift']);
    expect(unreachable).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('no local host') });
    expect(await spawned(service.host().baseUrl, ['dance'])).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await spawned(service.host().baseUrl, ['timeline', 'pay_none'])).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('reports an AWS error in one line with exit code 2', async () => {
    const refusal = {
      __type: 'com.amazonaws#AccessDeniedException',
      message: 'not authorized to perform:\n dynamodb:Scan',
    };
    const aws = await answering((url) => {
      if (url === '/_local/clock') return [200, CLOCK];
      if (url === '/_local/host') return [200, { ...HOST, dynamodb_endpoint: aws.url }];
      return [400, refusal];
    });
    for (const command of [['drift'], ['reconcile', 'pay_1']]) {
      expect(await spawned(aws.url, command)).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: 'AccessDeniedException: not authorized to perform: dynamodb:Scan\n',
      });
    }
    await aws.stop();
  });

  test('timeline shows the same entries as the timeline route', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    await confirm(service, payment.id, user.options);
    await service.settle();
    const { json } = await payctl(['timeline', payment.id]);
    const answer = await service.get(`/payments/${payment.id}/timeline`, user.options);
    expect(json).toMatchObject({ payment_id: payment.id, status: 'succeeded', entries: answer.body.data });
    const { stdout } = await spawned(service.host().baseUrl, ['timeline', payment.id]);
    expect(stdout).toMatch(/change +succeeded +answer/);
  });

  test.each([
    [6_400, 'USD', '64.00 USD'],
    [6_400, 'JPY', '6400 JPY'],
    [6_400, 'KWD', '6.400 KWD'],
  ])('timeline formats %i minor units of %s as %s', async (total_cents, currency, written) => {
    const payment = await createIntent(service, await signIn(service), { total_cents, currency });
    const { stdout } = await spawned(service.host().baseUrl, ['timeline', payment.id]);
    expect(stdout.split('\n')[0]).toBe(`${payment.id} is requires_payment_method: ${written} at provider_a`);
  });

  test('timeline shows a subscription by our id and by its provider’s id', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await service.settle();
    const answer = await service.get(`/subscriptions/${made.id}/timeline`, who.options);
    expect(answer.body.data.length).toBeGreaterThan(0);
    for (const id of [made.id, made.provider_subscription_id]) {
      const { json } = await payctl(['timeline', id]);
      expect(json).toMatchObject({ subscription_id: made.id, status: 'active', entries: answer.body.data });
    }
    const { stdout } = await spawned(service.host().baseUrl, ['timeline', made.id]);
    expect(stdout).toMatch(new RegExp(`change +active +created +pay_[0-9a-f]+ +user ${who.user.userId}`));
    for (const [id, complaint] of [
      ['subs_none', /^RESOURCE_NOT_FOUND: /],
      ['sub_none', /^there is no payment or subscription sub_none\n$/],
    ] as const) {
      const unknown = await spawned(service.host().baseUrl, ['timeline', id]);
      expect(unknown).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(complaint) });
    }
  });

  test('dlq lists dead letters, and redrives them', async () => {
    await service.control('POST', '/sink/default/behaviour', { status: 500 });
    await createIntent(service, await signIn(service));
    await service.advance(120);
    const listed = await payctl(['dlq', 'list']);
    expect(listed.exitCode).toBe(1);
    const queue = listed.json.queues.find((one: ParsedJson) => one.queue === 'webhook-delivery');
    expect(queue.count).toBeGreaterThan(0);
    expect(queue.messages).toHaveLength(queue.count);
    expect(queue.messages.map(({ about }: ParsedJson) => about)).toContain('payment.created to WEBHOOK_1');
    await service.control('POST', '/sink/default/behaviour', { status: 200 });
    expect((await payctl(['dlq', 'redrive'])).json.total).toBe(listed.json.total);
    await service.settle();
    expect(await payctl(['dlq', 'list', 'webhook-delivery'])).toMatchObject({ exitCode: 0, json: { total: 0 } });
  });

  test('dlq redrive delivers undelivered bus events, even without a known source queue', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await service.settle();
    const events = await service.busEvents('payment.created');
    const event = events.find(({ detail }) => JSON.stringify(detail).includes(payment.id));
    await sendTo(service, 'webhook-dispatch-dlq', event);
    const before = (await service.sink()).length;
    expect(await payctl(['dlq', 'redrive', 'webhook-dispatch'])).toMatchObject({ exitCode: 0, json: { total: 1 } });
    await service.settle();
    expect((await service.sink()).slice(before)).toMatchObject([{ body: { event: 'payment.created' } }]);
  });

  test('replay counts in a dry run exactly the deliveries that it later sends', async () => {
    const user = await signIn(service);
    for (let payments = 0; payments < 5; payments += 1) await createIntent(service, user);
    const late = await createIntent(service, user);
    await confirm(service, late.id, { ...user.options, body: { payment_method_id: VISA } });
    await service.settle();
    const range = ['--from', new Date(service.now() - HOUR_MS).toISOString(), '--event', 'payment.*'];
    const counted = await payctl(['replay', ...range, '--dry-run']);
    expect(counted.json.count).toBeGreaterThanOrEqual(7);
    const arrived = async (): Promise<number> => (await service.sink()).length;
    const before = await arrived();
    expect((await payctl(['replay', ...range, '--dry-run'])).json).toEqual(counted.json);
    expect(await arrived()).toBe(before);
    const sent = await payctl(['replay', ...range]);
    await service.settle();
    expect(sent.json).toEqual({ ...counted.json, dry_run: false });
    expect((await arrived()) - before).toBe(counted.json.count);
    expect((await payctl(['replay', ...range, '--target', 'unknown', '--dry-run'])).json.count).toBe(0);
  });

  test('creates sessions and moves the clock', async () => {
    const made = await payctl(['sessions', 'new', '--email', 'new@example.com']);
    expect((await service.get('/payments', { session: made.json.session_id })).status).toBe(200);
    const { json: before } = await payctl(['clock']);
    const { json: after } = await payctl(['clock', 'advance', '3h']);
    expect(Date.parse(after.now) - Date.parse(before.now)).toBe(3 * HOUR_MS);
  });
});

describe('payctl against a host with disabled parts', () => {
  const service = withHost({
    frozen: true,
    env: {
      EXTERNAL_WEBHOOKS_ENABLED: 'false',
      GUEST_TOKEN_SECRET: '',
      IDENTITY_JWKS_URI: '',
      PROVIDER_B: '',
      PROVIDER_C_ACCESS_TOKEN: '',
    },
  });

  test('doctor lists the disabled parts and the reasons', async () => {
    const { exitCode, json } = await payctlOf(service)(['doctor'], {
      PROVIDER_B: 'paypal',
      GUEST_TOKEN_SECRET: 'ours',
    });
    const closed = json.checks.filter(({ state }: ParsedJson) => state === 'closed');
    expect({ exitCode, closed: json.closed }).toEqual({ exitCode: 0, closed: closed.length });
    expect(Object.fromEntries(closed.map(({ check, detail }: ParsedJson) => [check, detail]))).toEqual({
      'outbound webhooks': 'outbound webhooks are closed: EXTERNAL_WEBHOOKS_ENABLED is not true',
      'bearer tokens': 'bearer tokens are closed: IDENTITY_JWKS_URI names no keys',
      'guest tokens': 'guest tokens are closed: GUEST_TOKEN_SECRET is empty',
      provider_b: 'provider_b is closed: it is bound to no provider',
      provider_c: 'provider_c is closed: keys of square are missing',
    });
    const { stdout } = await spawned(service.host().baseUrl, ['doctor']);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      `Of ${json.checks.length} checks, ${json.checks.length - 5} are ok; 5 are closed (outbound webhooks, bearer tokens, guest tokens, provider_b, provider_c).`,
    );
  });
});

describe('payctl replay to a target that is no longer configured', () => {
  test('counts skipped deliveries separately in a dry run', async () => {
    const received: string[] = [];
    const target = await answering((url) => {
      received.push(url);
      return [200, {}];
    });
    const folder = await mkdtemp(join(tmpdir(), 'payctl-'));
    const both = {
      EXTERNAL_WEBHOOKS_ENABLED: 'true',
      WEBHOOK_1_ENABLED: 'true',
      WEBHOOK_1_URL: `${target.url}/one`,
      WEBHOOK_2_ENABLED: 'true',
      WEBHOOK_2_URL: `${target.url}/two`,
    };
    const before = await startTestHost({ frozen: true, dataDir: folder, env: both });
    await createIntent(before, await signIn(before));
    await before.settle();
    await before.stop();
    expect(received.splice(0).toSorted()).toEqual(['/one', '/two']);

    const after = await startTestHost({ frozen: true, dataDir: folder, env: { ...both, WEBHOOK_2_ENABLED: '' } });
    const range = ['--from', new Date(after.now() - HOUR_MS).toISOString(), '--event', 'all'];
    const counted = await payctlOf(after)(['replay', ...range, '--dry-run']);
    expect(counted.json).toMatchObject({
      count: 1,
      no_such_target: 1,
      by_event: { 'payment.created to WEBHOOK_1': 1 },
    });
    expect((await payctlOf(after)(['replay', ...range])).json).toEqual({ ...counted.json, dry_run: false });
    await after.settle();
    expect(received).toEqual(['/one']);
    await after.stop();
    await target.stop();
    await rm(folder, { recursive: true });
  });
});

describe('payctl drift', () => {
  const service = withHost({ frozen: true });
  const payctl = payctlOf(service);

  const cancelAtProvider = async (payment: PaymentBody): Promise<void> => {
    await service.request('POST', `/_local/providers/stripe/v1/payment_intents/${payment.provider_payment_id}/cancel`, {
      headers: {
        authorization: `Bearer ${LOCAL_SECRETS.PROVIDER_A_API_KEY}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: '',
    });
  };
  const rewritten = async (payment: PaymentBody, change: ParsedJson): Promise<void> => {
    await changeTable(service, { put: { ...(await storedPayment(service, payment.id)), ...change } });
  };

  /** The five kinds of difference. Each function makes a payment differ from the provider. */
  const PLANTS: Readonly<Record<string, (payment: PaymentBody) => Promise<unknown>>> = {
    'paid at the provider only': (payment) => confirmInBrowser(service, payment, VISA),
    'canceled at the provider only': cancelAtProvider,
    'another amount in the record': (payment) => rewritten(payment, { totalCents: 9_999 }),
    'another currency in the record': (payment) => rewritten(payment, { currency: 'EUR' }),
    'unknown to the provider': (payment) => rewritten(payment, { providerIntentId: `pi_lost_${payment.id}` }),
  };
  /** The status that `--fix` stores, by kind of difference. */
  const FIXED: Readonly<Record<string, string>> = {
    'paid at the provider only': 'succeeded',
    'canceled at the provider only': 'canceled',
  };
  const EACH = 5;
  const AGREEING = 40;

  /**
   * Makes refunds and disputes of two payments differ from the provider. @returns the expected findings of drift by
   * payment
   */
  const plantMoneyBack = async (user: User): Promise<Map<string, readonly string[]>> => {
    const [atStripe, atSquare] = [
      await paidPayment(service, user, { paying: PAYING_METHODS[0] }),
      await paidPayment(service, user, { paying: ['provider_c', 'cnon:card-nonce-ok'] }),
    ];
    const { options } = await signInAdmin(service);
    const made = await refund(service, atStripe.id, { ...options, body: { amount_cents: 500 } });
    const [item] = await itemsOf(service, `RFD#${made.body.id}`);
    const returned = await service.control('POST', `/simulator/payments/${atStripe.id}/refunds`, { amount: 300 });
    await service.settle();
    await service.webhookMode('drop');
    await changeTable(service, { put: { ...item, amountCents: 501 } });
    await service.control('POST', `/simulator/refunds/${returned.id}`, { status: 'failed' });
    await service.control('POST', `/simulator/payments/${atStripe.id}/disputes`, {});
    await service.control('POST', `/simulator/payments/${atSquare.id}/refunds`, { amount: 100 });
    return new Map([
      [atStripe.id, ['dispute not here', 'refund amount differs', 'refund status differs']],
      [atSquare.id, ['refund not here']],
    ]);
  };

  const plant = async (user: User): Promise<Map<string, string>> => {
    const planted = new Map<string, string>();
    for (const [name, change] of Object.entries(PLANTS)) {
      for (let count = 0; count < EACH; count += 1) {
        const payment = await createIntent(service, user);
        await change(payment);
        planted.set(payment.id, name);
      }
    }
    return planted;
  };

  /** Open, paid and canceled payments that match the provider. */
  const makeAgreeing = async (user: User): Promise<void> => {
    const providers = ['provider_a', 'provider_b', 'provider_c'];
    for (let count = 0; count < AGREEING; count += 1) {
      const payment = await createPaidIntent(service, user, {
        provider_id: providers[count % 3],
        payment_method_id: undefined,
      });
      if (count % 9 === 0) await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } });
      if (count % 9 === 3) await service.post(`/payments/intents/${payment.id}/cancel`, {}, user.options);
    }
    await service.settle();
  };

  test('finds differing payments, refunds and disputes, and fixes the differences that are newer at the provider', async () => {
    const user = await signIn(service);
    await makeAgreeing(user);
    expect(await payctl(['drift'])).toMatchObject({ exitCode: 0, json: { checked: AGREEING, drifted: 0 } });
    const moneyBack = await plantMoneyBack(user);
    const planted = await plant(user);
    await service.settle();

    const found = await payctl(['drift']);
    expect(found).toMatchObject({
      exitCode: 1,
      json: { checked: AGREEING + 27, not_compared: 0, drifted: 29, fixed: 0 },
    });
    const kinds = new Map<string, Set<string>>();
    for (const [id, expected] of moneyBack) {
      const ofPayment = found.json.findings.filter(({ payment_id }: ParsedJson) => payment_id === id);
      expect(ofPayment.map(({ kind }: ParsedJson) => kind)).toEqual(expected);
    }
    const others = found.json.findings.filter(({ payment_id }: ParsedJson) => !moneyBack.has(payment_id));
    for (const { payment_id, kind } of others) {
      const name = planted.get(payment_id) ?? 'not planted';
      kinds.set(name, (kinds.get(name) ?? new Set()).add(kind));
    }
    expect(Object.fromEntries([...kinds].map(([name, of]) => [name, [...of]]))).toEqual({
      'paid at the provider only': ['status differs'],
      'canceled at the provider only': ['status differs'],
      'another amount in the record': ['amount differs'],
      'another currency in the record': ['currency differs'],
      'unknown to the provider': ['not at the provider'],
    });

    const mended = await payctl(['drift', '--fix']);
    expect(mended).toMatchObject({ exitCode: 1, json: { drifted: 29, fixed: 13 } });
    expect(await payctl(['drift'])).toMatchObject({ exitCode: 1, json: { drifted: 16, fixed: 0 } });
    const [atStripe = '', atSquare = ''] = moneyBack.keys();
    expect(await read(service, atStripe, user.options)).toMatchObject({ refunded_cents: 500, disputed: true });
    expect(await read(service, atSquare, user.options)).toMatchObject({ refunded_cents: 100 });
    for (const [id, name] of planted) {
      const fixed = FIXED[name];
      if (fixed) expect(await read(service, id, user.options)).toMatchObject({ status: fixed });
    }
    // payctl stamps its fixes with its own running clock, ahead of the frozen host clock.
    const since = new Date(service.now() + HOUR_MS).toISOString();
    expect(await payctl(['drift', '--since', since])).toMatchObject({ exitCode: 0, json: { checked: 0 } });
  });

  test.each([
    ['provider_a', VISA, '/confirm'],
    ['provider_b', 'SIM-OK', '/capture'],
    ['provider_c', 'cnon:card-nonce-ok', '/v2/payments'],
  ])('ignores an attempt that never reached %s and was marked as failed', async (...row) => {
    const [provider_id, method, path] = row;
    const user = await signIn(service);
    const payment = await createIntent(service, user, { provider_id, payment_method_id: method });
    await service.settle();
    const since = new Date(service.now()).toISOString();
    await service.fault({ provider: provider_id, method: 'POST', path, action: 'reset' });
    expect((await confirm(service, payment.id, user.options)).status).toBe(202);
    await service.advance(3 * 3_600);
    await service.clearFaults();
    const stands = await read(service, payment.id, { ...(await signIn(service, { user_id: user.userId })).options });
    expect(stands).toMatchObject({ status: 'failed' });
    const drift = await payctl(['drift', '--since', since]);
    expect(drift.json.findings.filter(({ payment_id }: ParsedJson) => payment_id === payment.id)).toEqual([]);
    expect(drift.json.checked).toBeGreaterThan(0);
  });

  test('has a counterpart for a single payment: reconcile, by our id or the provider’s', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await confirmInBrowser(service, payment, VISA);
    expect(await payctl(['reconcile', payment.provider_payment_id])).toMatchObject({
      exitCode: 0,
      json: { payment_id: payment.id, after: 'succeeded', outcome: 'stored' },
    });
    expect((await payctl(['reconcile', payment.id])).json).toMatchObject({ before: 'succeeded', outcome: 'same' });
    await rewritten(payment, { totalCents: 1 });
    expect(await payctl(['reconcile', payment.id])).toMatchObject({ exitCode: 1, json: { outcome: 'mismatch' } });
  });
});

describe('payctl for a payment whose creation got no response', () => {
  const service = withHost({ frozen: true });
  const payctl = payctlOf(service);
  const START = { total_cents: 2500, currency: 'USD' };

  const unanswered = async (user: User): Promise<string> => {
    await service.fault({ provider: 'provider_a', path: '/v1/payment_intents', action: 'error_500' });
    const answer = await service.post('/payments/intents', START, user.options);
    return answer.body.details.payment_id;
  };

  test('drift finds the payment once it is stuck, and reconcile finishes the creation or says why it is unfinished', async () => {
    const user = await signIn(service);
    const id = await unanswered(user);
    const early = await spawned(service.host().baseUrl, ['reconcile', id]);
    expect(early).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is being created') });
    expect(await payctl(['drift'])).toMatchObject({ exitCode: 0, json: { checked: 0, drifted: 0 } });

    await service.advance(40 * MINUTE_SECONDS);
    const found = { payment_id: id, kind: 'creation unfinished', here: 'creating' };
    const { checks } = (await payctl(['doctor'])).json;
    expect(checks.find(({ check }: ParsedJson) => check === 'creations')).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining(id),
    });
    expect(await payctl(['drift'])).toMatchObject({ exitCode: 1, json: { checked: 1, findings: [found] } });
    expect(await payctl(['drift', '--fix'])).toMatchObject({ exitCode: 1, json: { fixed: 0, findings: [found] } });
    expect(await payctl(['reconcile', id])).toMatchObject({
      exitCode: 1,
      json: { after: 'creating', outcome: expect.stringContaining('PROVIDER_ERROR'), finding: found },
    });

    await service.clearFaults();
    expect(await payctl(['reconcile', id])).toMatchObject({
      exitCode: 0,
      json: { before: 'creating', after: 'requires_payment_method', outcome: 'created', finding: null },
    });
    expect(await payctl(['drift'])).toMatchObject({ exitCode: 0, json: { checked: 1, drifted: 0 } });
    expect((await atProvider(service, id)).intents).toHaveLength(1);
    expect(await confirm(service, id, { ...user.options, body: { payment_method_id: VISA } })).toMatchObject({
      status: 200,
    });
  });

  test('reconcile removes the payment if the provider refuses it, and reports the refusal', async () => {
    const id = await unanswered(await signIn(service));
    await service.advance(2 * MINUTE_SECONDS);
    await service.clearFaults();
    await changeTable(service, { put: { ...(await storedPayment(service, id)), methodRef: 'pm_never_there' } });
    expect(await payctl(['reconcile', id])).toMatchObject({
      exitCode: 0,
      json: { before: 'creating', after: 'removed', outcome: expect.stringContaining('VALIDATION_ERROR') },
    });
  });
});

describe('payctl clock', () => {
  const service = withHost({ frozen: true });

  test.each([
    ['90', 90],
    ['90m', 90 * MINUTE_SECONDS],
    ['2h', 120 * MINUTE_SECONDS],
    ['3d', 3 * DAY_SECONDS],
    ['1w', 7 * DAY_SECONDS],
  ])('advance %s moves the clock by %i seconds', async (duration, seconds) => {
    const before = service.now();
    const moved = await payctlOf(service)(['clock', 'advance', duration]);
    expect((Date.parse(moved.json.now) - before) / SECOND_MS).toBe(seconds);
  });

  test('advance refuses invalid text, and moves nothing', async () => {
    const before = service.now();
    const refused = await spawned(service.host().baseUrl, ['clock', 'advance', '3 days']);
    expect(refused).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: '3 days is not a duration: use 90, 15m, 3h, 2d or 1w\n',
    });
    expect(service.now()).toBe(before);
  });
});

describe('payctl with an unknown Square location', () => {
  const service = withHost({ frozen: true, env: { PROVIDER_C_LOCATION_ID: 'ELSEWHERE' } });

  test('doctor reports that the currency of the location cannot be read', async () => {
    const { exitCode, json } = await payctlOf(service)(['doctor']);
    expect(exitCode).toBe(1);
    expect(json.checks.find(({ check }: ParsedJson) => check === 'provider_c')).toMatchObject({
      state: 'fail',
      detail: 'the currency of its location cannot be read: NOT_FOUND',
    });
  });
});
