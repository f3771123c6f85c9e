/** @module The API document (OpenAPI 3.1), generated from the declared endpoints. */

import { createDocument, type ZodOpenApiOverride, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Endpoint } from '../http/endpoint.ts';
import { WHOLE_NUMBER } from '../http/paging.ts';
import { errorExamples } from './error-responses.ts';
import { eventOperations } from './event-operations.ts';
import { groups } from './groups.ts';
import { type Example, operationOf } from './operation.ts';
import { securitySchemes } from './security.ts';

export type Examples = Readonly<Record<string, Example>>;

/** @param examples by the id of their endpoint */
export const apiDocument = (endpoints: readonly Endpoint[], serverUrl: string, examples: Examples) =>
  withProse(
    createDocument(
      {
        openapi: '3.1.0',
        info: {
          title: 'Payments',
          version: '2026-11-01',
          description: DESCRIPTION,
          license: { name: 'MIT', identifier: 'MIT' },
        },
        servers: [{ url: serverUrl }],
        tags: [...groups],
        paths: pathsOf(endpoints, examples),
        webhooks: eventOperations,
        components: { securitySchemes, examples: errorExamples() },
      },
      {
        allowEmptySchema: { custom: true, undefined: true, transform: true, unknown: true, lazy: true },
        override: correctSchema,
      },
    ),
  );

/**
 * Documents whole numbers in the query as integers, lazy schemas (any JSON) as any value, and request objects as
 * closed. Drops the bounds of safe integers.
 */
const correctSchema = ({ jsonSchema, zodSchema, io }: Parameters<ZodOpenApiOverride>[0]): void => {
  const { def } = zodSchema._zod;
  if (io === 'input' && def.type === 'object' && def.catchall === undefined) jsonSchema.additionalProperties = false;
  if (jsonSchema.pattern === WHOLE_NUMBER.source) {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, { type: 'integer', minimum: 0 });
  }
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (zodSchema._zod.def.type !== 'lazy') return;
  for (const name of Object.keys(jsonSchema)) if (name !== 'description') delete jsonSchema[name];
};

const DESCRIPTION = `Payments, refunds, subscriptions, customers, payment methods, addresses, organizations and webhooks.

- **Amounts** are integers in the minor unit of their currency (2500 is 25.00 USD, and 2500 JPY); their names end in \`_cents\`.
- **Times** are ISO 8601 in UTC with milliseconds; most of their names end in \`_at\`.
- **Ids** are a prefix and 24 characters: \`pay_…\`, \`ref_…\`, \`cust_…\`. Treat them as opaque text.
- **Providers** have slots: \`provider_a\` (the default), \`provider_b\`, \`provider_c\` and \`provider_d\`. The
  operator assigns a provider to each slot; \`GET /config\` shows the assignment.
- **Responses** are the bare data, or an envelope \`{success, data, meta?, message?}\`; each route shows its form, and the header
  \`X-Response-Form\` chooses the other form.
- **Errors** all have one form. Base decisions on \`code\`, and quote \`request_id\` to support.
- **Retries** are safe: send an \`Idempotency-Key\` with every POST that has this header, and retry a request whose response was lost with the
  same key. Every other method is idempotent.
- **Absent fields**: in an optional field of a body, null and \`""\` count as absent, and so does an empty query value. On PUT and PATCH,
  null clears a field whose schema accepts null. \`organization_id\` differs: null or empty means personal. Enum values of
  the query may be in upper or lower case.
- **Service keys**: a backend sends \`Authorization: Bearer psk_…\`. A request with \`X-Act-For\` acts for a payer, else
  for the merchant. The scopes of an operation are in its description and in \`x-scopes\`.
- **Unknown fields** of a body are refused: 400 \`VALIDATION_ERROR\` with the rule \`unknown_field\` for each, and the nearest known field
  in its message. A PUT or PATCH also accepts the fields that a read of the record shows, so a client may send back what it has read;
  a read-only field with another value is refused with the rule \`read_only\`. Unknown query parameters are ignored, and so is the body of a
  DELETE. New optional fields may appear in responses at any time.
- **Limits**: a body has at most 256 KB, ten levels and 5,000 values, and a header or the query at most 8,192 characters. A text with
  a valid card number is refused; put a letter in front of any other number that looks like one. HEAD gets 405.
- **Traces**: every route accepts the W3C header \`traceparent\`, and the webhooks of a request continue its trace.`;

const pathsOf = (endpoints: readonly Endpoint[], examples: Examples): ZodOpenApiPathsObject => {
  const paths: Record<string, Record<string, ReturnType<typeof operationOf>>> = {};
  for (const endpoint of endpoints) {
    const operation = operationOf(endpoint, examples[endpoint.id] ?? {});
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation };
  }
  return paths;
};

const withProse = <T>(document: T): T =>
  JSON.parse(
    JSON.stringify(document, (name, value: unknown) =>
      name === 'description' && typeof value === 'string' ? prose(value) : value,
    ),
  );

/** A template literal as Markdown. An indented line continues its paragraph or list item; an empty line ends it. */
const prose = (text: string): string =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .trim()
        .split('\n')
        .map((line) => line.trim())
        .reduce((before, line) => `${before}${/^[-|]/.test(line) ? '\n' : ' '}${line}`),
    )
    .join('\n\n');
