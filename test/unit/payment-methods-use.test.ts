/**
 * @module Which payment method may be charged, and the conditions of the write that claims the charge. Each condition
 * is tried on a table, before and after a change between the decision and the claim.
 */
import { describe, expect, test } from 'vitest';
import { type PaymentMethod, paymentMethodShape } from '../../shared/payment-methods/payment-method.ts';
import {
  findUnattended,
  heldAs,
  paysFor,
  requireHeld,
  requireOneTime,
  type UsableMethod,
  useHeld,
  useNone,
  useSaved,
  useToken,
} from '../../shared/payment-methods/usable-method.ts';
import { putAlias } from '../../shared/platform/alias.ts';
import { memberKey, organizationKey } from '../../shared/platform/keys.ts';
import type { Item, Table } from '../../shared/platform/table.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type { ProviderMethod } from '../../shared/providers/method-port.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { session } from '../builders/api-request.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { savedCard } from '../builders/saved-card.ts';

const ADA = session({ userId: 'user_1' });
const BEN = session({ userId: 'user_2' });
const ALIAS = { providerId: 'provider_a', externalId: 'pm_1' } as const;
const HELD = { paymentMethodId: savedCard().id, methodRef: 'pm_1' } as const;
const personal = { userId: 'user_1', providerId: 'provider_a' } as const;
const acme = { organizationId: 'org_1', userId: 'user_1', providerId: 'provider_a' } as const;

const ORGANIZATION: Item = { ...organizationKey('org_1') };
const MEMBERSHIP: Item = { ...memberKey('org_1', 'user_1'), role: 'member' };

/** A table with Ada's card, its alias, her organization and her membership. A test changes one of these items. */
const tableWith = async (fields: Partial<PaymentMethod> = {}): Promise<Table> => {
  const { table } = memoryTable({ now: () => NOON });
  await table.put(recordItem(paymentMethodShape, savedCard(fields)));
  await putAlias(table, ALIAS, { kind: 'PM', id: HELD.paymentMethodId });
  await table.put(ORGANIZATION);
  await table.put(MEMBERSHIP);
  return table;
};

const isMet = async ({ onlyIf }: UsableMethod, table: Table): Promise<boolean> => (await table.transact(onlyIf)).ok;

/** The possible changes between the decision and the claim. */
const CHANGES: Readonly<Record<string, (table: Table) => Promise<unknown>>> = {
  nothing: async () => undefined,
  'the method is deleted': (table) => table.remove(methodKey),
  'the method belongs to another user': (table) => table.update(methodKey, { set: { userId: 'user_2' } }),
  'the method must be authenticated': (table) => table.update(methodKey, { set: { setup: { id: 'seti_1' } } }),
  'the method has another id at the provider': (table) =>
    table.update(methodKey, { set: { providerMethodId: 'pm_2' } }),
  'the membership ends': (table) => table.remove(memberKey('org_1', 'user_1')),
};
const methodKey = { pk: `PM#${HELD.paymentMethodId}`, sk: 'PM' };
const failing = async (use: (table: Table) => Promise<UsableMethod>): Promise<readonly string[]> => {
  const names: string[] = [];
  for (const [name, change] of Object.entries(CHANGES)) {
    const table = await tableWith();
    const usable = await use(table);
    await change(table);
    if (!(await isMet(usable, table))) names.push(name);
  }
  return names;
};

const OF_THE_METHOD = [
  'the method is deleted',
  'the method belongs to another user',
  'the method must be authenticated',
];
const OTHER_ID = 'the method has another id at the provider';

