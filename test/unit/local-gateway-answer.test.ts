import { describe, expect, test } from 'vitest';
import { gatewayAnswer } from '../../infra/local/gateway/gateway-answer.ts';

const read = (returned: unknown) => {
  const { status, headers, body } = gatewayAnswer(returned);
  return { status, headers, body: body.toString('utf8') };
};

describe('the return value of a function', () => {
  test('becomes the response, with headers in lower case', () => {
    const returned = { statusCode: 201, headers: { 'X-Count': 3 }, cookies: ['a=1'], body: 'made' };
    expect(read(returned)).toEqual({
      status: 201,
      headers: { 'content-type': 'text/plain;charset=UTF-8', 'x-count': '3', 'set-cookie': ['a=1'] },
      body: 'made',
    });
  });

  test('can have no body', () => {
    expect(read({ statusCode: 204 })).toEqual({ status: 204, headers: {}, body: '' });
  });

  test.each([
    [{ a: 1 }, '{"a":1}'],
    ['text', 'text'],
    [[1], '[1]'],
  ])('means 200 and JSON without a status: %j', (returned, body) => {
    expect(read(returned)).toEqual({ status: 200, headers: { 'content-type': 'application/json' }, body });
  });

  test.each([
    undefined,
    { statusCode: '200' },
    { statusCode: 99 },
    { statusCode: 200, body: {} },
    { statusCode: 200, headers: [] },
    { statusCode: 200, headers: { a: {} } },
    { statusCode: 200, cookies: 'a=1' },
  ])('becomes a 500 if it is malformed: %j', (returned) => {
    expect(read(returned)).toMatchObject({ status: 500, body: '{"message":"Internal Server Error"}' });
  });
});
