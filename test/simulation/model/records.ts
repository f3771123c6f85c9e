import type { History, HistoryItem, HistoryJson } from './history.ts';

/** The service's records in the table. */
export interface Records {
  /** Includes records not visible to readers yet. */
  readonly payments: readonly HistoryItem[];
  readonly refunds: readonly HistoryItem[];
  readonly disputes: readonly HistoryItem[];
  readonly subscriptions: readonly HistoryItem[];
  readonly memberships: readonly HistoryItem[];
  readonly methods: readonly HistoryItem[];
  readonly customers: readonly HistoryItem[];
  readonly addresses: readonly HistoryItem[];
  readonly organizations: readonly HistoryItem[];
  readonly members: readonly HistoryItem[];
  readonly erasures: readonly HistoryItem[];
  /** The visible versions of a payment or subscription, oldest first. */
  readonly versionsOf: (id: string) => readonly HistoryItem[];
  readonly payment: (id: string) => HistoryItem | undefined;
}

const KINDS = {
  PAY: 'payments',
  RFD: 'refunds',
  DSP: 'disputes',
  SUB: 'subscriptions',
  MBR: 'memberships',
  PM: 'methods',
  CUS: 'customers',
  ADDR: 'addresses',
  ORG: 'organizations',
  ERA: 'erasures',
} as const;

const kept = new WeakMap<readonly HistoryItem[], Records>();

export const recordsOf = ({ items }: Pick<History, 'items'>): Records => {
  const known = kept.get(items) ?? read(items);
  kept.set(items, known);
  return known;
};

const read = (items: readonly HistoryItem[]): Records => {
  const lists = Object.fromEntries(Object.values(KINDS).map((kind): [string, HistoryItem[]] => [kind, []]));
  const versions = new Map<string, HistoryItem[]>();
  const members: HistoryItem[] = [];
  for (const item of items) {
    const [sk = '', rest = ''] = String(item['sk']).split('#');
    const [prefix, id = ''] = String(item['pk']).split('#');
    if (sk === 'MEMBER') members.push(item);
    if (sk === 'HIST' && /^\d+$/.test(rest)) versions.set(id, [...(versions.get(id) ?? []), item]);
    if (sk !== prefix || item['sk'] !== sk || !Object.hasOwn(KINDS, sk) || isGone(item)) continue;
    lists[KINDS[sk as keyof typeof KINDS]]?.push({ ...timesOf(item), ...item, id });
  }
  const payments = lists['payments'] ?? [];
  const byId = new Map(payments.map((payment) => [payment['id'], payment]));
  const inOrder = (all: readonly HistoryItem[]): readonly HistoryItem[] =>
    all.toSorted((a, b) => (a['sk'] < b['sk'] ? -1 : 1));
  return {
    ...(lists as unknown as Omit<Records, 'members' | 'versionsOf' | 'payment'>),
    members,
    versionsOf: (id) => inOrder(versions.get(id) ?? []),
    payment: (id) => byId.get(id),
  };
};

const ISO_LENGTH = 24;

/** The times of a listed payment, which stores them only in the fields of its list entry. */
const timesOf = ({ sort, f }: HistoryItem): HistoryItem => ({
  ...(typeof sort === 'string' && { createdAt: sort.slice(0, ISO_LENGTH) }),
  ...(f?.u && { updatedAt: f.u }),
});

/** True for the remains of a deleted record, kept for its idempotency key. */
const isGone = ({ tombstone, deletedAt }: HistoryItem): boolean => tombstone === true || deletedAt !== undefined;

/** True if readers see the record, because the provider has responded to its creation. */
export const isVisible = ({ status, owner }: HistoryItem): boolean => status !== 'creating' && owner !== undefined;

/** The owner of a record. */
export interface RecordOwner {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly guestId?: string | undefined;
}

export const ownerOf = ({ userId, organizationId, guestId }: HistoryItem): RecordOwner => ({
  userId,
  organizationId,
  guestId,
});

/** Charges that have taken money or may still take money. */
export const isChargeTaken = ({ status }: HistoryJson): boolean =>
  status === 'succeeded' || status === 'pending' || status === 'refunded';

export const at = (time: string): number => Date.parse(time);
