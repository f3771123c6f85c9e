import type { IncomingMessage } from 'node:http';
import { ACCOUNT } from '../machine/environment.ts';
import type { RouteMatch } from './gateway-routes.ts';

/** A request, to be converted to an HTTP API's event for a function (payload format 2.0). */
export interface GatewayRequest {
  readonly message: IncomingMessage;
  readonly body: Buffer;
  readonly requestId: string;
  readonly now: number;
  /** Percent-encoded, with the prefix of the service, without the query. */
  readonly path: string;
  readonly rawQuery: string;
  readonly match: RouteMatch | undefined;
}

/** The path cannot be decoded, so the gateway refuses the request. */
export class MalformedPath extends Error {}

/** @throws MalformedPath */
export const gatewayEvent = (request: GatewayRequest) => {
  const { message, match, rawQuery, body } = request;
  const headers = joinedHeaders(message);
  const cookies = headers['cookie']?.split(/[;,]\s*/).filter(Boolean);
  delete headers['cookie'];
  // Use the socket's address, never a header, because rate limits count by it.
  const sourceIp = message.socket.remoteAddress ?? '127.0.0.1';
  const forwarded = headers['x-forwarded-for'];
  headers['x-forwarded-for'] = forwarded === undefined ? sourceIp : `${forwarded}, ${sourceIp}`;
  headers['x-forwarded-proto'] ??= 'http';
  headers['x-forwarded-port'] ??= String(message.socket.localPort ?? '');
  const routeKey = match ? `${match.route.method} ${match.route.path}` : '$default';
  const path = decoded(request.path);
  const pathParameters = parametersOf(match);
  const isText = body.length === 0 || isTextType(headers['content-type']);
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: rawQuery,
    ...(cookies && { cookies }),
    headers,
    ...(rawQuery !== '' && { queryStringParameters: joinedQuery(rawQuery) }),
    requestContext: {
      accountId: ACCOUNT,
      apiId: 'local',
      domainName: (headers['host'] ?? '127.0.0.1').replace(/:\d+$/, ''),
      domainPrefix: 'local',
      http: {
        method: message.method ?? 'GET',
        path,
        protocol: `HTTP/${message.httpVersion}`,
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: request.requestId,
      routeKey,
      stage: '$default',
      time: accessLogTime(request.now),
      timeEpoch: request.now,
    },
    ...(pathParameters && { pathParameters }),
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: !isText,
  };
};

/** All headers by lower-case name. Repeated headers are joined by commas. */
const joinedHeaders = ({ rawHeaders }: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    const value = rawHeaders[at + 1] ?? '';
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before},${value}`;
  }
  return headers;
};

const joinedQuery = (rawQuery: string): Record<string, string> => {
  const joined: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(rawQuery)) {
    const before = joined[name];
    joined[name] = before === undefined ? value : `${before},${value}`;
  }
  return joined;
};

const parametersOf = (match: RouteMatch | undefined): Record<string, string> | undefined =>
  match && match.parameters.length > 0
    ? Object.fromEntries(match.parameters.map(([name, value]) => [name, decoded(value)]))
    : undefined;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new MalformedPath(text);
  }
};

/**
 * Content types passed on as text by an HTTP API. All other bodies are base64, including forms and bodies without a
 * type.
 */
const isTextType = (contentType: string | undefined): boolean => {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return type.startsWith('text/') || ['application/json', 'application/xml', 'application/javascript'].includes(type);
};

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** A time in the format of an access log, such as 12/Mar/2020:19:03:58 +0000. */
const accessLogTime = (now: number): string => {
  const [year, month, day, time] = new Date(now).toISOString().split(/[-T.]/);
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${time} +0000`;
};
