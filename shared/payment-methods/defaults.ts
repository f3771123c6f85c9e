import { ownerOfRecord } from '../access/record-kind.ts';
import { type DefaultSlot, promoteNewest, readDefault } from '../table/defaults.ts';
import type { Owner } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type PaymentMethod, paymentMethodRecord } from './payment-method.ts';

/** An owner has one default method. A method becomes the default only once it is set up. */
export const methodDefaultSlot = (owner: Owner): DefaultSlot => ({
  owner,
  kind: 'PM',
  successorIf: [{ lacks: 'f.n' }],
});

export const methodDefaultSlotOf = (method: PaymentMethod): DefaultSlot => {
  const owner = ownerOfRecord(method);
  if (!owner) throw new Error('the payment method has no owner');
  return methodDefaultSlot(owner);
};

/** The owner's default. A pointer to a missing method is repaired: the newest remaining method becomes the default. */
export const findDefaultMethod = async (
  table: Table,
  slot: DefaultSlot,
  known: ReadonlySet<string>,
): Promise<string | undefined> => {
  const id = await readDefault(table, slot);
  if (id === undefined || known.has(id)) return id;
  const item = await table.get(paymentMethodRecord.key(id));
  return item && paymentMethodRecord.parse(item) ? id : promoteNewest(table, slot, { id });
};

export const isDefaultMethod = async (table: Table, method: PaymentMethod): Promise<boolean> =>
  (await readDefault(table, methodDefaultSlotOf(method))) === method.id;
