import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

/**
 * AWS Signature Version 4 of POST requests with headers and a body
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 */
export interface Signer {
  /** The service's name in signatures: `dynamodb`. */
  readonly service: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken: string | undefined;
}

export interface UnsignedRequest {
  /** Without a query. */
  readonly url: URL;
  /** Names in lower case. Each header is signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SCOPE_END = 'aws4_request';

/** @param at when the request is sent; AWS accepts a few minutes of difference @returns all headers of the request */
export const awsSignedHeaders = ({ url, headers, body }: UnsignedRequest, signer: Signer, at: Date) => {
  const { service, region, accessKeyId, secretAccessKey, sessionToken } = signer;
  const time = at.toISOString().replaceAll(/[:-]|\.\d+/g, '');
  const all: Record<string, string> = {
    ...headers,
    host: url.host,
    'x-amz-date': time,
    ...(sessionToken && { 'x-amz-security-token': sessionToken }),
  };
  const names = Object.keys(all).sort();
  const signed = names.join(';');
  const lines = names.map((name) => `${name}:${all[name]?.trim().replaceAll(/\s+/g, ' ')}`);
  const canonical = ['POST', escapedPath(url), '', ...lines, '', signed, sha256(body)].join('\n');
  const scope = [time.slice(0, DATE_LENGTH), region, service, SCOPE_END] as const;
  const text = [ALGORITHM, time, scope.join('/'), sha256(canonical)].join('\n');
  const signature = hmac(signingKey(secretAccessKey, scope), text).digest('hex');
  const credential = `${accessKeyId}/${scope.join('/')}`;
  all['authorization'] = `${ALGORITHM} Credential=${credential}, SignedHeaders=${signed}, Signature=${signature}`;
  return all;
};

const DATE_LENGTH = '20000101'.length;

const sha256 = (text: string): string => hash('sha256', text, 'hex');
const hmac = (key: KeyObject, text: string) => createHmac('sha256', key).update(text);

/** The last key of each service: it stays the same until the day, the region or the secret changes. */
const keys = new Map<string, { readonly from: string; readonly key: KeyObject }>();

const signingKey = (secretAccessKey: string, scope: readonly [date: string, string, service: string, string]) => {
  const [, , service] = scope;
  const from = [secretAccessKey, ...scope].join('\n');
  const known = keys.get(service);
  if (known?.from === from) return known.key;
  const secret = createSecretKey(`AWS4${secretAccessKey}`, 'utf8');
  const key = scope.reduce((last, part) => createSecretKey(hmac(last, part).digest()), secret);
  keys.set(service, { from, key });
  return key;
};

/** A signature covers the path with each of its characters escaped once more. */
const escapedPath = ({ pathname }: URL): string =>
  encodeURIComponent(pathname)
    .replaceAll('%2F', '/')
    .replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
