import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { DEFAULT_ID } from '../../infra/deploy/build.ts';
import { STAGE_THROTTLE, throttleOf } from '../../infra/deploy/stacks/throttling.ts';
import { createCors } from '../../infra/local/gateway/cors.ts';
import { type Resource, synthesize } from './synthesized.ts';

const ORIGIN = 'https://shop.example';
const { ofType, functionOf, words, stacks } = synthesize({ env: { ALLOWED_ORIGINS: ORIGIN } });

const keyOf = ({ method, path }: (typeof endpoints)[number]): string => `${method} ${path}`;
const only = (found: readonly Resource[]): Resource => {
  expect(found).toHaveLength(1);
  return found[0] as Resource;
};
const stage = only(ofType('AWS::ApiGatewayV2::Stage'));

describe('the HTTP API', () => {
  test('has the catalogue’s routes and a default route', () => {
    const keys = ofType('AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties.RouteKey);
    expect(keys.sort()).toEqual([...endpoints.map(keyOf), '$default'].sort());
  });

  test.each([
    ...endpoints.map((endpoint) => [keyOf(endpoint), endpoint.id, endpoint.path]),
    ['$default', DEFAULT_ID, ''],
  ])('routes %s to the function %s and lets the gateway call that function', (key, id, path) => {
    const route = only(ofType('AWS::ApiGatewayV2::Route').filter(({ Properties }) => Properties.RouteKey === key));
    const lambda = functionOf(id ?? '');
    const integration = only(
      ofType('AWS::ApiGatewayV2::Integration').filter(
        ({ stack, logicalId }) =>
          stack === route.stack && words(route.Properties.Target) === `integrations/${logicalId.slice(0, -8)}`,
      ),
    );
    expect(integration.Properties).toMatchObject({ IntegrationType: 'AWS_PROXY', PayloadFormatVersion: '2.0' });
    expect(integration.Properties.IntegrationUri).toEqual({ 'Fn::GetAtt': [lambda.logicalId, 'Arn'] });
    const permission = only(
      ofType('AWS::Lambda::Permission').filter(
        ({ stack, Properties }) =>
          stack === lambda.stack &&
          Properties.Principal === 'apigateway.amazonaws.com' &&
          Properties.FunctionName['Fn::GetAtt']?.[0] === lambda.logicalId,
      ),
    );
    expect(permission.Properties.Action).toBe('lambda:InvokeFunction');
    expect(JSON.stringify(permission.Properties.SourceArn)).toContain(`/*/*${path}"`);
  });

  test('has function URLs only for provider webhooks, in addition to their routes', () => {
    const byProvider = endpoints.filter(({ auth }) => auth === 'provider-signature');
    expect(byProvider.length).toBeGreaterThan(0);
    const targets = ofType('AWS::Lambda::Url').map(({ Properties }) => words(Properties.TargetFunctionArn));
    expect(targets).toEqual(byProvider.map(({ id }) => `${functionOf(id).logicalId.slice(0, -8)}.Arn`));
  });

  test('limits the request rate of the stage, and of each route with its own limits', () => {
    expect(stage.Properties.DefaultRouteSettings.ThrottlingRateLimit).toBeGreaterThan(0);
    expect(stage.Properties.DefaultRouteSettings.ThrottlingBurstLimit).toBeGreaterThan(0);
    const limits = stage.Properties.RouteSettings;
    const differ = endpoints.filter((endpoint) => throttleOf(endpoint) !== STAGE_THROTTLE);
    expect(Object.keys(limits).sort()).toEqual(differ.map(keyOf).sort());
    expect(differ.length).toBeLessThan(endpoints.length / 2);
    for (const key of Object.keys(limits)) expect(limits[key].ThrottlingRateLimit, key).toBeGreaterThan(0);
  });

  test('has no route with a looser limit than its callers need', () => {
    const limitOf = (endpoint: (typeof endpoints)[number]): number =>
      (stage.Properties.RouteSettings[keyOf(endpoint)] ?? stage.Properties.DefaultRouteSettings).ThrottlingRateLimit;
    const mostOf = (isOfKind: (endpoint: (typeof endpoints)[number]) => boolean): number =>
      Math.max(...endpoints.filter(isOfKind).map(limitOf));
    expect({
      public: mostOf(({ auth }) => auth === 'public'),
      admin: mostOf(({ auth, rateClass }) => auth === 'platform-admin' && rateClass === 'by caller'),
      money: mostOf(({ rateClass }) => rateClass === 'money'),
      provider: mostOf(({ auth }) => auth === 'provider-signature'),
      write: mostOf(({ auth, method }) => auth !== 'provider-signature' && method !== 'GET'),
      read: mostOf(({ method }) => method === 'GET'),
    }).toEqual({ public: 50, admin: 20, money: 100, provider: 500, write: 300, read: 1_000 });
  });

  test('gives captures and refunds separate rate limits, also for service keys', () => {
    const own = endpoints.filter(({ rateClass }) => rateClass === 'money');
    expect(own.map(keyOf).sort()).toEqual(['POST /payments/{id}/capture', 'POST /payments/{id}/refunds']);
    for (const endpoint of own) {
      expect(stage.Properties.RouteSettings[keyOf(endpoint)]).toEqual({
        ...{ ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
      });
    }
  });

  test('creates its stage after all of its routes', () => {
    expect(stacks.at(-1)).toBe(stage.stack);
    const routes = ofType('AWS::ApiGatewayV2::Route').map(({ stack }) => stack);
    expect(routes).not.toContain(stage.stack);
  });

  test("logs the route's key and the caller's address, but neither path nor query", () => {
    const format: string = stage.Properties.AccessLogSettings.Format;
    expect(JSON.parse(format)).toMatchObject({
      routeKey: '$context.routeKey',
      sourceIp: '$context.identity.sourceIp',
    });
    expect(format).not.toMatch(/path|query|userAgent/i);
  });

  test('responds to preflights as the local host does', () => {
    const { CorsConfiguration: cors } = only(ofType('AWS::ApiGatewayV2::Api')).Properties;
    const message = new IncomingMessage(new Socket());
    message.method = 'OPTIONS';
    message.headers = { origin: ORIGIN, 'access-control-request-method': 'POST' };
    const local = createCors([ORIGIN]);
    const sorted = (text: string | undefined): readonly string[] => (text ?? '').split(',').sort();
    const preflight = local.preflight(message) ?? {};
    expect(cors.AllowOrigins).toEqual([preflight['access-control-allow-origin']]);
    expect([...cors.AllowMethods].sort()).toEqual(sorted(preflight['access-control-allow-methods']));
    expect([...cors.AllowHeaders].sort()).toEqual(sorted(preflight['access-control-allow-headers']));
    expect(String(cors.MaxAge)).toBe(preflight['access-control-max-age']);
    expect([...cors.ExposeHeaders].sort()).toEqual(sorted(local.headers(message)['access-control-expose-headers']));
    expect(cors.AllowCredentials).toBeUndefined();
  });
});