describe('a saved method that a request names', () => {
  test('is charged by its id at the provider, with the customer that it belongs to', () => {
    const customerId = 'cust_00000000000000000000000a';
    const usable = useSaved(savedCard({ customerId }), { caller: ADA, payer: personal, slot: 'provider_a' });
    expect(usable).toMatchObject({
      ...{ methodRef: 'pm_1', paymentMethodId: HELD.paymentMethodId, methodKind: 'card', isLent: false },
      ...{ providerCustomerId: 'cus_1', customerId },
    });
    expect(heldAs(savedCard({ walletType: 'paypal' })).methodKind).toBe('wallet');
  });

  test('is marked as lent if it is a member’s own method and pays for the organization', () => {
    const lent = useSaved(savedCard(), { caller: ADA, payer: acme, slot: 'provider_a' });
    const own = useSaved(savedCard({ userId: undefined, organizationId: 'org_1' }), {
      ...{ caller: ADA, payer: acme, slot: 'provider_a' },
    });
    expect([lent.isLent, own.isLent]).toEqual([true, false]);
  });

  test('is claimed only while it exists, belongs to its owner and is set up', async () => {
    const use = async () => useSaved(savedCard(), { caller: ADA, payer: personal, slot: 'provider_a' });
    expect(await failing(use)).toEqual(OF_THE_METHOD);
  });

  test.each([
    ['PROVIDER_MISMATCH', { payer: personal, caller: ADA, slot: 'provider_b' }, {}],
    ['INSUFFICIENT_PERMISSIONS', { payer: personal, caller: BEN, slot: 'provider_a' }, {}],
    ['INSUFFICIENT_PERMISSIONS', { payer: acme, caller: BEN, slot: 'provider_a' }, {}],
    [
      'INVALID_STATE',
      { payer: personal, caller: ADA, slot: 'provider_a' },
      { setup: { id: 'seti_1', status: 'requires_action' } },
    ],
  ] as const)('is refused with %s', (code, options, fields) => {
    expect(() => useSaved(savedCard(fields), options)).toThrow(expect.objectContaining({ code }));
  });
});

test('the refusal of another provider’s method names the field payment_method_id', () => {
  const use = () => useSaved(savedCard(), { caller: ADA, payer: personal, slot: 'provider_b' });
  expect(use).toThrow(expect.objectContaining({ details: expect.objectContaining({ path: 'payment_method_id' }) }));
});

describe('a payment without a method', () => {
  test('adds no condition to the write', () => {
    expect(useNone('cus_1')).toMatchObject({ methodRef: undefined, providerCustomerId: 'cus_1', onlyIf: [] });
  });
});

describe('a token', () => {
  const provider = (isStored: boolean | undefined, found?: Awaited<ReturnType<PaymentProvider['findMethod']>>) => {
    const reads: string[] = [];
    const stands = {
      adapter: 'stripe',
      isStoredMethod: () => isStored,
      findMethod: async (id: string) => {
        reads.push(id);
        return found;
      },
    } as unknown as PaymentProvider;
    return { stands, reads };
  };
  const method = (customerId: string | undefined): { readonly kind: 'done'; readonly value: ProviderMethod } => ({
    kind: 'done',
    value: { methodId: 'pm_9', customerId } as ProviderMethod,
  });
  const token = { methodRef: 'pm_9', paymentMethodId: undefined, providerCustomerId: 'cus_1' };
  const STORED = {
    code: 'VALIDATION_ERROR',
    details: [{ path: 'payment_method_id', rule: 'stored', message: expect.stringContaining('save it') }],
  };

  test('is used once, without a condition, unless its format shows that the provider stores it', () => {
    for (const isStored of [false, undefined]) {
      expect(useToken(provider(isStored).stands, 'pm_9', 'cus_1')).toMatchObject({ ...token, onlyIf: [] });
    }
    expect(() => useToken(provider(true).stands, 'pm_9', 'cus_1')).toThrow(expect.objectContaining(STORED));
  });

  test('is looked up if its format is ambiguous, and refused if the provider stores it for a customer', async () => {
    const stored = provider(undefined, method('cus_1'));
    await expect(requireOneTime(stored.stands, token)).rejects.toMatchObject(STORED);
    expect(stored.reads).toEqual(['pm_9']);
    await requireOneTime(provider(undefined, method(undefined)).stands, token);
    await requireOneTime(provider(undefined, { kind: 'refused', reason: 'resource_missing' }).stands, token);
  });

  test('is refused while the provider cannot be read', async () => {
    const unclear = provider(undefined, { kind: 'unknown', reason: 'timeout' });
    await expect(requireOneTime(unclear.stands, token)).rejects.toMatchObject({ code: 'PROVIDER_TIMEOUT' });
    const away = provider(undefined, { kind: 'not_done', reason: 'unreachable' });
    await expect(requireOneTime(away.stands, token)).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  });

  test.each([
    ['its format shows that it is not a stored method', false, token, false],
    ['the request is a repeat', undefined, token, true],
    ['the request has no token', undefined, { ...token, methodRef: undefined }, false],
    ['the token has become a saved method', undefined, { ...token, paymentMethodId: 'pmt_1' }, false],
    ['the payment has no customer', undefined, { ...token, providerCustomerId: undefined }, false],
  ])('is not read if %s', async (...[, isStored, held, isRepeat]) => {
    const { stands, reads } = provider(isStored, method('cus_1'));
    await requireOneTime(stands, held, async () => isRepeat);
    expect(reads).toEqual([]);
  });
});

