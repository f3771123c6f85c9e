import type { Now } from '../core/time.ts';
import { unlinkMethod } from '../payment-methods/commit.ts';
import { unlinkSubscription } from '../subscriptions/unlink-address.ts';
import { ADDRESS_USES, recordKey } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';

interface Deps {
  readonly table: Table;
  readonly now: Now;
}

/** Takes an address off every method and subscription that names it, whoever they belong to. Payments keep what was named. */
export const unlinkAddress = async (deps: Deps, addressId: string): Promise<void> => {
  let after: Item | undefined;
  do {
    const partition = recordKey('ADDR', addressId).pk;
    const page = await deps.table.queryItems({ partition, ...ADDRESS_USES, consistent: true, after });
    for (const item of page.items) await unlinkUse(deps, addressId, item);
    after = page.next;
  } while (after);
};

const unlinkUse = async (deps: Deps, addressId: string, item: Item): Promise<void> => {
  const [pk, sk] = [String(item['pk']), String(item['sk'])];
  const [kind = '', id = ''] = sk.split('#');
  await (kind === 'PM' ? unlinkMethod(deps, id, addressId) : unlinkSubscription(deps, id, addressId));
  await deps.table.remove({ pk, sk });
};
