/** @module The HTTP headers read and sent by the service, with their descriptions in the API document. */

import * as z from 'zod';
import type { ErrorCode } from '../core/errors.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { optionalText } from '../http/fields.ts';
import { takesKey, takesPayer } from './error-responses.ts';

const EXAMPLE_KEY = '0b9c6f0e-5f0a-4d2f-9d3c-3f6f6a1f7f11';

const KEY = {
  description: `A name that you choose for this request, such as a UUID: printable ASCII without a space at either end, at least 20
    characters if the request has no session, service key or guest token. A repeat with the same key, body and caller within 24 hours
    does nothing new and returns the result of the first request, so a request whose response was lost is safe to retry.`,
  examples: [EXAMPLE_KEY],
};

const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .meta({ ...KEY, param: { id: 'Idempotency-Key' } });

/**
 * A create on a hosted page requires the key. The page's payer has no credential of their own, so only the key
 * identifies a repeated create.
 */
const requiredKey = z
  .string()
  .min(20)
  .max(255)
  .meta({ ...KEY, param: { id: 'Idempotency-Key-Required', example: EXAMPLE_KEY } });

const keyOf = ({ auth, idempotent }: Endpoint) =>
  auth === 'link-token' && idempotent === 'create' ? requiredKey : idempotencyKey;

const always = {
  'X-Response-Form': z
    .enum(['bare', 'envelope'])
    .optional()
    .meta({
      description: `Chooses the form of the response: \`bare\` is the data alone, \`envelope\` is \`{success, data, …}\`. Without the
        header the response has the form shown here. The query parameter \`envelope=true\` or \`envelope=false\` does the same.`,
      param: { id: 'X-Response-Form' },
    }),
  'X-API-Version': optionalText.meta({
    description:
      'The date of the API version that you build against, YYYY-MM-DD. Without it the oldest supported version applies.',
    format: 'date',
    examples: ['2026-11-01'],
    param: { id: 'X-API-Version' },
  }),
  traceparent: optionalText.meta({
    description: `The W3C trace context of the caller. The log of the service, and the webhooks that the request causes, continue this
      trace. Without the header, or with an invalid one, a new trace begins.`,
    examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    param: { id: 'traceparent' },
  }),
};

const actFor = optionalText.meta({
  description: `For service keys only: the payer of the request, as \`user:<id>\`, \`organization:<id>\` or \`guest:<guest_id>\`. The request then
    has the rights of that user, of a billing member of the organization, or of the guest. Without the header the request is the merchant's. A
    session or a guest token with this header gets 403.`,
  examples: ['user:user_demo_owner'],
  param: { id: 'X-Act-For' },
});

const actForEmail = optionalText.meta({
  description: `For service keys only, and only if the service has no identity service (\`IDENTITY_LOOKUP=off\`): the e-mail address of the
    user in \`X-Act-For: user:<id>\`. Otherwise the header gets 400.`,
  examples: ['ada@example.com'],
  param: { id: 'X-Act-For-Email' },
});

const payerAddress = optionalText.meta({
  description: `For service keys only: the IP address of the payer, IPv4 or IPv6. A declined charge or save of a guest or of an
    organization then counts against the payer's network, not against the key. A guest without a token
    continues only records from this network. A session or a guest with this header gets 403.`,
  examples: ['203.0.113.7'],
  param: { id: 'X-Payer-Address' },
});

export const requestHeaders = (endpoint: Endpoint): z.ZodObject =>
  z.object({
    ...(takesKey(endpoint) && { 'Idempotency-Key': keyOf(endpoint) }),
    ...(takesPayer(endpoint) && { 'X-Act-For': actFor, 'X-Act-For-Email': actForEmail }),
    ...(usesPayerNetwork(endpoint) && { 'X-Payer-Address': payerAddress }),
    ...always,
  });

const usesPayerNetwork = (endpoint: Endpoint): boolean =>
  takesPayer(endpoint) &&
  (endpoint.auth === 'session-or-guest' || endpoint.limits.some(({ counts }) => counts === 'declines'));

const requestId = z.string().meta({
  description: "Id of this request in the service's log. Quote it to support.",
  header: { id: 'X-Request-Id' },
});
const apiVersion = z.string().meta({
  description: 'The API version of this response, as a date: the requested version, else the oldest supported version.',
  format: 'date',
  header: { id: 'X-API-Version' },
});
const replayed = z
  .literal('true')
  .optional()
  .meta({
    description:
      '`true` if the request repeats an earlier request with the same `Idempotency-Key`, so nothing was done again; absent otherwise.',
    header: { id: 'Idempotent-Replayed' },
  });
const link = optionalText.meta({
  description: 'The address of the next page, `<…>; rel="next"`, relative to the host. Absent on the last page.',
  header: { id: 'Link' },
});
const totalCount = optionalText.meta({
  description:
    'The number of records of the whole list. Present if it is exact, as it is for every list of up to 1,000 records.',
  header: { id: 'X-Total-Count' },
});
const retryAfter = optionalText.meta({
  description: 'The number of seconds to wait before a retry, at least 1.',
  header: { id: 'Retry-After' },
});

const common = { 'X-Request-Id': requestId, 'X-API-Version': apiVersion };

export const successHeaders = (endpoint: Endpoint): z.ZodObject => {
  const { isPaged, isCounted } = pagesOf(endpoint);
  return z.object({
    ...common,
    ...(takesKey(endpoint) && { 'Idempotent-Replayed': replayed }),
    ...(isPaged && { Link: link }),
    ...(isCounted && { 'X-Total-Count': totalCount }),
  });
};

/**
 * Whether the list has a Link header, and whether it has a total. Lists of organizations and members have their next
 * page in `meta` only, without a Link header.
 */
const pagesOf = ({ method, query, response, csv, form }: Endpoint) => {
  const names = query instanceof z.ZodObject && method === 'GET' ? Object.keys(query.shape) : [];
  const hasCursor = names.includes('cursor');
  const isByNumber = names.includes('offset') || names.includes('page');
  const isBareList = method === 'GET' && form === 'bare' && response?.() instanceof z.ZodArray;
  const isLinked = names.includes('offset') || hasCursor || (isByNumber && form === 'bare');
  return { isPaged: isLinked || csv !== undefined, isCounted: isByNumber || isBareList };
};

/** The codes with a possible `Retry-After` in the response. */
const WITH_A_TIME: readonly ErrorCode[] = [
  'RATE_LIMITED',
  'IDEMPOTENCY_IN_PROGRESS',
  'PAYMENT_IN_PROGRESS',
  'VERSION_CONFLICT',
  'PROVIDER_UNAVAILABLE',
];

export const errorHeaders = (codes: readonly ErrorCode[]): z.ZodObject =>
  z.object({ ...common, ...(codes.some((code) => WITH_A_TIME.includes(code)) && { 'Retry-After': retryAfter }) });