describe('the method in a record, charged by a caller', () => {
  test('is claimed only while it is usable and has the id in the record, without a read', async () => {
    expect(await failing(async () => useHeld(ADA, personal, HELD))).toEqual([...OF_THE_METHOD, OTHER_ID]);
    expect(useHeld(ADA, personal, HELD)).toMatchObject(HELD);
  });

  test('is not claimed if the record holds no id of the provider', async () => {
    const usable = useHeld(ADA, personal, { paymentMethodId: HELD.paymentMethodId });
    expect(await isMet(usable, await tableWith())).toBe(false);
  });

  test('is refused if the caller is not the payer', () => {
    expect(() => useHeld(BEN, personal, HELD)).toThrow(expect.objectContaining({ code: 'INSUFFICIENT_PERMISSIONS' }));
  });

  test('is claimed as a token only while no saved method has its id', async () => {
    const usable = useHeld(BEN, personal, { methodRef: 'pm_1' });
    const table = await tableWith();
    expect(await isMet(usable, table)).toBe(false);
    await putAlias(table, ALIAS, { kind: 'CUS', id: 'cust_1' });
    expect(await isMet(usable, table)).toBe(true);
    expect(await isMet(usable, memoryTable({ now: () => NOON }).table)).toBe(true);
    expect(useHeld(BEN, personal, {}).onlyIf).toEqual([]);
  });
});

describe('the method in a record, resolved for a caller', () => {
  const resolve = async (table: Table, caller = ADA, holder: Parameters<typeof requireHeld>[1] = personal) =>
    requireHeld({ table, caller }, holder, { methodRef: 'pm_1' });

  test('is the saved method with the provider’s id, together with its customer', async () => {
    const usable = await resolve(await tableWith());
    expect(usable).toMatchObject({ ...HELD, methodKind: 'card', providerCustomerId: 'cus_1', isLent: false });
    expect(await failing((table) => resolve(table))).toEqual([...OF_THE_METHOD, OTHER_ID]);
  });

  test('stays a token if no saved method has its id', async () => {
    const { table } = memoryTable({ now: () => NOON });
    const usable = await resolve(table);
    expect(usable).toMatchObject({ methodRef: 'pm_1', paymentMethodId: undefined });
    await putAlias(table, ALIAS, { kind: 'PM', id: HELD.paymentMethodId });
    expect(await isMet(usable, table)).toBe(false);
    await putAlias(table, ALIAS, { kind: 'SUB', id: 'subs_1' });
    expect((await resolve(table)).paymentMethodId).toBeUndefined();
  });

  test.each<[string, Partial<PaymentMethod>, Parameters<typeof requireHeld>[1], typeof ADA, string]>([
    ['another method has taken its place', { providerMethodId: 'pm_2' }, personal, ADA, 'PAYMENT_METHOD_REQUIRED'],
    ['it belongs to another user', { userId: 'user_2' }, personal, ADA, 'PAYMENT_METHOD_REQUIRED'],
    ['it is lent by another member', {}, acme, BEN, 'INSUFFICIENT_PERMISSIONS'],
    ['it is not set up', { setup: { id: 'seti_1', status: 'failed' } }, personal, ADA, 'INVALID_STATE'],
  ])('is refused if %s', async (...[, fields, holder, caller, code]) => {
    await expect(resolve(await tableWith(fields), caller, holder)).rejects.toMatchObject({ code });
  });

  test('is refused as missing if it was deleted', async () => {
    const table = await tableWith();
    await table.remove(methodKey);
    await expect(resolve(table)).rejects.toMatchObject({ code: 'PAYMENT_METHOD_REQUIRED' });
  });
});

