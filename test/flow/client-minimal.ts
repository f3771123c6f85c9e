/**
 * @module Minimal calls of the generated client, one per operation and one more per optional body. They are derived
 * from the API document, so no route is missing.
 */
import * as z from 'zod';

const schemaShape = z.looseObject({
  $ref: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  required: z.array(z.string()).default([]),
  properties: z.record(z.string(), z.unknown()).default({}),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
});
const parameterShape = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().default(false),
  schema: z.unknown(),
});
const reference = z.object({ $ref: z.string() });
const operationShape = z.looseObject({
  parameters: z.array(z.union([reference, parameterShape])).default([]),
  requestBody: z
    .object({
      required: z.boolean().default(false),
      content: z.object({ 'application/json': z.object({ schema: z.unknown() }) }),
    })
    .optional(),
});
const documentShape = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.unknown()),
    parameters: z.record(z.string(), z.unknown()),
  }),
});
type Document = z.output<typeof documentShape>;
type Parameter = z.output<typeof parameterShape>;
type Placed = z.output<typeof operationShape> & { readonly method: string; readonly path: string };

/** @param client the name of the client in the program @returns one statement per call */
export const minimalCalls = (json: unknown, client: string): readonly string[] => {
  const document = documentShape.parse(json);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      optionsOf(document, { ...operation, method, path }).map(
        (options) => `await ${client}.${method.toUpperCase()}(${JSON.stringify(path)}${options});`,
      ),
    ),
  );
};

/** The arguments of each call: one with the smallest body, and one without a body if the body is optional. */
const optionsOf = (document: Document, operation: Placed): readonly string[] => {
  const params = paramsOf(document, operation);
  const body = operation.requestBody;
  if (body === undefined) return [argument(params)];
  const smallest = { ...params, body: smallestOf(document, body.content['application/json'].schema) };
  return body.required ? [argument(smallest)] : [argument(smallest), argument(params)];
};

const argument = (options: object): string => (Object.keys(options).length === 0 ? '' : `, ${JSON.stringify(options)}`);

const paramsOf = (document: Document, { parameters }: Placed): { readonly params?: object } => {
  const required = parameters.map((one) => parameterIn(document, one)).filter((one) => one.required);
  if (required.length === 0) return {};
  const places = Object.groupBy(required, (parameter) => parameter.in);
  return {
    params: Object.fromEntries(Object.entries(places).map(([place, them = []]) => [place, valuesOf(document, them)])),
  };
};

const parameterIn = (document: Document, one: z.output<typeof reference> | Parameter): Parameter =>
  '$ref' in one
    ? parameterShape.parse(document.components.parameters[one.$ref.replace('#/components/parameters/', '')])
    : one;

const valuesOf = (document: Document, parameters: readonly Parameter[]): object =>
  Object.fromEntries(parameters.map(({ name, schema }) => [name, smallestOf(document, schema)]));

/** A value of the schema with its required properties alone. It ignores lengths and patterns, as the types do. */
const smallestOf = (document: Document, schema: unknown): unknown => {
  const shape = schemaShape.parse(schema);
  if (shape.$ref !== undefined)
    return smallestOf(document, document.components.schemas[shape.$ref.replace('#/components/schemas/', '')]);
  if ('const' in shape) return shape.const;
  if (shape.enum) return shape.enum[0];
  const [first] = shape.anyOf ?? shape.oneOf ?? [];
  if (first !== undefined) return smallestOf(document, first);
  if (shape.allOf) return Object.assign({}, ...shape.allOf.map((part) => smallestOf(document, part)));
  const [type] = [shape.type].flat();
  if (type === 'object') return objectOf(document, shape);
  return type === undefined ? 'anything' : SIMPLE[type];
};

const SIMPLE: Readonly<Record<string, unknown>> = {
  string: 'text',
  integer: 1,
  number: 1,
  boolean: true,
  null: null,
  array: [],
};

const objectOf = (document: Document, { required, properties }: z.output<typeof schemaShape>): object =>
  Object.fromEntries(required.map((name) => [name, smallestOf(document, properties[name] ?? {})]));
