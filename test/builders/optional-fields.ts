/**
 * @module The optional fields of a request, from the published JSON schema, so that tests cover every declared field.
 */
import * as z from 'zod';

export interface OptionalField {
  /** The path of names in the body, such as `['guest_data', 'phone']`. */
  readonly path: readonly string[];
  /** True if the schema accepts null. */
  readonly isNullable: boolean;
  /** The values of an enum; empty for other fields. */
  readonly values: readonly string[];
}

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
}

export const optionalFieldsOf = (schema: z.ZodType): readonly OptionalField[] => {
  const root: JsonSchema = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })));
  const named = root.$defs ?? {};
  return fieldsOf(resolved(root, named), named);
};

type Named = Readonly<Record<string, JsonSchema>>;

const resolved = (schema: JsonSchema, named: Named): JsonSchema =>
  named[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;

const fieldsOf = (schema: JsonSchema, named: Named, above: readonly string[] = []): OptionalField[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = [...above, name];
    const forms = (property.anyOf ?? [property]).map((form) => resolved(form, named));
    const isNullable = forms.some(({ type }) => type === 'null');
    const values = forms.flatMap((form) => form.enum ?? []).map(String);
    const isOptional = !schema.required?.includes(name);
    return [
      ...(isOptional ? [{ path, isNullable, values }] : []),
      ...forms.flatMap((form) => fieldsOf(form, named, path)),
    ];
  });
