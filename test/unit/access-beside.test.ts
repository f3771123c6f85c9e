import { describe, expect, test } from 'vitest';
import type { Caller } from '../../shared/access/caller.ts';
import { type Showing, showBeside } from '../../shared/access/included-records.ts';
import type { Owned, RecordKind } from '../../shared/access/record-kind.ts';
import { memberKey, organizationKey } from '../../shared/platform/keys.ts';
import type { Item, Table } from '../../shared/platform/table.ts';
import { guest, session } from '../builders/api-request.ts';
import { memoryTable } from '../builders/memory-table.ts';

interface Order extends Owned {
  readonly teaId?: string;
  readonly cupId?: string;
}
type Included = Owned & { readonly name: string };

const kind = (resource: string, rule: RecordKind['rule']): RecordKind<Included> => ({
  resource,
  rule,
  key: (id) => ({ pk: `${resource}#${id}`, sk: resource }),
  parse: (item) => (item['tombstone'] ? undefined : { ...item, name: String(item['name']) }),
  ownedBy: ({ userId, organizationId }) => ({ userId, organizationId }),
});
const nameOf = ({ name }: Included) => name;
const TEA = { kind: kind('tea', 'owned'), view: nameOf } as Showing;
const CUP = {
  kind: kind('cup', 'project'),
  view: nameOf,
  buyersView: (cup: Included) => `a buyer sees ${cup.name}`,
} as Showing;
const includes = {
  tea: { showing: TEA, idOf: ({ teaId }: Order) => teaId },
  cup: { showing: CUP, idOf: ({ cupId }: Order) => cupId },
};

/** Shows orders with records from a table of these items. `reads` lists the number of keys per read. */
const service = async (items: readonly Item[]) => {
  const { table } = memoryTable({ now: () => 0 });
  for (const item of items) await table.put(item);
  const reads: number[] = [];
  const counted: Table = {
    ...table,
    getMany: (keys) => {
      reads.push(keys.length);
      return table.getMany(keys);
    },
  };
  const show = (caller: Caller, orders: readonly Order[]) => showBeside({ table: counted, caller }, orders, includes);
  return { show, reads };
};
const tea = (id: string, owner: Owned, more: Item = {}): Item => ({
  pk: `tea#${id}`,
  sk: 'tea',
  name: id,
  ...owner,
  ...more,
});
const cup = (id: string, owner: Owned): Item => ({ pk: `cup#${id}`, sk: 'cup', name: id, ...owner });
const member = (organizationId: string): readonly Item[] => [
  { ...organizationKey(organizationId) },
  { ...memberKey(organizationId, 'user_1'), role: 'member' },
];
const mine = { userId: 'user_1' };

describe('the included records of a response', () => {
  test('are shown to their owner from a single read', async () => {
    const { show, reads } = await service([tea('green', mine), tea('black', mine), cup('red', mine)]);
    const orders = [
      { ...mine, teaId: 'green', cupId: 'red' },
      { ...mine, teaId: 'black' },
    ];
    expect(await show(session(), orders)).toEqual([
      { tea: 'green', cup: 'red' },
      { tea: 'black', cup: null },
    ]);
    expect(reads).toEqual([3]);
  });

  test('are null if they do not exist or are deleted', async () => {
    const { show } = await service([tea('old', mine, { tombstone: true })]);
    expect(
      await show(session(), [
        { ...mine, teaId: 'old' },
        { ...mine, teaId: 'none' },
      ]),
    ).toEqual([
      { tea: null, cup: null },
      { tea: null, cup: null },
    ]);
  });

  test('are null or reduced to the buyer’s view if they have another owner', async () => {
    const { show } = await service([tea('green', { userId: 'user_2' }), cup('red', { userId: 'user_2' })]);
    expect(await show(session(), [{ ...mine, teaId: 'green', cupId: 'red' }])).toEqual([
      { tea: null, cup: 'a buyer sees red' },
    ]);
  });

  test('are shown to members from a single read if one organization owns them and the record that includes them', async () => {
    const owner = { organizationId: 'org_1' };
    const { show, reads } = await service([tea('green', owner), cup('red', owner), ...member('org_1')]);
    const orders = [
      { ...owner, teaId: 'green' },
      { ...owner, cupId: 'red' },
    ];
    expect(await show(session(), orders)).toEqual([
      { tea: 'green', cup: null },
      { tea: null, cup: 'red' },
    ]);
    expect(reads).toEqual([4]);
    expect(await show(session({ userId: 'user_2' }), orders)).toEqual([
      { tea: null, cup: null },
      { tea: null, cup: 'a buyer sees red' },
    ]);
  });

  test('are shown to members of their own organization after one more read if another organization owns the including record', async () => {
    const theirs = { organizationId: 'org_2' };
    const { show, reads } = await service([tea('green', theirs), cup('red', theirs), ...member('org_2')]);
    const orders = [{ organizationId: 'org_1', teaId: 'green', cupId: 'red' }];
    expect(await show(session(), orders)).toEqual([{ tea: 'green', cup: 'red' }]);
    expect(reads).toEqual([4, 2]);
    expect(await show(session({ userId: 'user_2' }), orders)).toEqual([{ tea: null, cup: 'a buyer sees red' }]);
  });

  test('are each shown according to the caller’s standing in the organization that owns them', async () => {
    const items = [tea('green', { organizationId: 'org_1' }), tea('black', { organizationId: 'org_2' })];
    const { show } = await service([...items, ...member('org_1'), { ...organizationKey('org_2') }]);
    const own = { organizationId: 'org_1' };
    expect(
      await show(session(), [
        { ...own, teaId: 'green' },
        { ...own, teaId: 'black' },
      ]),
    ).toEqual([
      { tea: 'green', cup: null },
      { tea: null, cup: null },
    ]);
  });

  test('need no standing if the caller is a guest', async () => {
    const owner = { organizationId: 'org_1' };
    const { show, reads } = await service([tea('green', owner), cup('red', owner)]);
    expect(await show(guest(), [{ ...owner, teaId: 'green', cupId: 'red' }])).toEqual([
      { tea: null, cup: 'a buyer sees red' },
    ]);
    expect(reads).toEqual([2]);
  });

  test('need no read if the including record refers to no other record', async () => {
    const { show, reads } = await service([]);
    expect(await show(session(), [{ organizationId: 'org_1' }])).toEqual([{ tea: null, cup: null }]);
    expect(await show(session(), [])).toEqual([]);
    expect(reads).toEqual([]);
  });
});
