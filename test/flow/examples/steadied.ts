import { createHash } from 'node:crypto';

/**
 * Makes the examples of two runs equal: ids and secrets follow from the order in which they appear, and what was
 * kept as a map has its names in alphabetical order.
 */

/** The clock moves forward only, so the story runs a century later than the recorded times. */
export const MORNING = '2126-11-02T09:30:00.000Z';
const ID =
  /\b(pay|pmt|addr|cust|subs|ref|dsp|org|mem|mbr|ord|gst|log|ers|msg|msg_test|evt)_(?:[0-9a-f]{24}|1[0-9a-z]{16})\b/g;
/** Of requests and of messages of a queue. */
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const SECRET = /(?<=_)(secret)_[0-9a-f]{24}\b/g;
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d{3}Z)?$/;
/** Every id of a simulated provider holds the tag of its host. */
const TAGGED = /\bpi_3([0-9a-z]{8})[0-9a-f]{8}\b/;
const TAG = 'mvq2e4k8';
const HOST = /\b127\.0\.0\.1:\d+/g;

export const steadied = (examples: unknown): unknown => {
  const [, tag = ''] = TAGGED.exec(JSON.stringify(examples)) ?? [];
  const seen = new Map<string, string>();
  const steadyId = (id: string, prefix: string): string => {
    const known = seen.get(id) ?? `${prefix}_${digest(`${prefix} ${seen.size}`).slice(0, 24)}`;
    seen.set(id, known);
    return known;
  };
  const steadyUuid = (uuid: string): string => {
    const known = seen.get(uuid) ?? uuidOf(digest(`uuid ${seen.size}`));
    seen.set(uuid, known);
    return known;
  };
  const steadyText = (text: string): string =>
    TIME.test(text)
      ? aCenturyBefore(text)
      : text
          .replace(ID, steadyId)
          .replace(SECRET, steadyId)
          .replace(UUID, steadyUuid)
          .replaceAll(tag, TAG)
          .replaceAll(tag.toUpperCase(), TAG.toUpperCase())
          .replace(HOST, '127.0.0.1:3000');
  const walk = (value: unknown, name: string, kept: boolean): unknown => {
    if (name === 'next_cursor' && typeof value === 'string') return steadyCursor(value, steadyText);
    const steady = STEADY_FIELDS.find(([pattern]) => pattern.test(name));
    if (steady) return steady[1](value);
    if (typeof value === 'string') return steadyText(value);
    if (Array.isArray(value)) return value.map((one) => walk(one, '', kept));
    if (typeof value !== 'object' || value === null) return value;
    const entries: [string, unknown][] = Object.entries(value);
    const isKept = kept || name === 'payload' || entries.some(([key]) => key === 'duration_ms');
    if (isKept) entries.sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.map(([key, inner]) => [key, walk(inner, key, isKept)]));
  };
  return walk(examples, '', false);
};

const STEADY_FIELDS: readonly (readonly [name: RegExp, steady: (value: unknown) => unknown])[] = [
  [/^guest_token$/, () => 'signed-by-the-service'],
  [/^duration_ms$/, () => 12],
  [/^created$/, (value) => Date.parse(aCenturyBefore(new Date(Number(value) * 1_000).toISOString())) / 1_000],
  [/exp.*_year$/, (value) => aCenturyBefore(String(value))],
];

/** A cursor that is a position in a list holds a time and an id. */
const steadyCursor = (cursor: string, steadyText: (text: string) => string): string => {
  const [time = '', ...rest] = Buffer.from(cursor, 'base64url').toString('utf8').split('#');
  if (!TIME.test(time)) return cursor;
  return Buffer.from([aCenturyBefore(time), ...rest.map(steadyText)].join('#')).toString('base64url');
};

const uuidOf = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const aCenturyBefore = (year: string): string => year.replace(/^21/, '20');
