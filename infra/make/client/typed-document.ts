/** @module Prepares the API document for the type generator. It narrows the types of fields that programs branch on. */

import * as z from 'zod';
import { errorTypeName, type JsonObject, schemaOfCode } from './error-types.ts';

const KEY = 'Idempotency-Key';
const SCHEMAS = '#/components/schemas/';
const ANY_ERROR = 'Error';
/** Name of the union of all errors. The name Error would hide JavaScript's own class. */
const ALL_ERRORS = 'ApiError';
/** The schema for operators' own fields. */
const OPEN_RECORD = 'ReferenceRecord';

const parameterSchema = z.object({ name: z.string().optional(), $ref: z.string().optional() });

const isKey = ({ name, $ref }: z.output<typeof parameterSchema>): boolean =>
  name === KEY || $ref?.startsWith(`#/components/parameters/${KEY}`) === true;

const documentSchema = z.looseObject({
  paths: z.record(
    z.string(),
    z.object({ post: z.object({ parameters: z.array(parameterSchema).default([]) }).optional() }),
  ),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    examples: z.record(z.string(), z.unknown()),
  }),
  webhooks: z.record(
    z.string(),
    z.object({
      post: z.object({
        requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.object({ $ref: z.string() }) })) }),
      }),
    }),
  ),
});

interface TypedDocument {
  readonly document: JsonObject;
  /** The schemas that the package exports under their own names. */
  readonly names: readonly string[];
  /** The entries of `names` for outbound webhook bodies. */
  readonly events: readonly string[];
  /** Paths of POST operations with an Idempotency-Key. */
  readonly keyedPosts: readonly string[];
}

/** @param document the finished API document, without undefined values. */
export const typedDocument = (document: JsonObject): TypedDocument => {
  const { components, webhooks, paths } = documentSchema.parse(document);
  const { [ANY_ERROR]: _, ...schemas } = components.schemas;
  const codes = Object.keys(components.examples);
  const typed = rewrite({ ...document, components: { ...components, schemas } }, [
    withErrorTypes,
    withBooleans,
    withClosedRecords,
  ]);
  const own = { ...errorTypes(codes), [ALL_ERRORS]: unionOf(codes), [OPEN_RECORD]: schemas[OPEN_RECORD] };
  const events = Object.values(webhooks).flatMap(({ post }) =>
    Object.values(post.requestBody.content).map(({ schema }) => schema.$ref.slice(SCHEMAS.length)),
  );
  return {
    document: withSchemas(typed, own),
    names: [...new Set([...Object.keys(schemas), ...Object.keys(own)])].sort(),
    events: [...new Set(events)].sort(),
    keyedPosts: Object.keys(paths).filter((path) => paths[path]?.post?.parameters.some(isKey)),
  };
};

const errorTypes = (codes: readonly string[]): JsonObject =>
  Object.fromEntries(codes.map((code) => [errorTypeName(code), schemaOfCode(code)]));

const unionOf = (codes: readonly string[]): JsonObject => ({
  oneOf: codes.map((code) => ({ $ref: `${SCHEMAS}${errorTypeName(code)}` })),
});

const objectSchema = z.looseObject({});
const componentsSchema = z.looseObject({ schemas: objectSchema });

const withSchemas = (document: unknown, own: JsonObject): JsonObject => {
  const parsed = objectSchema.parse(document);
  const components = componentsSchema.parse(parsed['components']);
  return { ...parsed, components: { ...components, schemas: { ...components.schemas, ...own } } };
};

type Change = (node: JsonObject) => JsonObject;

/** Applies the changes to every object of the document. */
const rewrite = (node: unknown, changes: readonly Change[]): unknown => {
  if (Array.isArray(node)) return node.map((item) => rewrite(item, changes));
  if (typeof node !== 'object' || node === null) return node;
  const inner = Object.entries(node).map(([name, value]) => [name, rewrite(value, changes)]);
  return changes.reduce<JsonObject>((changed, change) => change(changed), Object.fromEntries(inner));
};

const errorContent = z.object({
  schema: z.object({ $ref: z.literal(`${SCHEMAS}${ANY_ERROR}`) }),
  examples: z.record(z.string(), z.unknown()),
});

/** Takes the codes of an error response from its examples. */
const withErrorTypes: Change = (node) => {
  const { success, data } = errorContent.safeParse(node);
  return success ? { ...node, schema: unionOf(Object.keys(data.examples)) } : node;
};

const flagParameter = z.object({ in: z.literal('query'), schema: z.object({ enum: z.array(z.string()) }) });

/** The query accepts `true` and `1`, but the typed client takes a boolean. */
const withBooleans: Change = (node) => {
  const { success, data } = flagParameter.safeParse(node);
  const isFlag = success && data.schema.enum.includes('true') && data.schema.enum.includes('false');
  return isFlag ? { ...node, schema: { type: 'boolean' } } : node;
};

/**
 * Leaves unknown fields out of the types. Later versions of the API may add fields, but a program reads only known
 * fields.
 */
const withClosedRecords: Change = (node) => {
  const { additionalProperties, ...closed } = node;
  const isOpen = additionalProperties === true || JSON.stringify(additionalProperties) === '{}';
  const { properties } = node;
  const hasFields = typeof properties === 'object' && properties !== null && Object.keys(properties).length > 0;
  return isOpen && hasFields ? closed : node;
};
