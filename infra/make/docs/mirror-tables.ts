/** @module The tables of docs/mirror.md, with this service's use of each field and status of the providers' objects. */
import { type Meaning, type MirroredObject, type OurField, splitNames, topOf } from './mirror/mirrored-object.ts';
import { PAYPAL_OBJECTS } from './mirror/paypal.ts';
import { SQUARE_OBJECTS } from './mirror/square.ts';
import { STRIPE_OBJECTS } from './mirror/stripe.ts';

export const mirrorTables = (): Readonly<Record<string, string>> => ({
  'mirror-stripe': sectionsOf('Stripe', STRIPE_OBJECTS),
  'mirror-paypal': sectionsOf('PayPal', PAYPAL_OBJECTS),
  'mirror-square': sectionsOf('Square', SQUARE_OBJECTS),
});

const sectionsOf = (vendor: string, objects: readonly MirroredObject[]): string =>
  objects.map((object) => sectionOf(vendor, object)).join('\n\n');

const sectionOf = (vendor: string, object: MirroredObject): string =>
  [`### ${vendor}: ${object.name}`, fieldTable(object), ...statusTables(object)].join('\n\n');

const fieldTable = (object: MirroredObject): string => {
  const { mirrored, checked = {}, read = {}, ignored } = object;
  const named = (names: string): string =>
    splitNames(names)
      .map((name) => labelled(object, name))
      .join(', ');
  return [
    '| Field | Here |',
    '|---|---|',
    ...Object.entries(mirrored).map(
      ([name, fields]) => `| ${named(name)} | mirrored to ${fields.map(ours).join(', ')} |`,
    ),
    ...Object.entries(checked).map(([name, field]) => `| ${named(name)} | checked against ${ours(field)} |`),
    ...Object.entries(read).map(([when, names]) => `| ${named(names)} | read when ${when} |`),
    ...Object.entries(ignored).map(([why, names]) => `| ${named(names)} | ignored: ${why} |`),
  ].join('\n');
};

const labelled = ({ elsewhere = {} }: MirroredObject, name: string): string => {
  const label = Object.entries(elsewhere).find(([, names]) => splitNames(names).includes(topOf(name)))?.[0];
  return label === undefined ? `\`${name}\`` : `\`${name}\` (${label})`;
};

/** Names our field. A field that only the stored record has starts with a capital letter. */
const ours = (field: OurField): string => {
  const [record = '', name] = field.split('.');
  return /^[A-Z]/.test(record) ? `\`${name}\` of the stored ${record.toLowerCase()}` : `\`${field}\``;
};

const statusTables = ({ statuses = {} }: MirroredObject): readonly string[] =>
  Object.entries(statuses).map(([field, values]) =>
    [
      `| \`${field}\` | Here |`,
      '|---|---|',
      ...Object.entries(values).map(([value, meaning]) => `| \`${value}\` | ${meaningOf(meaning)} |`),
    ].join('\n'),
  );

const meaningOf = (meaning: Meaning): string => {
  if (typeof meaning === 'string') return `\`${meaning}\``;
  const names = meaning.either.map((status) => `\`${status}\``);
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}: ${meaning.when}`;
};
