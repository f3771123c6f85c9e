import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Environment } from '../../shared/core/setting.ts';
import { parseSettings, SettingsError } from '../../shared/core/settings.ts';
import { outboundEventOf } from '../../shared/event-log/outbound-event.ts';
import { CANONICAL_EVENTS } from '../../shared/platform/bus-event.ts';
import { PROVIDER_EVENT_NAMES } from '../../shared/providers/event-names.ts';
import { ACTED_ON_EVENTS } from '../../shared/providers/event-port.ts';
import { checkedSettings, checkedTargets } from '../../shared/webhooks/checked-targets.ts';
import { secondsUntilNext } from '../../shared/webhooks/deliver-webhook.ts';
import { isTargetVariable, parseTargets, switchesOff, wants } from '../../shared/webhooks/webhook-targets.ts';
import { HOSTILE_URLS } from '../builders/hostile-urls.ts';

const SECRET = 'whsec_bG9jYWwtd2ViaG9vay1zZWNyZXQtMDAwMDAwMDA=';
const ON = { EXTERNAL_WEBHOOKS_ENABLED: 'true' };
const URL_1 = 'https://hooks.example/in';
/** The settings of a node that receives events. */
const NODE_1 = { ...ON, WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: URL_1 };

const mistakesIn = (read: () => unknown): readonly string[] => {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.mistakes;
    throw error;
  }
};
const mistakes = (env: Environment): readonly string[] => mistakesIn(() => parseTargets(env, false));

