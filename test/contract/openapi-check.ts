/** @module Checks a value against a schema of an OpenAPI 3.0 document. Undocumented fields pass. */
import * as z from 'zod';

const node: z.ZodType<SchemaNode> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.string().optional(),
    nullable: z.boolean().optional(),
    enum: z.array(z.unknown()).optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    pattern: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), node).optional(),
    items: node.optional(),
    additionalProperties: z.union([z.boolean(), node]).optional(),
    anyOf: z.array(node).optional(),
    oneOf: z.array(node).optional(),
    allOf: z.array(node).optional(),
  }),
);

export interface SchemaNode {
  $ref?: string | undefined;
  type?: string | undefined;
  nullable?: boolean | undefined;
  enum?: unknown[] | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  pattern?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
  required?: string[] | undefined;
  properties?: Record<string, SchemaNode> | undefined;
  items?: SchemaNode | undefined;
  additionalProperties?: boolean | SchemaNode | undefined;
  anyOf?: SchemaNode[] | undefined;
  oneOf?: SchemaNode[] | undefined;
  allOf?: SchemaNode[] | undefined;
}

const parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  schema: node.optional(),
});
type Parameter = z.output<typeof parameter>;

const documentSchema = z.object({
  components: z.object({
    schemas: z.record(z.string(), node),
    parameters: z.record(z.string(), parameter).optional(),
  }),
});
export type OpenApi = z.output<typeof documentSchema>;
export const parseOpenApi = (text: string): OpenApi => documentSchema.parse(JSON.parse(text));

/** The problems, one line each; empty if the value matches the schema. */
export const schemaProblemsOf = (api: OpenApi, name: string, value: unknown): string[] =>
  check(api, { $ref: `#/components/schemas/${name}` }, { value, at: name });

/** A value with its location. */
interface Found {
  readonly value: unknown;
  readonly at: string;
}

export const check = (api: OpenApi, schema: SchemaNode, found: Found): string[] => {
  const { value, at } = found;
  if (value === null && schema.nullable === true) return [];
  if (schema.$ref !== undefined) {
    const target = api.components.schemas[schema.$ref.slice('#/components/schemas/'.length)];
    return target ? check(api, target, found) : [`${at}: ${schema.$ref} is not in the document`];
  }
  if (value === null) return [`${at}: is null`];
  if (schema.allOf) {
    const { allOf, ...own } = schema;
    return [own, ...allOf].flatMap((part) => check(api, part, found));
  }
  const options = schema.anyOf ?? schema.oneOf;
  if (options) {
    const tries = options.map((option) => check(api, option, found));
    return tries.some((problems) => problems.length === 0) ? [] : (tries.sort((a, b) => a.length - b.length)[0] ?? []);
  }
  if (schema.enum && !schema.enum.includes(value))
    return [`${at}: ${JSON.stringify(value)} is not one of ${schema.enum.join(', ')}`];
  return checkType(api, schema, found);
};

const checkType = (api: OpenApi, schema: SchemaNode, { value, at }: Found): string[] => {
  switch (schema.type ?? (schema.properties && 'object')) {
    case 'object':
      return checkObject(api, schema, { value, at });
    case 'array':
      if (!Array.isArray(value)) return [`${at}: is no array`];
      return [
        ...sizeProblems(value.length, { min: schema.minItems, max: schema.maxItems }, at),
        ...value.flatMap((item, index) => check(api, schema.items ?? {}, { value: item, at: `${at}[${index}]` })),
      ];
    case 'integer':
      return Number.isInteger(value) ? rangeProblems(Number(value), schema, at) : [`${at}: is no integer`];
    case 'string':
      return typeof value === 'string' ? checkText(schema, value, at) : [`${at}: is no string`];
    case undefined:
      return [];
    default:
      return typeof value === schema.type ? [] : [`${at}: is no ${schema.type}`];
  }
};

const rangeProblems = (value: number, { minimum, maximum }: SchemaNode, at: string): string[] => [
  ...(minimum !== undefined && value < minimum ? [`${at}: is less than ${minimum}`] : []),
  ...(maximum !== undefined && value > maximum ? [`${at}: is more than ${maximum}`] : []),
];

const checkText = ({ minLength, maxLength, pattern }: SchemaNode, text: string, at: string): string[] => [
  // JSON Schema counts code points.
  ...sizeProblems([...text].length, { min: minLength, max: maxLength }, at),
  ...(pattern === undefined || new RegExp(pattern).test(text) ? [] : [`${at}: has another form`]),
];

