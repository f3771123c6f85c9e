/**
 * @module Makes the responses of any two runs the same. Ids and secrets derive from the operation that first returned
 * them, and stored maps have their names in alphabetical order. Ids of the demo data stay.
 */

import { createHash } from 'node:crypto';

export interface Steady {
  /** The response of the operation as the document shows it. */
  shown(operationId: string, answer: unknown): unknown;
}

/** The clock only moves forward, so the recording runs a century after the times in the document. */
export const PRESENT = Date.parse('2126-11-02T09:30:00.000Z');
const ID =
  /\b(pay|pmt|addr|cust|subs|chg|ref|dsp|org|mem|mbr|ord|gst|log|ers|key|msg|msg_test|evt|lnk)_(?:[0-9a-f]{24}|1[0-9a-z]{16})\b/g;
/** Ids of requests and of queue messages. */
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const SECRET = /(?<=_secret_)[0-9a-f]{24}\b/g;
/** The start of a service key's secret is the id of the key. The rest is random, and is not shown. */
const KEY_PREFIX = /\bpsk_([0-9a-f]{24})/g;
const KEY_LAST = /(?<=\bpsk_[0-9a-f]{24}_)[\w-]{43}/g;
/** The id of a record at a simulated provider. */
const PROVIDER_ID = /\b(?:[A-Za-z]+_\d?|[A-Z]+)(?:demo|DEMO)[0-9A-Za-z]{12,}/g;
const PROVIDER_COUNT = /(?<=demo)[0-9a-z]+$/i;
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d{3}Z)?$/;
/** The token of a hosted page holds an id and a time. */
const PAGE_TOKEN = /(?<!\w)plk_[\w-]{44}/g;
const HOST = /\b127\.0\.0\.1:\d+/g;

/** @param fixed the ids that are the same on every host */
export const steadying = (fixed: ReadonlySet<string>): Steady => {
  const shownBy = new Map<string, string>();
  const counts = new Map<string, number>();
  const shown = (operationId: string, answer: unknown): unknown => {
    const replace = (make: (id: string, hash: string) => string) => (id: string) => {
      const known = fixed.has(id) ? id : shownBy.get(id);
      if (known !== undefined) return known;
      const count = counts.get(operationId) ?? 0;
      counts.set(operationId, count + 1);
      const made = make(id, createHash('sha256').update(`${operationId} ${count}`).digest('hex'));
      shownBy.set(id, made);
      return made;
    };
    const id = replace((from, hash) => from.replace(/[^_]+$/, hash.slice(0, 24)));
    const uuid = replace((_from, hash) => uuidOf(hash));
    const secret = replace((_from, hash) => hash.slice(0, 24));
    const providerId = replace((from, hash) => from.replace(PROVIDER_COUNT, (count) => alike(count, hash)));
    const text = (value: string): string =>
      TIME.test(value)
        ? aCenturyBefore(value)
        : value
            .replaceAll(PROVIDER_ID, providerId)
            .replaceAll(ID, id)
            .replaceAll(KEY_PREFIX, (_prefix, hex: string) => `psk_${id(`key_${hex}`).slice('key_'.length)}`)
            .replaceAll(KEY_LAST, '…')
            .replaceAll(SECRET, secret)
            .replaceAll(UUID, uuid)
            .replaceAll(PAGE_TOKEN, 'plk_signed-by-the-service')
            .replaceAll(HOST, '127.0.0.1:3000');
    return steadyValue(answer, text);
  };
  return { shown };
};

type Text = (value: string) => string;

const steadyValue = (answer: unknown, text: Text): unknown => {
  const walk = (value: unknown, name: string, kept: boolean): unknown => {
    if (typeof value !== 'object' || value === null) return steadyLeaf(name, value, text);
    if (Array.isArray(value)) return value.map((one) => walk(one, '', kept));
    const entries: [string, unknown][] = Object.entries(value);
    const isKept = kept || name === 'payload' || entries.some(([key]) => key === 'duration_ms');
    if (isKept) entries.sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.map(([key, inner]) => [key, walk(inner, key, isKept)]));
  };
  return walk(answer, '', false);
};

const steadyLeaf = (name: string, value: unknown, text: Text): unknown => {
  if (name === 'guest_token') return 'signed-by-the-service';
  if (name === 'duration_ms') return 12;
  if (name === 'created') return Date.parse(aCenturyBefore(new Date(Number(value) * 1_000).toISOString())) / 1_000;
  if (/exp.*_year$/.test(name)) return aCenturyBefore(String(value));
  if (typeof value !== 'string') return value;
  return name === 'next_cursor' ? steadyCursor(value, text) : text(value);
};

/** A position cursor contains a time and an id. A cursor of the table contains keys, whose shards differ per run. */
const steadyCursor = (cursor: string, text: Text): string => {
  const said = Buffer.from(cursor, 'base64url').toString('utf8');
  if (said.startsWith('[')) return Buffer.from('["position"]').toString('base64url');
  const [time = '', ...rest] = said.split('#');
  if (!TIME.test(time)) return cursor;
  return Buffer.from([aCenturyBefore(time), ...rest.map(text)].join('#')).toString('base64url');
};

const alike = (count: string, hash: string): string => {
  const made = hash.slice(0, count.length);
  return /[A-Z]/.test(count) ? made.toUpperCase() : made;
};

const uuidOf = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');

const aCenturyBefore = (year: string): string => year.replace(/^21/, '20');
