import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
  readonly base64?: boolean;
  readonly sourceIp?: string;
}

/** A gateway event (payload 2.0) with the fields read by the service. */
export const apiEvent = (sent: Sent = {}): APIGatewayProxyEventV2 => {
  const { method = 'POST', path = '/items', query = '', params, headers = {}, body, base64 = false } = sent;
  const { sourceIp = '203.0.113.7' } = sent;
  return {
    version: '2.0',
    routeKey: `${method} ${path}`,
    rawPath: path,
    rawQueryString: query,
    headers: { ...headers },
    queryStringParameters: Object.fromEntries(new URLSearchParams(query)),
    pathParameters: { ...params },
    requestContext: {
      accountId: '000000000000',
      apiId: 'api',
      domainName: 'api.example',
      domainPrefix: 'api',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent: 'test' },
      requestId: 'req-1',
      routeKey: `${method} ${path}`,
      stage: '$default',
      time: '10/Mar/2026:12:00:00 +0000',
      timeEpoch: 0,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    isBase64Encoded: base64,
  };
};

/** A function's context. The service reads only its request id. */
export const apiContext = (): Context => ({
  awsRequestId: 'invocation-1',
  callbackWaitsForEmptyEventLoop: false,
  functionName: 'function',
  functionVersion: '1',
  invokedFunctionArn: 'arn',
  memoryLimitInMB: '256',
  logGroupName: 'group',
  logStreamName: 'stream',
  getRemainingTimeInMillis: () => 10_000,
  done: () => undefined,
  fail: () => undefined,
  succeed: () => undefined,
});