describe('the webhook targets', () => {
  test('are absent without settings, and if webhooks are not enabled', () => {
    expect(parseTargets({}, false)).toEqual([]);
    expect(parseTargets({ WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: URL_1 }, false)).toEqual([]);
    expect(parseTargets({ EXTERNAL_WEBHOOK_URLS: URL_1 }, false)).toEqual([]);
    expect(parseTargets({ ...ON, WEBHOOK_1_URL: '', WEBHOOK_1_EVENTS: ' ' }, false)).toEqual([]);
  });

  test.each([undefined, '', 'false'])('include a node only if it is enabled, not with WEBHOOK_1_ENABLED=%s', (said) => {
    expect(parseTargets({ ...NODE_1, WEBHOOK_1_ENABLED: said }, false)).toEqual([]);
    expect(parseTargets(NODE_1, false)).toMatchObject([{ name: 'WEBHOOK_1' }]);
  });

  test.each<[string, Environment, readonly string[]]>([
    ['nothing is configured', {}, []],
    ['every target receives', NODE_1, []],
    ['a node is not enabled', { ...NODE_1, WEBHOOK_2_URL: URL_1 }, ['WEBHOOK_2_ENABLED']],
    ['a node is disabled', { ...NODE_1, WEBHOOK_1_ENABLED: 'false' }, ['WEBHOOK_1_ENABLED']],
    ['webhooks are off', { ...NODE_1, EXTERNAL_WEBHOOKS_ENABLED: '' }, ['EXTERNAL_WEBHOOKS_ENABLED']],
    ['only a URL is set', { WEBHOOK_3_URL: URL_1 }, ['EXTERNAL_WEBHOOKS_ENABLED', 'WEBHOOK_3_ENABLED']],
    ['the older form is off', { EXTERNAL_WEBHOOK_URLS: URL_1 }, ['EXTERNAL_WEBHOOKS_ENABLED']],
    ['the node is not scanned', { ...ON, WEBHOOK_SCAN_MAX: '1', WEBHOOK_2_URL: URL_1 }, []],
  ])('list the variables that must be true to enable a configured URL: %s', (_case, env, expected) => {
    expect(switchesOff(env)).toEqual(expected);
  });

  test('include each numbered node with its own settings', () => {
    const env = {
      ...NODE_1,
      WEBHOOK_2_ENABLED: 'true',
      WEBHOOK_2_URL: 'https://two.example:8443/in?key=1',
      WEBHOOK_2_EVENTS: 'payment.*, provider_a:*,',
      WEBHOOK_2_EVENT_MODE: 'both',
      WEBHOOK_2_SECRET: `${SECRET}, whsec_b2xk`,
      WEBHOOK_2_FORMAT: 'chat',
      WEBHOOK_3_ENABLED: 'false',
      WEBHOOK_3_URL: 'https://three.example',
    };
    expect(parseTargets(env, false)).toEqual([
      { name: 'WEBHOOK_1', url: URL_1, filters: ['all'], mode: 'canonical', secrets: [], format: 'event' },
      {
        name: 'WEBHOOK_2',
        url: 'https://two.example:8443/in?key=1',
        filters: ['payment.*', 'provider_a:*'],
        mode: 'both',
        secrets: [SECRET, 'whsec_b2xk'],
        format: 'chat',
      },
    ]);
  });

  test('are read up to WEBHOOK_SCAN_MAX, by default ten', () => {
    const nodes = [1, 3, 10, 11, 12].map((n) => ({ [`WEBHOOK_${n}_URL`]: URL_1, [`WEBHOOK_${n}_ENABLED`]: 'true' }));
    const env = Object.assign({ ...ON }, ...nodes);
    const names = (max: string) => parseTargets({ ...env, WEBHOOK_SCAN_MAX: max }, false).map(({ name }) => name);
    expect(names('')).toEqual(['WEBHOOK_1', 'WEBHOOK_3', 'WEBHOOK_10']);
    expect(names('2')).toEqual(['WEBHOOK_1']);
    expect(names('11')).toEqual(['WEBHOOK_1', 'WEBHOOK_3', 'WEBHOOK_10', 'WEBHOOK_11']);
    expect(names('0')).toEqual([]);
  });

  test('get raw events without a signature if they are set in the older form', () => {
    const older = { EXTERNAL_WEBHOOK_URLS: `${URL_1}, https://two.example`, EXTERNAL_WEBHOOK_EVENTS: 'payment.*' };
    const common = { filters: ['payment.*'], mode: 'raw', secrets: [], format: 'event' };
    expect(parseTargets({ ...NODE_1, ...older }, false).slice(1)).toEqual([
      { ...common, name: 'EXTERNAL_WEBHOOK_1', url: URL_1 },
      { ...common, name: 'EXTERNAL_WEBHOOK_2', url: 'https://two.example' },
    ]);
    expect(parseTargets({ ...ON, EXTERNAL_WEBHOOK_URLS: URL_1 }, false)).toMatchObject([{ filters: ['all'] }]);
  });

  test('receive readable messages if they are at a known chat service, unless configured otherwise', () => {
    const url = 'https://hooks.slack.com/services/T0/B0/x';
    const format = (more: Environment = {}) =>
      parseTargets({ ...NODE_1, WEBHOOK_1_URL: url, ...more }, false).map((target) => target.format);
    expect(format()).toEqual(['chat']);
    expect(format({ WEBHOOK_1_FORMAT: 'event' })).toEqual(['event']);
    expect(format({ WEBHOOK_1_URL: 'https://hooks.slack.com.example/in' })).toEqual(['event']);
  });

  test.each<[string, string]>([
    ['EXTERNAL_WEBHOOKS_ENABLED', 'yes'],
    ['WEBHOOK_SCAN_MAX', 'ten'],
    ['WEBHOOK_SCAN_MAX', '101'],
    ['WEBHOOK_1_ENABLED', '1'],
    ['WEBHOOK_1_URL', 'hooks.example'],
    ['WEBHOOK_1_URL', 'http://hooks.example'],
    ['WEBHOOK_1_URL', 'https://user:password@hooks.example'],
    ['WEBHOOK_1_EVENTS', 'payment.*;customer.*'],
    ['WEBHOOK_1_EVENT_MODE', 'all'],
    ['WEBHOOK_1_SECRET', 'secret'],
    ['WEBHOOK_1_SECRET', 'whsec_'],
    ['WEBHOOK_1_SECRET', `${SECRET},whsec_no base64`],
    ['WEBHOOK_1_FORMAT', 'xml'],
    ['EXTERNAL_WEBHOOK_URLS', `${URL_1},http://two.example`],
    ['EXTERNAL_WEBHOOK_EVENTS', 'a b'],
  ])('report %s=%s as the only mistake, in one line', (name, value) => {
    const found = mistakes({ WEBHOOK_1_URL: URL_1, [name]: value });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${name}: [^\\n]+$`));
  });

  test.each([
    ['payment.success', 'payment.succeeded'],
    ['payments.*', 'payment.*'],
    ['Payment.*', 'payment.*'],
    ['ALL', 'all'],
    ['customer.create', 'customer.created'],
    ['payment_intent.succeded', 'payment_intent.succeeded'],
    ['PAYMENT.CAPTURE.COMPLETE', 'PAYMENT.CAPTURE.COMPLETED'],
    ['provider_e:*', 'provider_a:*'],
  ])('refuse the filter %s, and suggest %s', (filter, suggested) => {
    const node = { ...ON, WEBHOOK_1_URL: URL_1, WEBHOOK_1_EVENTS: `all,${filter}` };
    const mistake = `entry 2 matches no event or provider; did you mean ${suggested}?`;
    expect(mistakesIn(() => checkedTargets(node, false))).toEqual([`WEBHOOK_1_EVENTS: ${mistake}`]);
    const older = { ...ON, EXTERNAL_WEBHOOK_URLS: URL_1, EXTERNAL_WEBHOOK_EVENTS: `all,${filter}` };
    expect(mistakesIn(() => checkedTargets(older, false))).toEqual([`EXTERNAL_WEBHOOK_EVENTS: ${mistake}`]);
  });

  test('refuse a filter that resembles no event name, without repeating the filter', () => {
    const env = { STAGE: 'dev', WEBHOOK_1_URL: URL_1, WEBHOOK_1_EVENTS: 'canary.canary.canary' };
    const found = mistakesIn(() => checkedSettings(env)).filter((mistake) => mistake.startsWith('WEBHOOK'));
    expect(found).toEqual([
      'WEBHOOK_1_EVENTS: entry 1 matches no event or provider; did you mean all, a pattern such as payment.*, or a slot such as provider_a:*?',
    ]);
  });

  test('are accepted by a running function despite a mistake, so other targets keep working', () => {
    expect(parseTargets({ ...NODE_1, WEBHOOK_1_EVENTS: 'payment.success' }, false)).toHaveLength(1);
  });

  test.each([
    ...['all', '*', '*.created', 'c*.*d', 'payment.*', 'subscription.*,membership.*', 'payment_intent.*', 'invoice.*'],
    ...['PAYMENT.CAPTURE.*', 'charge.dispute.*', 'provider_b:CUSTOMER.DISPUTE.CREATED', 'provider_a:charge.expired'],
    ...['provider_a:*', 'provider_*', 'provider_*:payment.*', 'provider_d:anything', ''],
  ])('accept the filter %s', (filter) => {
    expect(mistakesIn(() => checkedTargets({ ...NODE_1, WEBHOOK_1_EVENTS: filter }, false))).toEqual([]);
  });

  test('accept every event name that an adapter uses', () => {
    const known: readonly string[] = [...ACTED_ON_EVENTS, ...PROVIDER_EVENT_NAMES];
    const sources = ['stripe', 'paypal', 'square'].map((adapter) =>
      readFileSync(new URL(`../../shared/providers/${adapter}/events.ts`, import.meta.url), 'utf8'),
    );
    const names = sources.join().matchAll(/'([a-z_]+(?:\.[a-z_]+)+|[A-Z]+(?:[.-][A-Z-]+)+)'/g);
    expect([...names].map(([, name = '']) => name).filter((name) => !known.includes(name))).toEqual([]);
  });

  test('reveal no value in an error message, because a value could be a secret', () => {
    const canary = 'https://user:canary@hooks.example/canary canary';
    const fields = ['ENABLED', 'URL', 'EVENTS', 'EVENT_MODE', 'SECRET', 'FORMAT'];
    const env = Object.fromEntries(fields.map((field, at) => [`WEBHOOK_${at + 1}_${field}`, canary]));
    const found = mistakes({ ...env, EXTERNAL_WEBHOOK_URLS: canary, EXTERNAL_WEBHOOK_EVENTS: canary });
    expect(found.length).toBeGreaterThan(fields.length);
    expect(found.join()).not.toContain('canary');
  });

  test('require a URL when a node is enabled', () => {
    expect(mistakes({ WEBHOOK_4_ENABLED: 'true' })).toEqual(['WEBHOOK_4_URL: must be a URL']);
    expect(mistakes({ WEBHOOK_4_ENABLED: 'false', WEBHOOK_4_EVENTS: 'all' })).toEqual([]);
  });

  test('are refused at any hostile URL, and the mistake shows only the node’s name', () => {
    const node = { ...NODE_1, WEBHOOK_1_EVENTS: 'all' };
    const taken = HOSTILE_URLS.filter((url) => mistakes({ ...node, WEBHOOK_1_URL: url }).length !== 1);
    expect(taken).toEqual([]);
  });

  test('can have private addresses and http if both are allowed', () => {
    const at = (url: string) => mistakesIn(() => parseTargets({ ...NODE_1, WEBHOOK_1_URL: url }, true));
    expect(at('http://127.0.0.1:3000/_local/sink/default')).toEqual([]);
    expect(at('https://10.0.0.1')).toEqual([]);
    expect(at('ftp://10.0.0.1')).toEqual(['WEBHOOK_1_URL: must begin with https:// or http://']);
    expect(at('http://user@10.0.0.1')).toEqual(['WEBHOOK_1_URL: must not contain credentials']);
  });

  test('are checked with all other settings, and all mistakes are reported together', () => {
    const env = { STAGE: 'x', WEBHOOK_1_URL: 'x', WEBHOOK_2_URL: URL_1, WEBHOOK_2_SECRET: 'x', RATE_LIMITS: 'x' };
    const found = mistakesIn(() => checkedSettings(env));
    expect(found.map((line) => line.split(':')[0])).toEqual([
      'STAGE',
      'RATE_LIMITS',
      'WEBHOOK_1_URL',
      'WEBHOOK_2_SECRET',
    ]);
  });

  test('require secrets of 24 bytes or more in production', () => {
    const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
    const at = (secret: string, stage: 'prod' | 'staging', more: Environment = {}) =>
      mistakesIn(() => parseTargets({ WEBHOOK_1_URL: URL_1, WEBHOOK_1_SECRET: secret, ...more }, false, stage));
    expect(at(secretOf(24), 'prod')).toEqual([]);
    expect(at(secretOf(23), 'staging')).toEqual([]);
    const weak = 'WEBHOOK_1_SECRET: must have at least 24 bytes in prod';
    expect(at(secretOf(23), 'prod')).toEqual([weak]);
    expect(at(`${secretOf(32)},${secretOf(8)}`, 'prod')).toEqual([weak]);
    expect(at(secretOf(23), 'prod', { WEBHOOK_1_URL: 'x' })).toEqual(['WEBHOOK_1_URL: must be a URL', weak]);
  });

  test('are set by variables that differ from all other variables', () => {
    const asked = new Set<string>();
    const env = new Proxy<Environment>({}, { get: (_, name) => void asked.add(String(name)) });
    parseTargets(env, false);
    expect(asked.size).toBe(4 + 10 * 6);
    expect([...asked].filter((name) => !isTargetVariable(name))).toEqual([]);
    const others = ['EXTERNAL_WEBHOOK_TIMEOUT', 'WEBHOOKS_SECRET_ARN', 'PROVIDER_A_WEBHOOK_SECRET', 'WEBHOOK_1_OTHER'];
    expect(others.filter(isTargetVariable)).toEqual([]);
  });
});

describe('the webhook retries', () => {
  const read = ({ retries, delay }: { retries?: string; delay?: string }) =>
    parseSettings({ EXTERNAL_WEBHOOK_MAX_RETRIES: retries, EXTERNAL_WEBHOOK_RETRY_DELAY: delay });

  test('are three, after 5, 10 and 20 s, with a timeout of 10 s each', () => {
    const settings = read({});
    expect(settings).toMatchObject({ EXTERNAL_WEBHOOK_TIMEOUT: 10_000, EXTERNAL_WEBHOOK_ALLOW_PRIVATE: false });
    const plan = {
      retries: settings.EXTERNAL_WEBHOOK_MAX_RETRIES,
      delayMs: settings.EXTERNAL_WEBHOOK_RETRY_DELAY,
      schedule: settings.EXTERNAL_WEBHOOK_RETRY_SCHEDULE,
    };
    expect([1, 2, 3, 4].map((tries) => secondsUntilNext(plan, tries))).toEqual([5, 10, 20, 0]);
  });

  test('are delayed by whole seconds, and never too early', () => {
    expect([1, 2, 3].map((tries) => secondsUntilNext({ retries: 5, delayMs: 700, schedule: [] }, tries))).toEqual([
      1, 2, 3,
    ]);
    expect(secondsUntilNext({ retries: 5, delayMs: 0, schedule: [] }, 1)).toBe(0);
    expect(secondsUntilNext({ retries: 0, delayMs: 5_000, schedule: [] }, 1)).toBe(0);
  });

  test.each([
    ['14', '5000'],
    ['999', '0'],
    ['0', '43000000'],
    ['1', '43000000'],
  ])('can be set to %s retries after %s ms', (retries, delay) => {
    expect(mistakesIn(() => read({ retries, delay }))).toEqual([]);
  });

  test.each([
    ['15', '5000'],
    ['2', '43000000'],
    ['999', '1'],
  ])(
    'cannot be set to %s retries after %s ms, because a queue hides a message for at most 12 hours',
    (retries, delay) => {
      const found = mistakesIn(() => read({ retries, delay }));
      expect(found.map((line) => line.split(':')[0])).toEqual(['EXTERNAL_WEBHOOK_RETRY_DELAY']);
    },
  );
});

describe('the schedule of webhook retries', () => {
  const read = (schedule: string) => parseSettings({ EXTERNAL_WEBHOOK_RETRY_SCHEDULE: schedule });

  test('is empty by default, so the doubling delay applies', () => {
    expect(read('').EXTERNAL_WEBHOOK_RETRY_SCHEDULE).toEqual([]);
  });

  test('replaces the number of retries and their delay', () => {
    const plan = { retries: 3, delayMs: 5_000, schedule: read('5, 900,86400').EXTERNAL_WEBHOOK_RETRY_SCHEDULE };
    expect([1, 2, 3, 4].map((tries) => secondsUntilNext(plan, tries))).toEqual([5, 900, 86_400, 0]);
  });

  test.each(['1', '5,30,120,900,3600,21600,86400', '259200', Array(20).fill('60').join()])('can be %s', (schedule) => {
    expect(mistakesIn(() => read(schedule))).toEqual([]);
  });

  test.each(['0', '-5', '1.5', 'soon', '5;30', '259201', '259200,1', Array(21).fill('60').join()])(
    'cannot be %s',
    (schedule) => {
      expect(mistakesIn(() => read(schedule))).toEqual([
        'EXTERNAL_WEBHOOK_RETRY_SCHEDULE: must be at most 20 delays in whole seconds, together at most 259200',
      ]);
    },
  );
});

describe('the selection of events for a target', () => {
  const canonical = (name: string) =>
    outboundEventOf({
      source: 'payments',
      'detail-type': name,
      detail: { id: `x:1:${name}`, payload: { event: name, provider: 'provider_a', timestamp: '', data: {} } },
    });
  const raw = (rawType: string, type?: string) =>
    outboundEventOf({
      source: 'payments.providers',
      'detail-type': `provider_b:${rawType}`,
      detail: { id: 'x', provider_id: 'provider_b', event_id: 'evt_1', type },
    });

  test.each<[string, string, boolean]>([
    ['all', 'payment.created', true],
    ['payment.*', 'payment.created', true],
    ['payment.created', 'payment.created', true],
    ['*.created', 'customer.created', true],
    ['*', 'customer.created', true],
    ['c*.*d', 'customer.created', true],
    ['payment.*', 'customer.created', false],
    ['payment', 'payment.created', false],
    ['payment.created', 'payment.created.x', false],
    ['*.created', 'payment.created.x', false],
    ['payment.*.*', 'payment.created', false],
    ['ab*ba', 'aba', false],
    ['provider_a:*', 'payment.created', false],
  ])('compares the filter %s with the event %s, and the result is %s', (filter, name, wanted) => {
    expect(wants({ mode: 'canonical', filters: [filter] }, canonical(name))).toBe(wanted);
  });

  test.each<[string, boolean]>([
    ['all', true],
    ['provider_b:PAYMENT.CAPTURE.COMPLETED', true],
    ['provider_b:*', true],
    ['PAYMENT.CAPTURE.*', true],
    ['payment_intent.succeeded', true],
    ['provider_b:payment_intent.*', true],
    ['payment.succeeded', true],
    ['payment.*', true],
    ['provider_a:*', false],
    ['payment.failed', false],
    ['customer.*', false],
  ])('compares the filter %s with every name of a raw event, and the result is %s', (filter, wanted) => {
    const event = raw('PAYMENT.CAPTURE.COMPLETED', 'payment_intent.succeeded');
    expect(wants({ mode: 'raw', filters: [filter] }, event)).toBe(wanted);
  });

  test('includes our events, the providers’ own events or both, depending on the target’s mode', () => {
    const events = [canonical('payment.succeeded'), raw('payment_intent.succeeded', 'payment_intent.succeeded')];
    const taken = (mode: 'raw' | 'canonical' | 'both') =>
      events.filter((event) => wants({ mode, filters: ['payment.succeeded'] }, event)).map(({ kind }) => kind);
    expect(taken('canonical')).toEqual(['canonical']);
    expect(taken('raw')).toEqual(['raw']);
    expect(taken('both')).toEqual(['canonical', 'raw']);
  });

  test('matches a raw event without an interface name only by its provider names', () => {
    const event = raw('CUSTOMER.DISPUTE.CREATED');
    expect(event.aliases).toEqual(['provider_b:CUSTOMER.DISPUTE.CREATED', 'CUSTOMER.DISPUTE.CREATED']);
    expect(wants({ mode: 'raw', filters: ['payment.*', 'customer.*'] }, event)).toBe(false);
  });

  test.each([
    ['payment_intent.succeeded', 'payment.succeeded'],
    ['payment_intent.failed', 'payment.failed'],
    ['payment_intent.canceled', undefined],
    ['payment_intent.processing', undefined],
    ['payment_intent.requires_action', undefined],
    ['payment_method.attached', undefined],
    ['subscription.created', 'subscription.created'],
    ['subscription.updated', 'subscription.updated'],
    ['subscription.deleted', 'subscription.cancelled'],
    ['subscription.trial_will_end', 'subscription.updated'],
    ['invoice.payment_succeeded', 'payment.succeeded'],
    ['invoice.payment_failed', 'payment.failed'],
    ['customer.created', 'customer.created'],
    ['customer.updated', 'customer.updated'],
    ['customer.deleted', undefined],
  ])('translates %s to %s', (type, name) => {
    const names: readonly string[] = CANONICAL_EVENTS;
    const [translated] = raw('X', type).aliases.filter((alias) => alias !== type && names.includes(alias));
    expect(translated ?? (name === type ? type : undefined)).toBe(name);
  });
});
