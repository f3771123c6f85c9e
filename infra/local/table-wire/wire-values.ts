import type { Item } from '../../../shared/platform/connection.ts';
import { isMap } from '../table/conditions.ts';
import { invalidRequest } from '../table/refusals.ts';

/** Attribute values in DynamoDB's JSON, with bytes as base64 text. */
export type WireValue = Readonly<Record<string, unknown>>;
export type WireItem = Readonly<Record<string, WireValue>>;

export const wireItem = (item: Item): WireItem =>
  Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => (value === undefined ? [] : [[name, wireValue(value)]])),
  );

const wireValue = (value: unknown): WireValue => {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  if (value instanceof Set) return wireSet([...value]);
  if (Array.isArray(value)) return { L: value.map(wireValue) };
  if (isMap(value)) return { M: wireItem(value) };
  throw invalidRequest(`a value of type ${typeof value} has no attribute type`);
};

const wireSet = (members: readonly unknown[]): WireValue =>
  typeof members[0] === 'number' ? { NS: members.map(String) } : { SS: members };

/** @throws AwsError if a value is not an attribute value */
export const itemOfWire = (item: object): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, valueOfWire(value)]));

export const valueOfWire = (value: unknown): unknown => {
  const [[type, content] = ['', undefined], ...rest] = isMap(value) ? Object.entries(value) : [];
  if (rest.length > 0) throw invalidRequest('Supplied AttributeValue has more than one datatypes set');
  switch (type) {
    case 'S':
    case 'BOOL':
      return content;
    case 'N':
      return numberOf(content);
    case 'NULL':
      return null;
    case 'B':
      return new Uint8Array(Buffer.from(String(content), 'base64'));
    case 'L':
      return listOf(content).map(valueOfWire);
    case 'M':
      return isMap(content) ? itemOfWire(content) : {};
    case 'SS':
      return new Set(listOf(content));
    case 'NS':
      return new Set(listOf(content).map(numberOf));
    default:
      throw invalidRequest('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
  }
};

const listOf = (content: unknown): readonly unknown[] => (Array.isArray(content) ? content : []);

const numberOf = (content: unknown): number => {
  const number = Number(content);
  if (Number.isFinite(number)) return number;
  throw invalidRequest(`The parameter cannot be converted to a numeric value: ${String(content)}`);
};
