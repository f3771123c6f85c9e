import * as z from 'zod';
import { PROVIDER_SLOTS, serviceSettings, slotFields } from '../../shared/core/settings.ts';
import { globalFields, nodeFields } from '../../shared/webhooks/outbound/targets.ts';
import { functionEnvironment, hostSchema } from '../local/machine/environment.ts';
import { deploymentSchema, SECRET_SETTINGS, STACK_SETTINGS } from '../stage/settings.ts';

/** The tables of docs/settings.md: of each setting its name, values, default and meaning, as the schemas say that parse it. */
interface Setting {
  readonly name: string;
  readonly schema: z.ZodType;
}

type Shape = Readonly<Record<string, z.ZodType>>;

const settingsOf = (shape: Shape, nameOf = (field: string) => field): readonly Setting[] =>
  Object.entries(shape)
    .map(([field, schema]) => ({ name: nameOf(field), schema }))
    .filter(({ name }) => !STACK_SETTINGS.includes(name) && !name.endsWith('_SECRET_ARN'));

const slotName = (field: string): string => (field === 'ADAPTER' ? 'PROVIDER_x' : `PROVIDER_x_${field}`);
const isOfWebhooks = ({ name }: Setting): boolean => name.startsWith('EXTERNAL_WEBHOOK');
const { STAGE: _stage, BASE_PATH: _deployed, ...ofDeployment } = deploymentSchema.shape;
const { BASE_PATH: _prefix, ...ofHost } = hostSchema.shape;
const service = settingsOf(serviceSettings.shape);

export const settingsTables = (): Readonly<Record<string, string>> => ({
  service: table(service.filter((setting) => !isOfWebhooks(setting))),
  slots: table(settingsOf(slotFields, slotName)),
  webhooks: table([
    ...settingsOf(globalFields),
    ...settingsOf(nodeFields, (field) => `WEBHOOK_<n>_${field}`),
    ...service.filter(isOfWebhooks),
  ]),
  deployment: table(settingsOf(ofDeployment)),
  host: table(settingsOf(ofHost)),
});

const table = (settings: readonly Setting[]): string =>
  [
    '| Variable | Values | Default | Meaning |',
    '|---|---|---|---|',
    ...settings.map(
      ({ name, schema }) =>
        `| \`${name}\` | ${valuesOf(name, schema)} | ${defaultOf(name, schema)} | ${meaningOf(name, schema)} |`,
    ),
  ].join('\n');

/** @throws where a setting says nothing of itself. */
const meaningOf = (name: string, schema: z.ZodType): string => {
  if (!schema.description) throw new Error(`${name} has no description`);
  return schema.description;
};

const jsonSchema = z.looseObject({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  format: z.string().optional(),
  items: z.looseObject({ type: z.string() }).optional(),
  anyOf: z.array(z.looseObject({ format: z.string().optional() })).optional(),
});

const described = (schema: z.ZodType, io: 'input' | 'output'): z.infer<typeof jsonSchema> =>
  jsonSchema.parse(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));

const optionsOf = (schema: z.ZodType): readonly string[] => (described(schema, 'input').enum ?? []).filter(Boolean);

const valuesOf = (name: string, schema: z.ZodType): string => {
  const options = optionsOf(schema);
  const { type, minimum, maximum, anyOf } = described(schema, 'output');
  const isList = Array.isArray(schema.parse(undefined));
  const kind =
    options.length > 0
      ? options.join(', ')
      : type === 'integer'
        ? `${minimum} to ${maximum}`
        : (anyOf?.find(({ format }) => format)?.format ?? 'text');
  return `${isSecret(name) ? 'secret' : kind === 'uri' ? 'URL' : kind}${isList ? ', several by commas' : ''}`;
};

const isSecret = (name: string): boolean =>
  SECRET_SETTINGS.includes(name.replace('PROVIDER_x', 'PROVIDER_A')) || name === 'WEBHOOK_<n>_SECRET';

const defaultOf = (name: string, schema: z.ZodType): string => {
  const value = wordOf(schema);
  const here = locally(name);
  return here === undefined || here === value ? value : `${value} (locally ${here})`.trim();
};

/** The value that nothing given comes to, in the word that an operator would write for it. */
const wordOf = (schema: z.ZodType): string => {
  const value = schema.parse(undefined);
  return optionsOf(schema).find((option) => schema.parse(option) === value) ?? String(value);
};

const LOCAL = functionEnvironment(
  {},
  { baseUrl: 'http://127.0.0.1:3000', basePath: '', dynamoEndpoint: '', queues: [] },
);

const locally = (name: string): string | undefined => {
  if (isSecret(name)) return undefined;
  if (name === 'PROVIDER_x') return PROVIDER_SLOTS.map((slot) => LOCAL[slot.toUpperCase()]).join(', ');
  return LOCAL[name];
};
