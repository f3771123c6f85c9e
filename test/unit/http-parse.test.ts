import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { booleanParameter, organizationParameter } from '../../shared/http/fields.ts';
import { jsonBodyOf, requireReadable } from '../../shared/http/json-body.ts';
import { apiVersion, checkAll, MAX_BODY_BYTES, queryOf, rawBodyOf } from '../../shared/http/parse.ts';
import { apiEvent } from '../builders/api-event.ts';
import { refusalOf } from '../builders/refusal.ts';

const json = (text: string, type?: string): unknown => {
  const parsed = jsonBodyOf({ raw: Buffer.from(text), isDecoded: true, headers: { 'content-type': type } });
  requireReadable(parsed);
  return parsed;
};

describe('a request body', () => {
  test('is accepted up to 256 KB, plain or as base64', () => {
    const most = 'x'.repeat(MAX_BODY_BYTES);
    expect(rawBodyOf(apiEvent({ body: most })).byteLength).toBe(256 * 1_024);
    expect(refusalOf(() => rawBodyOf(apiEvent({ body: `${most}x` }))).code).toBe('PAYLOAD_TOO_LARGE');
    const packed = (bytes: number) => apiEvent({ body: Buffer.alloc(bytes).toString('base64'), base64: true });
    expect(rawBodyOf(packed(MAX_BODY_BYTES)).byteLength).toBe(MAX_BODY_BYTES);
    expect(refusalOf(() => rawBodyOf(packed(MAX_BODY_BYTES + 1))).code).toBe('PAYLOAD_TOO_LARGE');
  });

  test('is counted in bytes, not in characters', () => {
    expect(refusalOf(() => rawBodyOf(apiEvent({ body: 'é'.repeat(MAX_BODY_BYTES / 2 + 1) }))).code).toBe(
      'PAYLOAD_TOO_LARGE',
    );
  });

  test('is decoded from base64 byte for byte', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const raw = rawBodyOf(apiEvent({ body: Buffer.from(bytes).toString('base64'), base64: true }));
        expect(raw.equals(Buffer.from(bytes))).toBe(true);
      }),
    );
  });

  test('is an empty object if it has no content, for any content type', () => {
    expect(rawBodyOf(apiEvent()).byteLength).toBe(0);
    expect(json('')).toEqual({});
    expect(json('', 'text/plain')).toEqual({});
  });

  test.each([
    undefined,
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
    'application/merge-patch+json',
    'application/vnd.api+json',
  ])('is read with the type %j', (type) => {
    expect(json('{"a":1}', type)).toEqual({ a: 1 });
  });

  test.each([
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    '',
    'json',
  ])('is refused with the type %j', (type) => {
    expect(refusalOf(() => json('{"a":1}', type)).code).toBe('UNSUPPORTED_MEDIA_TYPE');
  });

  test.each([
    ['{', 'The JSON of the body ends too early, at line 1, column 2'],
    [' ', 'The JSON of the body ends too early, at line 1, column 2'],
    ['{"a":1,}', 'The body is not valid JSON at line 1, column 8'],
    ["{'a':1}", 'The body is not valid JSON at line 1, column 2'],
    ['{\n  "a": NaN\n}', 'The body is not valid JSON at line 2, column 8'],
    ['{"a":1}x', 'The body is not valid JSON at line 1, column 8'],
    ['undefined', 'The body is not valid JSON at line 1, column 1'],
    ['\ufeff', 'The body is not valid JSON at line 1, column 1'],
  ])('is refused as invalid JSON with the place of the mistake: %j', (text, message) => {
    const refusal = refusalOf(() => json(text));
    const [line, column] = (message.match(/\d+/g) ?? []).map(Number);
    expect(refusal).toMatchObject({ code: 'INVALID_JSON', message, details: { line, column } });
  });

  test('never quotes an invalid body', () => {
    const refusal = refusalOf(() => json('{"card_number": "4242424242424242", "cvc": 123,, "name": "Ada"}'));
    expect(refusal.cause).toBeUndefined();
    expect(`${refusal.message} ${JSON.stringify(refusal.details)}`).not.toMatch(/4242|123|Ada|cvc/);
  });

  test.each([
    ['with bytes that are not UTF-8', [0x22, 0xc3, 0x28, 0x22], false],
    ['with an overlong form', [0x22, 0xc0, 0xaf, 0x22], false],
    ['with a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22], false],
    ['with U+FFFD from the gateway', [0x22, 0xef, 0xbf, 0xbd, 0x22], true],
  ])('is refused %s', (_, bytes, isDecoded) => {
    const refusal = refusalOf(() => jsonBodyOf({ raw: Buffer.from(bytes), isDecoded, headers: {} }));
    expect(refusal).toMatchObject({ code: 'INVALID_JSON', message: 'The body is not valid UTF-8' });
  });

  test('may contain U+FFFD as an escape or in its bytes', () => {
    expect(json('"\\ufffd"')).toBe('\ufffd');
    const raw = Buffer.from('"\ufffd"');
    expect(jsonBodyOf({ raw, isDecoded: false, headers: {} })).toBe('\ufffd');
  });

  test.each(['utf8', 'UTF-8', '"utf-8"'])('is read with the charset %s', (charset) => {
    expect(json('{}', `application/json; charset=${charset}`)).toEqual({});
  });

  test.each(['us-ascii', 'iso-8859-1', 'utf-16', 'utf-8-sig', 'utf-8; charset=latin1', ''])(
    'is refused with the charset %j',
    (charset) => {
      expect(refusalOf(() => json('{}', `application/json; charset=${charset}`)).code).toBe('UNSUPPORTED_MEDIA_TYPE');
    },
  );

  test('is refused if it is compressed', () => {
    const sent = (encoding: string) =>
      jsonBodyOf({ raw: Buffer.from('{}'), isDecoded: true, headers: { 'content-encoding': encoding } });
    for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip', 'x']) {
      expect(refusalOf(() => sent(encoding)).code).toBe('UNSUPPORTED_MEDIA_TYPE');
    }
    for (const encoding of ['identity', ' Identity ', '']) expect(sent(encoding)).toEqual({});
  });

  test('has at most ten levels of objects and lists', () => {
    const object = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const list = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(() => json(object(10))).not.toThrow();
    expect(() => json(list(10))).not.toThrow();
    for (const deep of [object(11), list(11), object(20_000), list(100_000)]) {
      expect(refusalOf(() => json(deep))).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ rule: 'max_depth' }] });
    }
  });

  test('is refused with a lone surrogate in a name or value', () => {
    for (const text of ['{"a":{"b":"\\ud800"}}', '{"a":{"\\udc00":1}}', '["\\ud800"]']) {
      expect(refusalOf(() => json(text))).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ rule: 'unicode' }] });
    }
    expect(json('{"a":"💶"}')).toEqual({ a: '💶' });
  });

  test('is read, or refused with the status 400 or 415, for any text and content type', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.option(fc.string(), { nil: undefined }), (text, type) => {
        try {
          json(text, type);
        } catch {
          const { status } = refusalOf(() => json(text, type));
          expect(status === 400 || status === 415).toBe(true);
        }
      }),
    );
  });
});

