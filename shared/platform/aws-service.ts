import { crc32 } from 'node:zlib';
import type { Environment } from '../core/setting.ts';
import { type HttpReply, type SendPost, sendPost } from './aws-post.ts';
import { openRetries } from './aws-retries.ts';
import { awsSignedHeaders } from './aws-signature.ts';

/**
 * The thin AWS client: the operations of a service by its JSON protocol, signed, over kept-alive connections. It does what
 * the SDK's clients do for this service's functions, in a fraction of their code: a function starts sooner.
 */
export interface AwsSite {
  /** Region, credentials and endpoints, in the variables that Lambda and the SDK use. Read at each request. */
  readonly env: Environment;
  /** The longest silence of a connection, 5 s by default. */
  readonly timeoutMs?: number;
  /** Over HTTP by default. */
  readonly send?: SendPost | undefined;
}

/**
 * Calls an operation. @returns its answer, as AWS documents it @throws an error with the name and the fields of the refusal
 */
export type AwsOperation = <Answer>(operation: string, input: object) => Promise<Answer>;

/** Tries and waits are those of the SDK's clients. */
const MOST = { tries: 3, waitMs: 50 } as const;
const SERVICES = {
  dynamodb: { target: 'DynamoDB_20120810', json: '1.0', variable: 'DYNAMODB', retries: { tries: 4, waitMs: 25 } },
  sqs: { target: 'AmazonSQS', json: '1.0', variable: 'SQS', retries: MOST },
  events: { target: 'AWSEvents', json: '1.1', variable: 'EVENTBRIDGE', retries: MOST },
  secretsmanager: { target: 'secretsmanager', json: '1.1', variable: 'SECRETS_MANAGER', retries: MOST },
} as const;

const TIMEOUT_MS = 5_000;

export const openAwsService = (service: keyof typeof SERVICES, site: AwsSite): AwsOperation => {
  const { target: prefix, json, variable, retries } = SERVICES[service];
  const retried = openRetries(retries);
  const endpointOf = openEndpoints();
  /** How far the clock of the service is ahead of this machine's, where the difference matters. */
  let skewMs = 0;

  const send = async (target: string, body: string): Promise<HttpReply> => {
    const { env, timeoutMs = TIMEOUT_MS, send: sendOne = sendPost } = site;
    const given = env[`AWS_ENDPOINT_URL_${variable}`] || env['AWS_ENDPOINT_URL'];
    const url = endpointOf(given || regionalEndpoint(service, regionOf(env)));
    const headers = { 'content-type': `application/x-amz-json-${json}`, 'x-amz-target': target };
    const signed = awsSignedHeaders(
      { url, headers, body },
      { service, ...credentialsOf(env) },
      new Date(Date.now() + skewMs),
    );
    return sendOne({ url, headers: { ...signed, ...traceHeader(env) }, body, timeoutMs });
  };

  const attempt = async (target: string, body: string) => {
    const signedWith = skewMs;
    const reply = await send(target, body);
    const measured = Date.parse(reply.headers.date ?? '') - Date.now();
    if (Math.abs(measured - skewMs) >= SKEW_MS) skewMs = measured;
    checkSum(reply);
    if (reply.status === OK) return parsed(reply.body.toString('utf8') || '{}');
    throw refusalOf(reply, Math.abs(skewMs - signedWith) >= SKEW_MS);
  };

  return (operation, input) => {
    const [target, body] = [`${prefix}.${operation}`, JSON.stringify(input, bytesToBase64)];
    return retried(() => attempt(target, body));
  };
};

const OK = 200;
/** AWS accepts a difference of 5 minutes; the SDK corrects from 4. */
const SKEW_MS = 240_000;

/** Remembers the last address, which requests rarely change. */
const openEndpoints = () => {
  let last: { readonly address: string; readonly url: URL } | undefined;
  return (address: string): URL => {
    if (last?.address === address) return last.url;
    const url = new URL(address);
    url.pathname = url.pathname.replace(/\/*$/, '/');
    last = { address, url };
    return url;
  };
};

const regionalEndpoint = (service: string, region: string): string =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

const regionOf = (env: Environment): string => required(env, 'AWS_REGION');

const credentialsOf = (env: Environment) => ({
  region: regionOf(env),
  accessKeyId: required(env, 'AWS_ACCESS_KEY_ID'),
  secretAccessKey: required(env, 'AWS_SECRET_ACCESS_KEY'),
  sessionToken: env['AWS_SESSION_TOKEN'],
});

const required = (env: Environment, name: string): string => {
  const value = env[name];
  if (value) return value;
  throw new Error(`${name} is not set`);
};

/** Lambda stops a loop of functions that it recognizes by this header. */
const traceHeader = ({ AWS_LAMBDA_FUNCTION_NAME: name, _X_AMZN_TRACE_ID: trace }: Environment) =>
  name && trace ? { 'x-amzn-trace-id': trace } : {};

const checkSum = ({ headers, body }: HttpReply): void => {
  const sum = headers['x-amz-crc32'];
  if (sum === undefined || Number(sum) === crc32(body)) return;
  throw Object.assign(new Error('the answer does not have the checksum of its header'), { name: 'DamagedAnswer' });
};

const SECOND_MS = 1_000;

/** An answer of a proxy or a load balancer may be no JSON. */
const refusalOf = ({ status, headers, body }: HttpReply, isOtherClock: boolean): Error => {
  const { __type, code, message, Message, ...fields } = fieldsOf(body.toString('utf8'));
  const [type = ''] = String(__type ?? code ?? headers['x-amzn-errortype'] ?? `Http${status}`).split(/[,:]/);
  const name = type.split('#').at(-1) ?? '';
  const retryAfterMs = Number(headers['x-amz-retry-after']) || Number(headers['retry-after']) * SECOND_MS || undefined;
  const isClockCorrected = isOtherClock && CLOCK_REFUSALS.has(name);
  const error = new Error(String(message ?? Message ?? 'no message'));
  return Object.assign(error, { ...fields, name, status, retryAfterMs, isClockCorrected });
};

const CLOCK_REFUSALS: ReadonlySet<string> = new Set([
  'AccessDeniedException',
  'AuthFailure',
  'InvalidSignatureException',
  'RequestExpired',
  'RequestInTheFuture',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);

const fieldsOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return { ...parsed(text) };
  } catch {
    return {};
  }
};

/** JSON has no bytes: AWS takes and gives them as base64. */
function bytesToBase64(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const given = this[name];
  return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : value;
}

/** DynamoDB marks bytes by the names B and BS; in other answers no text has such a name. */
const parsed = (text: string) => (/"BS?":/.test(text) ? JSON.parse(text, base64ToBytes) : JSON.parse(text));

const base64ToBytes = (name: string, value: unknown): unknown => {
  if (name === 'B' && typeof value === 'string') return bytesOf(value);
  return name === 'BS' && Array.isArray(value) ? value.map((text) => bytesOf(String(text))) : value;
};

const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));