describe('the method in a record, charged without a caller', () => {
  const find = (table: Table, holder: Parameters<typeof findUnattended>[1], held: object = HELD) =>
    findUnattended(table, holder, held);
  const required = async (table: Table, holder: Parameters<typeof findUnattended>[1]): Promise<UsableMethod> => {
    const found = await find(table, holder);
    if (!found) throw new Error('no usable method');
    return found;
  };

  test('is claimed only while it exists, belongs to its owner and is set up', async () => {
    expect(await failing((table) => required(table, personal))).toEqual(OF_THE_METHOD);
    expect(await required(await tableWith(), personal)).toMatchObject({ ...HELD, isLent: false });
  });

  test('is claimed for an organization only while its lender is a member', async () => {
    expect(await failing((table) => required(table, acme))).toEqual([...OF_THE_METHOD, 'the membership ends']);
    expect(await required(await tableWith(), acme)).toMatchObject({ ...HELD, isLent: true });
  });

  test('requires no member if it belongs to the organization itself', async () => {
    const table = await tableWith({ userId: undefined, organizationId: 'org_1' });
    await table.remove(memberKey('org_1', 'user_1'));
    const usable = await required(table, acme);
    expect([usable.isLent, await isMet(usable, table)]).toEqual([false, true]);
  });

  test('pays only for the same guest if it belongs to a guest', async () => {
    const table = await tableWith({ userId: undefined, guestId: 'gst_1', guestEmail: 'ada@example.com' });
    const guest = { guestId: 'gst_1', guestEmail: 'ada@example.com', providerId: 'provider_a' } as const;
    expect(await isMet(await required(table, guest), table)).toBe(true);
    expect(await find(table, { ...guest, guestId: 'gst_2' })).toBeUndefined();
  });

  test.each<[string, Partial<PaymentMethod>, object]>([
    ['it is not set up', { setup: { id: 'seti_1', status: 'requires_action' } }, HELD],
    ['it has another id at the provider', { providerMethodId: 'pm_2' }, HELD],
    ['it belongs to another user', { userId: 'user_2' }, HELD],
    ['the record holds no id of the provider', {}, { paymentMethodId: HELD.paymentMethodId }],
    ['the record holds no method', {}, {}],
  ])('is not found if %s', async (...[, fields, held]) => {
    expect(await find(await tableWith(fields), personal, held)).toBeUndefined();
  });

  test('is not found if it was deleted, and is treated as a token if it was never saved', async () => {
    const table = await tableWith();
    await table.remove(methodKey);
    expect(await find(table, personal)).toBeUndefined();
    const token = await find(memoryTable({ now: () => NOON }).table, personal, { methodRef: 'pm_1' });
    expect(token).toMatchObject({ methodRef: 'pm_1', paymentMethodId: undefined });
    if (token) expect(await isMet(token, await tableWith())).toBe(false);
  });

  test('is read again only if the caller has just read a different method', async () => {
    const { table } = memoryTable({ now: () => NOON });
    expect(await find(table, personal, { ...HELD, record: savedCard() })).toMatchObject(HELD);
    const other = savedCard({ id: 'pmt_00000000000000000000000b' });
    expect(await find(await tableWith(), personal, { ...HELD, record: other })).toMatchObject(HELD);
    expect(await find(table, personal, { ...HELD, record: other })).toBeUndefined();
  });
});

describe('a member’s own method', () => {
  test.each<[string, readonly Item[], boolean]>([
    ['a member of an organization that exists', [ORGANIZATION, MEMBERSHIP], true],
    ['not a member', [ORGANIZATION], false],
    ['a member of a deleted organization', [{ ...ORGANIZATION, deletedAt: 'x' }, MEMBERSHIP], false],
    ['a member without a role', [ORGANIZATION, { ...MEMBERSHIP, role: undefined }], false],
    ['a member of another organization', [ORGANIZATION, { ...memberKey('org_2', 'user_1'), role: 'owner' }], false],
  ])(
    'pays for the organization only if its user is a member, with a role, of an organization that exists: %s',
    async (_, items, pays) => {
      const { table } = memoryTable({ now: () => NOON });
      for (const item of items) await table.put(item);
      expect(await paysFor(table, acme, savedCard())).toBe(pays);
      expect(await paysFor(table, personal, savedCard())).toBe(true);
    },
  );
});
