import type { History, Item, Json } from './history.ts';

/** The service's records, as the table holds them. */
export interface Records {
  /** Also those that no reader sees yet. */
  readonly payments: readonly Item[];
  readonly refunds: readonly Item[];
  readonly disputes: readonly Item[];
  readonly subscriptions: readonly Item[];
  readonly memberships: readonly Item[];
  readonly methods: readonly Item[];
  readonly customers: readonly Item[];
  readonly organizations: readonly Item[];
  readonly members: readonly Item[];
  readonly erasures: readonly Item[];
  /** The versions of a payment or subscription that readers see, oldest first. */
  readonly versionsOf: (id: string) => readonly Item[];
  readonly payment: (id: string) => Item | undefined;
}

const KINDS = {
  PAY: 'payments',
  RFD: 'refunds',
  DSP: 'disputes',
  SUB: 'subscriptions',
  MBR: 'memberships',
  PM: 'methods',
  CUS: 'customers',
  ORG: 'organizations',
  ERA: 'erasures',
} as const;

const kept = new WeakMap<readonly Item[], Records>();

export const recordsOf = ({ items }: Pick<History, 'items'>): Records => {
  const known = kept.get(items) ?? read(items);
  kept.set(items, known);
  return known;
};

const read = (items: readonly Item[]): Records => {
  const lists = Object.fromEntries(Object.values(KINDS).map((kind): [string, Item[]] => [kind, []]));
  const versions = new Map<string, Item[]>();
  const members: Item[] = [];
  for (const item of items) {
    const [sk = '', rest = ''] = String(item['sk']).split('#');
    const [prefix, id = ''] = String(item['pk']).split('#');
    if (sk === 'MEMBER') members.push(item);
    if (sk === 'HIST' && /^\d+$/.test(rest)) versions.set(id, [...(versions.get(id) ?? []), item]);
    if (sk !== prefix || item['sk'] !== sk || !Object.hasOwn(KINDS, sk) || isGone(item)) continue;
    lists[KINDS[sk as keyof typeof KINDS]]?.push({ ...item, id });
  }
  const payments = lists['payments'] ?? [];
  const byId = new Map(payments.map((payment) => [payment['id'], payment]));
  const inOrder = (all: readonly Item[]): readonly Item[] => all.toSorted((a, b) => (a['sk'] < b['sk'] ? -1 : 1));
  return {
    ...(lists as unknown as Omit<Records, 'members' | 'versionsOf' | 'payment'>),
    members,
    versionsOf: (id) => inOrder(versions.get(id) ?? []),
    payment: (id) => byId.get(id),
  };
};

/** What is kept of a deleted record, for its idempotency key. */
const isGone = ({ tombstone, deletedAt }: Item): boolean => tombstone === true || deletedAt !== undefined;

/** Readers see it: the provider has answered its creation. */
export const isVisible = ({ status, owner }: Item): boolean => status !== 'creating' && owner !== undefined;

/** Who owns a record. */
export interface Owner {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly guestId?: string | undefined;
}

export const ownerOf = ({ userId, organizationId, guestId }: Item): Owner => ({ userId, organizationId, guestId });

/** Charges that took money, or still may. */
export const isTaken = ({ status }: Json): boolean =>
  status === 'succeeded' || status === 'pending' || status === 'refunded';

export const at = (time: string): number => Date.parse(time);
