import { expect, test } from 'vitest';
import { compileRoutes, type Route } from '../../infra/local/gateway/routes.ts';

const route = (method: Route['method'], path: string): Route => ({
  id: `${method} ${path}`,
  method,
  path,
  timeoutSeconds: 1,
});

const find = compileRoutes([
  route('GET', '/payments/{id}'),
  route('GET', '/payments/guest/{email}'),
  route('POST', '/payments/intents'),
  route('POST', '/payments/{id}'),
  route('GET', '/{kind}/list'),
  route('GET', '/payments/list'),
  route('GET', '/payments'),
]);

test.each([
  ['GET', '/payments', 'GET /payments'],
  ['GET', '/payments/1', 'GET /payments/{id}'],
  ['POST', '/payments/intents', 'POST /payments/intents'],
  ['POST', '/payments/other', 'POST /payments/{id}'],
  ['GET', '/payments/list', 'GET /payments/list'],
  ['GET', '/other/list', 'GET /{kind}/list'],
  ['GET', '/payments/guest/a%40b', 'GET /payments/guest/{email}'],
  ['PUT', '/payments/1', undefined],
  ['GET', '/payments/', undefined],
  ['GET', '/payments/1/', undefined],
  ['GET', '/', undefined],
])('the request %s %s reaches %s', (method, path, id) => {
  expect(find(method, path)?.route.id).toBe(id);
});

test('the parameters of a route are named as they were sent', () => {
  expect(find('GET', '/payments/guest/a%40b')?.parameters).toEqual([['email', 'a%40b']]);
});