describe('a request query', () => {
  const schema = z.object({
    a: z.string().optional(),
    color: z.enum(['red', 'GREEN']).default('red'),
    flag: booleanParameter,
    organization_id: organizationParameter.describe('The organization.'),
  });

  test.each([
    ['', {}],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=1&a=2&a=&a=3', { a: '1,2,3' }],
    ['a=one+two&b=%2B', { a: 'one two', b: '+' }],
    ['a=&b&c=&c', {}],
    ['organization_id', { organization_id: '' }],
    ['organization_id=&organization_id=o', { organization_id: 'o' }],
    ['color=RED', { color: 'red' }],
    ['color=Olive&flag=YES', { color: 'Olive', flag: 'yes' }],
    ['a=%E0%A4%A', { a: '\ufffd%A' }],
  ])('is read from %j as %j', (query, expected) => {
    expect(queryOf(apiEvent({ query }), schema)).toEqual(expected);
  });

  test('keeps JavaScript’s special names as plain names', () => {
    const query = queryOf(apiEvent({ query: '__proto__=x&constructor=y' }), schema);
    expect(Object.getPrototypeOf(query)).toBe(Object.prototype);
    expect(Object.keys(query).toSorted()).toEqual(['__proto__', 'constructor']);
  });
});

describe('a parsed request', () => {
  const schemas = {
    params: z.object({ id: z.string().max(3) }),
    query: z.object({ page: z.string().regex(/^\d+$/) }),
    body: z.strictObject({ amount: z.int(), name: z.string() }),
  };

  test('has the values that its schemas return', () => {
    const asked = { params: { id: 'a', more: 1 }, query: { page: '1' }, body: { amount: 1, name: 'x' } };
    expect(checkAll(schemas, asked)).toEqual({ ...asked, params: { id: 'a' } });
  });

  test('has no body if the endpoint declares none', () => {
    expect(
      checkAll({ ...schemas, body: null }, { params: { id: 'a' }, query: { page: '1' }, body: {} }).body,
    ).toBeUndefined();
  });

  test('gets every problem of path, query and body in one response', () => {
    const asked = { params: { id: 'long' }, query: { page: 'x' }, body: { amount: 'x', one: 1, other: 2 } };
    const refusal = refusalOf(() => checkAll(schemas, asked));
    expect(refusal.code).toBe('VALIDATION_ERROR');
    const problems = Array.isArray(refusal.details) ? refusal.details : [];
    expect(problems.map(({ path }) => path).toSorted()).toEqual(['amount', 'id', 'name', 'one', 'other', 'page']);
    expect(problems.every(({ rule, message }) => rule.length > 0 && message.length > 0)).toBe(true);
  });

  test('never shows its values in a problem', () => {
    const secret = 'sk_live_canary';
    const refusal = refusalOf(() =>
      checkAll(schemas, { params: { id: secret }, query: { page: secret }, body: secret }),
    );
    expect(JSON.stringify(refusal.details)).not.toContain(secret);
  });
});

describe('the API version of a request', () => {
  test('is the oldest version by default, else the requested version', () => {
    expect(apiVersion(undefined)).toBe('2026-11-01');
    expect(apiVersion('2027-01-01')).toBe('2027-01-01');
  });

  test.each(['', '1', 'v1', '2026-13-01', '2026-11-01T00:00:00Z', '2026-11-01\n'])('is refused as %j', (header) => {
    expect(refusalOf(() => apiVersion(header)).code).toBe('VALIDATION_ERROR');
  });
});