interface Limits {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

const sizeProblems = (size: number, { min = 0, max = Number.POSITIVE_INFINITY }: Limits, at: string): string[] => [
  ...(size < min ? [`${at}: is too short`] : []),
  ...(size > max ? [`${at}: is too long`] : []),
];

const checkObject = (api: OpenApi, schema: SchemaNode, { value, at }: Found): string[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at}: is no object`];
  const fields = new Map(Object.entries(value));
  const missing = (schema.required ?? [])
    .filter((field) => !fields.has(field))
    .map((field) => `${at}.${field}: is missing`);
  const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const wrong = [...fields].flatMap(([field, inner]) => {
    const known = schema.properties?.[field] ?? others;
    return known && inner !== undefined ? check(api, known, { value: inner, at: `${at}.${field}` }) : [];
  });
  return [...missing, ...wrong];
};

/** A value's fields outside its schema. A provider refuses or ignores such fields. */
export const strangersIn = (api: OpenApi, schema: SchemaNode | undefined, { value, at }: Found): string[] => {
  const parts = schemaPartsOf(api, schema);
  const options = optionsOf(parts);
  if (options.length > 0) return strangersIn(api, optionFor(api, options, value), { value, at });
  if (Array.isArray(value)) {
    const items = parts.find((part) => part.items)?.items;
    return value.flatMap((item, index) => strangersIn(api, items, { value: item, at: `${at}[${index}]` }));
  }
  const described = Object.assign({}, ...parts.map(({ properties }) => properties));
  // A schema without fields allows any fields.
  if (typeof value !== 'object' || value === null || Object.keys(described).length === 0) return [];
  return Object.entries(value).flatMap(([field, inner]) =>
    Object.hasOwn(described, field)
      ? strangersIn(api, described[field], { value: inner, at: `${at}.${field}` })
      : [`${at}.${field}: is not in the document`],
  );
};

export const optionsOf = (parts: readonly SchemaNode[]): SchemaNode[] =>
  parts.flatMap(({ anyOf, oneOf }) => anyOf ?? oneOf ?? []);

/** The first matching schema, else the first schema. */
const optionFor = (api: OpenApi, options: readonly SchemaNode[], value: unknown): SchemaNode | undefined =>
  options.find((option) => check(api, option, { value, at: '' }).length === 0) ?? options[0];

/** The schema and its `allOf` schemas. */
export const schemaPartsOf = (api: OpenApi, schema: SchemaNode | undefined): SchemaNode[] => {
  if (schema?.$ref !== undefined) {
    return schemaPartsOf(api, api.components.schemas[schema.$ref.slice('#/components/schemas/'.length)]);
  }
  return schema === undefined ? [] : [schema, ...(schema.allOf ?? []).flatMap((part) => schemaPartsOf(api, part))];
};

const content = z.object({ content: z.record(z.string(), z.object({ schema: node.optional() })).optional() });
const operation = z.object({
  parameters: z.array(z.union([parameter, z.object({ $ref: z.string() })])).optional(),
  requestBody: content.optional(),
  responses: z.record(z.string(), content),
});
const pathsSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** An operation of an API description, with its query, its request, and its responses by status. */
export interface DescribedOperation {
  readonly api: OpenApi;
  readonly method: string;
  /** The path, with `{id}` for variable parts. */
  readonly path: string;
  readonly query: readonly Parameter[];
  readonly request: SchemaNode | undefined;
  readonly answers: ReadonlyMap<string, SchemaNode | undefined>;
}

export const operationsOf = (text: string): DescribedOperation[] => {
  const api = parseOpenApi(text);
  const { paths } = pathsSchema.parse(JSON.parse(text));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const { data } = operation.safeParse(described);
      if (!data) return [];
      const answers = new Map(Object.entries(data.responses).map(([status, answer]) => [status, bodyOf(answer)]));
      const query = (data.parameters ?? []).flatMap((one) => parameterOf(api, one)).filter((one) => one.in === 'query');
      return [{ api, method: method.toUpperCase(), path, query, request: bodyOf(data.requestBody), answers }];
    }),
  );
};

const parameterOf = (api: OpenApi, described: Parameter | { readonly $ref: string }): Parameter[] => {
  if (!('$ref' in described)) return [described];
  const target = api.components.parameters?.[described.$ref.slice('#/components/parameters/'.length)];
  return target ? [target] : [];
};

/** Missing, invalid and undocumented query parameters. */
export const queryProblems = ({ api, method, path, query }: DescribedOperation, search: string): string[] => {
  const sent = new URLSearchParams(search);
  const missing = query.filter(({ name, required }) => required === true && !sent.has(name));
  const at = (name: string): string => `${method} ${path}?${name}`;
  return [
    ...missing.map(({ name }) => `${at(name)}: is missing`),
    ...[...sent].flatMap(([name, text]) => {
      const known = query.find((one) => one.name === name);
      if (!known) return [`${at(name)}: is not in the document`];
      return known.schema ? check(api, known.schema, { value: readValue(known.schema, text), at: at(name) }) : [];
    }),
  ];
};

/** Converts the query's string to the described type. */
const readValue = ({ type }: SchemaNode, text: string): unknown => {
  if (type === 'integer' || type === 'number') return text.trim() === '' ? text : Number(text);
  return type === 'boolean' && ['true', 'false'].includes(text) ? text === 'true' : text;
};

/** The schema of a JSON body, or of a form. Stripe's requests are forms. */
const bodyOf = (described: z.output<typeof content> | undefined): SchemaNode | undefined =>
  (described?.content?.['application/json'] ?? described?.content?.['application/x-www-form-urlencoded'])?.schema;
