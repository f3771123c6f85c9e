/** @module Renders every response (JSON, bare or envelope, text, files, errors), always with security headers. */

import { type DomainError, ERRORS } from '../core/errors.ts';
import type { FileContent, Reply } from './request.ts';

export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded?: true;
}

export type ResponseForm = 'bare' | 'envelope';

const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
  'referrer-policy': 'no-referrer',
};

/** Renders a non-JSON text, unchanged. */
export const renderText = (text: string, headers: Readonly<Record<string, string>>): HttpResponse => ({
  statusCode: 200,
  headers: { ...SECURITY_HEADERS, ...headers },
  body: text,
});

export const renderFile = ({ body, headers }: FileContent): HttpResponse => ({
  statusCode: 200,
  headers: { ...SECURITY_HEADERS, ...headers },
  body: body.toString('base64'),
  isBase64Encoded: true,
});

/** The only serializer of JSON responses. `bare` sends the data alone, `envelope` wraps it. */
export const render = (reply: Reply, status: number, form: ResponseForm): HttpResponse => {
  const headers = { ...SECURITY_HEADERS, ...reply.headers };
  const code = reply.status ?? status;
  if (code === 204) return { statusCode: 204, headers, body: '' };
  const body =
    form === 'bare'
      ? reply.data
      : {
          success: true,
          ...(reply.data !== undefined && { data: reply.data }),
          ...(reply.meta && { meta: reply.meta }),
          ...reply.beside,
          ...(reply.message && { message: reply.message }),
        };
  return {
    statusCode: code,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body ?? {}),
  };
};

export const renderError = (error: DomainError, requestId: string): HttpResponse => ({
  statusCode: ERRORS[error.code][0],
  headers: {
    'content-type': 'application/json',
    ...SECURITY_HEADERS,
    ...(error.retryAfterSeconds !== undefined && {
      'retry-after': String(Math.max(1, Math.ceil(error.retryAfterSeconds))),
    }),
  },
  body: JSON.stringify({
    success: false,
    error: error.message,
    code: error.code,
    ...(error.details !== undefined && { details: error.details }),
    request_id: requestId,
  }),
});

/** Fields for payers only, because they contain a secret or an address with a secret. */
const PAYER_SECRETS = new Set(['client_secret', 'guest_token', 'open_payment']);

/** Removes payers' secrets from the data, at any depth. A next action keeps its type without its address. */
export const withoutPayerSecrets = (data: unknown): unknown => {
  if (Array.isArray(data)) return data.map(withoutPayerSecrets);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]): [string, unknown][] => {
      if (PAYER_SECRETS.has(name)) return [];
      return [[name, name === 'next_action' ? typeOnly(value) : withoutPayerSecrets(value)]];
    }),
  );
};

const typeOnly = (action: unknown): unknown =>
  typeof action === 'object' && action !== null && 'type' in action ? { type: action.type } : action;
