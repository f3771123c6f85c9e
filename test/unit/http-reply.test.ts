import { describe, expect, test } from 'vitest';
import { DomainError, ERRORS, type ErrorCode } from '../../shared/core/errors.ts';
import { type HttpResponse, render, renderError } from '../../shared/http/reply.ts';

const bodyOf = ({ body }: HttpResponse): unknown => JSON.parse(body);

describe('a reply', () => {
  const reply = { data: { id: 1 }, meta: { total: 3 }, message: 'done', beside: { user_context: {} } };

  test('contains only its data in bare form', () => {
    expect(bodyOf(render(reply, 200, 'bare'))).toEqual({ id: 1 });
    expect(bodyOf(render({ data: [] }, 200, 'bare'))).toEqual([]);
    expect(bodyOf(render({ data: null }, 200, 'bare'))).toEqual({});
  });

  test('contains success, data, meta and message in an envelope', () => {
    expect(bodyOf(render(reply, 200, 'envelope'))).toEqual({
      success: true,
      data: { id: 1 },
      meta: { total: 3 },
      user_context: {},
      message: 'done',
    });
    expect(bodyOf(render({ data: null }, 200, 'envelope'))).toEqual({ success: true, data: null });
    expect(bodyOf(render({ data: undefined, message: 'done' }, 200, 'envelope'))).toEqual({
      success: true,
      message: 'done',
    });
  });

  test('has its endpoint’s status, unless it names its own', () => {
    expect(render({ data: {} }, 201, 'bare').statusCode).toBe(201);
    expect(render({ data: {}, status: 202 }, 200, 'bare').statusCode).toBe(202);
  });

  test('has no body and no type for 204, in either form', () => {
    for (const form of ['bare', 'envelope'] as const) {
      const { body, headers, statusCode } = render({ data: undefined }, 204, form);
      expect([statusCode, body, headers['content-type']]).toEqual([204, '', undefined]);
    }
  });

  test('forbids caching and content sniffing, and carries the headers of the use case', () => {
    const { headers } = render({ data: {}, headers: { 'x-total-count': '3' } }, 200, 'bare');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-total-count': '3',
    });
    expect(headers['strict-transport-security']).toMatch(/max-age=\d{8}/);
  });
});

describe('an error reply', () => {
  test.each(Object.keys(ERRORS) as readonly ErrorCode[])('has the status, text, code and request id of %s', (code) => {
    const response = renderError(new DomainError(code), 'req-1');
    expect(response.statusCode).toBe(ERRORS[code][0]);
    expect(bodyOf(response)).toEqual({ success: false, error: ERRORS[code][1], code, request_id: 'req-1' });
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' });
  });

  test('carries its details', () => {
    const error = new DomainError('PAYMENT_DECLINED', { details: { decline_code: 'lost_card' } });
    expect(bodyOf(renderError(error, 'req-1'))).toMatchObject({ details: { decline_code: 'lost_card' } });
  });

  test('states the retry delay in whole seconds, at least one', () => {
    const after = (retryAfterSeconds: number) =>
      renderError(new DomainError('RATE_LIMITED', { retryAfterSeconds }), 'req-1').headers['retry-after'];
    expect([0, 0.2, 1, 1.2, 59].map(after)).toEqual(['1', '1', '1', '2', '59']);
    expect(renderError(new DomainError('RATE_LIMITED'), 'req-1').headers['retry-after']).toBeUndefined();
  });

  test('shows no part of its cause', () => {
    const cause = new Error('CANARY: table payments-prod is throttled');
    const response = renderError(new DomainError('INTERNAL_ERROR', { cause }), 'req-1');
    expect(JSON.stringify(response)).not.toMatch(/CANARY|payments-prod|\.ts/);
  });
});
