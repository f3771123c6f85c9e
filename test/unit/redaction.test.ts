import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact } from '../../shared/core/redaction.ts';
import { cardNumber } from '../builders/card-number.ts';

const CANARY = 'CANARY-1234-secret-value';

const secretName = fc.constantFrom(
  'client_secret',
  'clientSecret',
  'CLIENT_SECRET',
  'secret',
  'webhook_secret',
  'token',
  'guest_token',
  'accessToken',
  'id_token',
  'password',
  'Authorization',
  'signature',
  'stripe-signature',
  'cvc',
  'card_cvc',
  'cvv2',
  'api_key',
  'apikey',
  'ApiKey',
  'private_key',
  'credentials',
  'number',
  'card_number',
  'cardNumber',
  'pan',
  'client_key',
);
const plainName = fc.constantFrom('id', 'data', 'object', 'note', 'items', 'card', 'metadata', 'billing_details', '0');

/** Nests a value within objects and lists with other values. */
const wrapping: fc.Arbitrary<(value: unknown) => unknown> = fc
  .array(fc.option(plainName, { nil: undefined }), { maxLength: 8 })
  .map(
    (names) => (value) =>
      names.reduce<unknown>((inner, name) => (name ? { [name]: inner, beside: 1 } : [null, inner, 'beside']), value),
  );

const around = fc.constantFrom('', 'paid with ', ' by phone', '"', '(', ', ', '\n', 'x'.repeat(40));

const digits = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((all) => cardNumber(`4${all.slice(1, -1).join('')}`));
const anyCardNumber = fc.integer({ min: 13, max: 19 }).chain(digits);

const textOf = (value: unknown): string => JSON.stringify(redact(value)) ?? '';

describe('the stored copy of a payload', () => {
  test('never includes any value, at any depth, under the name of a secret', () => {
    const secret = fc.tuple(
      secretName,
      fc.constantFrom<unknown>(CANARY, [CANARY], { value: CANARY }, { deep: [{ value: CANARY }] }, 81_549_300_417_291),
    );
    fc.assert(
      fc.property(secret, wrapping, ([name, value], wrapped) => {
        const text = textOf(wrapped({ [name]: value }));
        expect(text).not.toContain('CANARY');
        expect(text).not.toContain('81549300417291');
      }),
    );
  });

  test('never contains a card number, as text or number, with or without groups', () => {
    const grouped = fc.tuple(anyCardNumber, fc.constantFrom('', ' ', '-')).map(([number, gap]) => ({
      number,
      written: number.replaceAll(/(.{4})(?=.)/g, `$1${gap}`),
    }));
    fc.assert(
      fc.property(grouped, around, around, wrapping, (...[{ number, written }, before, after, wrapped]) => {
        const text = textOf(wrapped({ note: `${before} ${written} ${after}`, list: [written, Number(number)] }));
        expect(text.replaceAll(/[ -]/g, '')).not.toContain(number.slice(0, 10));
      }),
    );
  });

  test('keeps a run of digits only if no 13 to 19 adjacent digits pass Luhn’s check', () => {
    const passes = (part: string) => cardNumber(part.slice(0, -1)) === part;
    const parts = (run: string) =>
      [13, 14, 15, 16, 17, 18, 19].flatMap((size) =>
        Array.from({ length: Math.max(0, run.length - size + 1) }, (_, from) => run.slice(from, from + size)),
      );
    fc.assert(
      fc.property(fc.stringMatching(/^\d{11,19}$/), (run) => {
        expect(redact(run) === run).toBe(!parts(run).some(passes));
      }),
      { numRuns: 2_000 },
    );
  });

  test('keeps only the first letter and the domain of an e-mail address', () => {
    fc.assert(
      fc.property(fc.emailAddress(), around, around, wrapping, (...[email, before, after, wrapped]) => {
        const [local = ''] = email.split('@');
        // In a text of asterisks, kept and hidden characters look the same.
        fc.pre(/[^*]/.test(local.slice(1)));
        expect(textOf(wrapped(`${before} ${email} ${after}`))).not.toContain(`${local.slice(1)}@`);
      }),
    );
  });

  test.each([
    'ada.lovelace@example.com',
    "o'brien@example.com",
    'renée@exämple.fr',
    'ada+tag@mail.example.co.uk',
    'a!b#c@example.com',
  ])('does not reveal the owner of %s', (email) => {
    const local = email.split('@')[0] ?? '';
    expect(textOf({ note: `from ${email}.` })).not.toContain(local.slice(1));
  });

  test.each([
    ['4242424242424242', /\d{7}/],
    ['4242 4242 4242 4242', /4242 4242/],
    ['ada.lovelace@example.com', /lovelace@/],
    ['pi_3Nabc_secret_CANARYCANARY', /CANARY/],
  ])('does not leak %s at the end of a truncated text', (secret, leak) => {
    const leaks: string[] = [];
    for (let before = 960; before <= 1_001; before += 1) {
      const text = textOf(`${'x'.repeat(before - 1)} ${secret}`);
      if (leak.test(text)) leaks.push(`at ${before}: ${text.slice(before)}`);
    }
    expect(leaks).toEqual([]);
  });

  test('never contains an e-mail address or a card number as a name', () => {
    const text = textOf({
      metadata: { 'ada.lovelace@example.com': 1, '4242424242424242': 1, '4242 4242 4242 4242': 1 },
    });
    expect(text).not.toContain('lovelace');
    expect(text).not.toMatch(/4242 ?4242/);
  });

  test.each([
    ['pi_3Nabc_secret_CANARY', 'pi_3Nabc_secret_[redacted]'],
    ['https://x.example/?token=CANARY&page=2', 'https://x.example/?token=[redacted]&page=2'],
    ['https://x.example/?a=1&client_secret=CANARY', 'https://x.example/?a=1&client_secret=[redacted]'],
    ['https://x.example/?api_key=CANARY#top', 'https://x.example/?api_key=[redacted]'],
  ])('hides a secret within a text: %s', (given, kept) => {
    expect(redact(given)).toBe(kept);
  });

  test('keeps all other values unchanged', () => {
    const payload = {
      id: 'evt_1',
      amount: 99_999_999,
      created: 1_773_144_000,
      created_ms: 1_773_144_000_124,
      said: 'at 1773144000124',
      livemode: false,
      note: null,
      last4: '4242',
      payment: 'pay_00000000000000000000000a',
      list: [1, 'two', { three: 3 }],
      number: null,
      secret: true,
    };
    expect(redact(payload)).toEqual(payload);
  });

  test('contains only values that a table item can hold, and does not change in a second redaction', () => {
    const payload: unknown = JSON.parse('{"constructor":{"a":1},"tiny":1e-200,"huge":1e300,"note":"ok"}');
    expect(redact(payload)).toEqual({ tiny: '1e-200', huge: '1e+300', note: 'ok' });
    fc.assert(
      fc.property(fc.json(), (text) => {
        const once = redact(JSON.parse(text));
        expect(redact(once)).toEqual(once);
        expect(JSON.stringify(once).isWellFormed()).toBe(true);
      }),
    );
  });

  test('is cut at a maximum depth', () => {
    let payload: unknown = { client_secret: CANARY };
    for (let depth = 0; depth < 200; depth += 1) payload = [payload];
    expect(textOf(payload)).not.toContain('CANARY');
  });
});
