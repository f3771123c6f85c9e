interface Sent {
  readonly body?: unknown;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
}

/** API Gateway's event for a request of the demo user. */
export const gatewayRequest = (routeKey: string, { body, pathParameters, idempotencyKey }: Sent) => {
  const [method = '', rawPath = ''] = routeKey.split(' ');
  return {
    ...{ version: '2.0', routeKey, rawPath, rawQueryString: '', isBase64Encoded: false },
    headers: {
      'x-session-id': 'demo-owner',
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    requestContext: { routeKey, requestId: 'bench', http: { method, path: rawPath, sourceIp: '127.0.0.1' } },
    ...(pathParameters && { pathParameters }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
};
