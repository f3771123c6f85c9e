/**
 * @module Capacity units as the engine reports them. The engine follows AWS's rules; its item sizes equal `itemBytes`
 * to the byte. If a response has no units, they are computed from the item size.
 */
import * as z from 'zod';

const KILOBYTE = 1_024;

const attributeSchema = z.record(z.string(), z.unknown());
export type Attributes = z.infer<typeof attributeSchema>;

/**
 * Bytes of an item, with attribute values in wire form or in the SDK's form.
 * Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const itemBytes = (item: Attributes): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);

const CONTAINER_BYTES = 3;
const ELEMENT_BYTES = 1;

const valueBytes = (value: unknown): number => {
  const [[type, content] = ['NULL', true]] = Object.entries(attributeSchema.parse(value));
  switch (type) {
    case 'S':
      return Buffer.byteLength(String(content));
    case 'N':
      return numberBytes(String(content));
    case 'B':
      return content instanceof Uint8Array ? content.length : Buffer.from(String(content), 'base64').length;
    case 'BOOL':
    case 'NULL':
      return 1;
    case 'M':
      return (
        CONTAINER_BYTES +
        itemBytes(attributeSchema.parse(content)) +
        ELEMENT_BYTES * Object.keys(attributeSchema.parse(content)).length
      );
    case 'L':
      return z
        .array(z.unknown())
        .parse(content)
        .reduce<number>((sum, element) => sum + ELEMENT_BYTES + valueBytes(element), CONTAINER_BYTES);
    default:
      throw new Error(`items here hold no attribute of type ${type}`);
  }
};

/** One byte per two significant digits, plus one, plus one for a minus sign. */
const numberBytes = (text: string): number => {
  const digits = text.replace(/^-|\.|e.*$/gi, '').replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1 + (text.startsWith('-') ? 1 : 0);
};

export const writeUnitsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / KILOBYTE));

export interface CapacityUnits {
  readonly read: number;
  /** Units of the table and of the list indexes. */
  readonly write: number;
  /** Units of the `due` index only. */
  readonly due: number;
}

export const NO_UNITS: CapacityUnits = { read: 0, write: 0, due: 0 };

export const sumOf = (all: readonly CapacityUnits[]): CapacityUnits =>
  all.reduce(
    (sum, { read, write, due }) => ({ read: sum.read + read, write: sum.write + write, due: sum.due + due }),
    NO_UNITS,
  );

const capacity = z.object({ CapacityUnits: z.number() });
const consumedSchema = z.object({
  CapacityUnits: z.number(),
  GlobalSecondaryIndexes: z.record(z.string(), capacity).default({}),
});
const answerSchema = z.object({
  ConsumedCapacity: z.union([consumedSchema.transform((one) => [one]), z.array(consumedSchema)]),
});
const stoodInTheWay = z.object({ Item: attributeSchema.optional() });
/** A write refused by a failed condition. No other refused request can be measured. */
const refusedSchema = stoodInTheWay.extend({
  __type: z.string().regex(/(ConditionalCheckFailed|TransactionCanceled)Exception$/),
  CancellationReasons: z.array(stoodInTheWay).optional(),
});
/** A transaction writes each item twice, to prepare and to commit. */
const TRANSACTION_FACTOR = 2;

const READS: readonly string[] = ['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems'];

/** The cost of one request. @param body the engine's response, which includes its consumed capacity */
export const unitsOf = (operation: string, status: number, body: unknown): CapacityUnits => {
  if (status === 200) return consumedUnits(operation, body);
  // A write with a failed condition costs the size of the existing item, and its response has no units.
  const { CancellationReasons, ...single } = refusedSchema.parse(body);
  const items = (CancellationReasons ?? [single]).map(({ Item }) => (Item ? writeUnitsOf(itemBytes(Item)) : 1));
  const write = items.reduce((sum, units) => sum + units, 0) * (CancellationReasons ? TRANSACTION_FACTOR : 1);
  return { read: 0, write, due: 0 };
};

const consumedUnits = (operation: string, body: unknown): CapacityUnits => {
  const { ConsumedCapacity } = answerSchema.parse(body);
  const all = ConsumedCapacity.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  if (READS.includes(operation)) return { read: all, write: 0, due: 0 };
  const due = ConsumedCapacity.reduce(
    (sum, { GlobalSecondaryIndexes }) => sum + (GlobalSecondaryIndexes['due']?.CapacityUnits ?? 0),
    0,
  );
  return { read: 0, write: all - due, due };
};
