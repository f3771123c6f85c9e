import * as z from 'zod';

/** An operation of the API document with its example request and its expected status. */
export interface Documented {
  readonly id: string;
  readonly group: string;
  readonly method: string;
  /** The path with the parameters' examples in place. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly status: number;
  /** The demo session that the operation's security requires; undefined if it requires no credential. */
  readonly session: string | undefined;
}

const reference = z.object({ $ref: z.string() });
const parameterSchema = z.looseObject({ name: z.string(), in: z.string(), example: z.unknown().optional() });
const operationSchema = z.looseObject({
  operationId: z.string(),
  tags: z.tuple([z.string()]),
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z.array(z.union([reference, parameterSchema])).default([]),
  requestBody: z
    .looseObject({ content: z.object({ 'application/json': z.looseObject({ example: z.unknown() }) }) })
    .optional(),
  responses: z.record(z.string(), z.unknown()),
});
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({ parameters: z.record(z.string(), parameterSchema) }),
});
type Document = z.output<typeof documentSchema>;

/** All operations in the order of the document. */
export const documentedIn = (json: unknown): readonly Documented[] => {
  const document = documentSchema.parse(json);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => requestOf(document, { path, method, ...operation })),
  );
};

type Placed = z.output<typeof operationSchema> & { readonly path: string; readonly method: string };

const requestOf = (document: Document, operation: Placed): Documented => {
  const given = examplesOf(document, operation);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(given('path')[name] ?? `no ${name}`),
  );
  const query = new URLSearchParams(given('query'));
  return {
    id: operation.operationId,
    group: operation.tags[0],
    method: operation.method.toUpperCase(),
    path: query.size > 0 ? `${path}?${query}` : path,
    headers: given('header'),
    body: operation.requestBody?.content['application/json'].example,
    status: Number(Object.keys(operation.responses).find((status) => status.startsWith('2'))),
    session: sessionFor(operation.security),
  };
};

const examplesOf = ({ components }: Document, { parameters }: Placed) => {
  const declared = parameters.map((one) => {
    const ref = reference.safeParse(one).data?.$ref.replace('#/components/parameters/', '');
    return parameterSchema.parse(ref === undefined ? one : components.parameters[ref]);
  });
  return (place: string): Record<string, string> =>
    Object.fromEntries(
      declared
        .filter((one) => one.in === place && one.example !== undefined)
        .map(({ name, example }) => [name, String(example)]),
    );
};

const sessionFor = (security: Placed['security']): string | undefined => {
  const schemes = security.flatMap((one) => Object.keys(one));
  if (schemes.includes('platformAdmin')) return 'demo-admin';
  return schemes.includes('session') ? 'demo-owner' : undefined;
};
