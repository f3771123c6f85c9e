import type { Item } from '../../../shared/platform/connection.ts';
import { invalidRequest } from './refusals.ts';

/**
 * Items as stored in JSON text. JSON has no bytes or sets, so each becomes an object with one name that starts with
 * MARK. An attribute name that itself starts with MARK gets a second MARK.
 */
export interface StoredItem {
  readonly text: string;
  /** Size in bytes as DynamoDB counts. */
  readonly size: number;
}

const MARK = '\u0000';
const BYTES = `${MARK}B`;
const STRINGS = `${MARK}SS`;
const NUMBERS = `${MARK}NS`;
/** MARK in JSON text. */
const MARK_IN_JSON = '\\u0000';

const CONTAINER_BYTES = 3;
const ELEMENT_BYTES = 1;
/** The maximum depth of maps and lists within an item. */
const MAX_DEPTH = 32;

interface Writing {
  size: number;
  depth: number;
}

/** @throws AwsError if a value has no attribute type */
export const storedItem = (item: Item): StoredItem => {
  const writing: Writing = { size: 0, depth: 0 };
  const text = fieldsText(item, writing);
  return { text, size: writing.size };
};

export const storedValue = (value: unknown): StoredItem => {
  const writing: Writing = { size: 0, depth: 0 };
  return { text: valueText(value, writing), size: writing.size };
};

const fieldsText = (fields: object, writing: Writing): string => {
  let text = '';
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    writing.size += Buffer.byteLength(name);
    const written = name.startsWith(MARK) ? `${MARK}${name}` : name;
    text += `${text === '' ? '' : ','}${JSON.stringify(written)}:${valueText(value, writing)}`;
  }
  return `{${text}}`;
};

const valueText = (value: unknown, writing: Writing): string => {
  switch (typeof value) {
    case 'string':
      writing.size += Buffer.byteLength(value);
      return JSON.stringify(value);
    case 'number':
      writing.size += numberBytes(value);
      return numberText(value);
    case 'boolean':
      writing.size += 1;
      return value ? 'true' : 'false';
    case 'object':
      if (value !== null) return containerText(value, writing);
      writing.size += 1;
      return 'null';
    default:
      throw invalidRequest(`a value of type ${typeof value} has no attribute type`);
  }
};

const containerText = (value: object, writing: Writing): string => {
  if (value instanceof Uint8Array) {
    writing.size += value.length;
    return `{${JSON.stringify(BYTES)}:"${Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64')}"}`;
  }
  if (value instanceof Set) return setText([...value], writing);
  writing.depth += 1;
  if (writing.depth > MAX_DEPTH) throw invalidRequest('Nesting Levels have exceeded supported limits');
  writing.size += CONTAINER_BYTES;
  const text = Array.isArray(value) ? listText(value, writing) : mapText(value, writing);
  writing.depth -= 1;
  return text;
};

const listText = (list: readonly unknown[], writing: Writing): string => {
  const present = list.filter((element) => element !== undefined);
  writing.size += present.length * ELEMENT_BYTES;
  return `[${present.map((element) => valueText(element, writing)).join(',')}]`;
};

const mapText = (map: object, writing: Writing): string => {
  for (const value of Object.values(map)) if (value !== undefined) writing.size += ELEMENT_BYTES;
  return fieldsText(map, writing);
};

const setText = (members: readonly unknown[], writing: Writing): string => {
  const [first] = members;
  const kind = typeof first;
  if ((kind !== 'string' && kind !== 'number') || members.some((member) => typeof member !== kind)) {
    throw invalidRequest('a set holds strings or numbers, and at least one');
  }
  const text = members.map((member) => valueText(member, writing)).join(',');
  return `{${JSON.stringify(kind === 'string' ? STRINGS : NUMBERS)}:[${text}]}`;
};

const numberText = (value: number): string => {
  if (Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return JSON.stringify(value);
  throw invalidRequest(`${value} cannot be stored without loss`);
};

const DIGITS_PER_BYTE = 2;
const LAST_DIGIT = 10;

/** Size of a number: one byte per two significant digits, one more, and one for a sign. */
const numberBytes = (value: number): number => {
  const sign = value < 0 ? 1 : 0;
  if (Number.isInteger(value) && Math.abs(value) < LAST_DIGIT) return value === 0 ? 1 : 2 + sign;
  const digits = String(Math.abs(value))
    .replace(/e.*/s, '')
    .replace('.', '')
    .replace(/^0+/, '')
    .replace(/(?<!0)0+$/, '');
  return Math.ceil(digits.length / DIGITS_PER_BYTE) + 1 + sign;
};

export const itemOfText = (text: string): Item => parsed(text);

/** Parses any value that `storedValue` wrote. */
export const valueOfText = (text: string): unknown => parsed(text);

const parsed = (text: string) => {
  const plain = JSON.parse(text);
  return text.includes(MARK_IN_JSON) ? revived(plain) : plain;
};

const revived = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(revived);
  const fields = Object.entries(value);
  const [[name, content] = ['', undefined]] = fields;
  if (fields.length === 1) {
    if (name === BYTES) return new Uint8Array(Buffer.from(String(content), 'base64'));
    if (name === STRINGS || name === NUMBERS) return new Set(content);
  }
  return Object.fromEntries(
    fields.map(([given, inner]) => [given.startsWith(MARK) ? given.slice(MARK.length) : given, revived(inner)]),
  );
};
