import * as z from 'zod';

/** Checks a value against a schema of an OpenAPI 3.0 document. Fields that the document does not know are let pass. */
const node: z.ZodType<SchemaNode> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.string().optional(),
    nullable: z.boolean().optional(),
    enum: z.array(z.unknown()).optional(),
    maxLength: z.number().optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), node).optional(),
    items: node.optional(),
    additionalProperties: z.union([z.boolean(), node]).optional(),
    anyOf: z.array(node).optional(),
  }),
);

interface SchemaNode {
  $ref?: string | undefined;
  type?: string | undefined;
  nullable?: boolean | undefined;
  enum?: unknown[] | undefined;
  maxLength?: number | undefined;
  required?: string[] | undefined;
  properties?: Record<string, SchemaNode> | undefined;
  items?: SchemaNode | undefined;
  additionalProperties?: boolean | SchemaNode | undefined;
  anyOf?: SchemaNode[] | undefined;
}

const documentSchema = z.object({ components: z.object({ schemas: z.record(z.string(), node) }) });
export type OpenApi = z.output<typeof documentSchema>;
export const parseOpenApi = (text: string): OpenApi => documentSchema.parse(JSON.parse(text));

/** What is wrong, one line each; empty where all is well. */
export const problemsOf = (api: OpenApi, name: string, value: unknown): string[] =>
  check(api, { $ref: `#/components/schemas/${name}` }, value, name);

const check = (api: OpenApi, schema: SchemaNode, value: unknown, at: string): string[] => {
  if (schema.$ref !== undefined) {
    const target = api.components.schemas[schema.$ref.slice('#/components/schemas/'.length)];
    return target ? check(api, target, value, at) : [`${at}: ${schema.$ref} is not in the document`];
  }
  if (value === null) return schema.nullable === true ? [] : [`${at}: is null`];
  if (schema.anyOf) {
    const tries = schema.anyOf.map((option) => check(api, option, value, at));
    return tries.some((problems) => problems.length === 0) ? [] : (tries.sort((a, b) => a.length - b.length)[0] ?? []);
  }
  if (schema.enum && !schema.enum.includes(value))
    return [`${at}: ${JSON.stringify(value)} is not one of ${schema.enum.join(', ')}`];
  switch (schema.type) {
    case 'object':
      return checkObject(api, schema, value, at);
    case 'array':
      if (!Array.isArray(value)) return [`${at}: is no array`];
      return value.flatMap((item, index) => check(api, schema.items ?? {}, item, `${at}[${index}]`));
    case 'integer':
      return Number.isInteger(value) ? [] : [`${at}: is no integer`];
    case 'string':
      if (typeof value !== 'string') return [`${at}: is no string`];
      return value.length <= (schema.maxLength ?? Number.POSITIVE_INFINITY) ? [] : [`${at}: is too long`];
    case undefined:
      return [];
    default:
      return typeof value === schema.type ? [] : [`${at}: is no ${schema.type}`];
  }
};

const checkObject = (api: OpenApi, schema: SchemaNode, value: unknown, at: string): string[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at}: is no object`];
  const fields = new Map(Object.entries(value));
  const missing = (schema.required ?? [])
    .filter((field) => !fields.has(field))
    .map((field) => `${at}.${field}: is missing`);
  const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const wrong = [...fields].flatMap(([field, inner]) => {
    const known = schema.properties?.[field] ?? others;
    return known && inner !== undefined ? check(api, known, inner, `${at}.${field}`) : [];
  });
  return [...missing, ...wrong];
};
