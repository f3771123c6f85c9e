import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { DomainError } from '../../../shared/core/errors.ts';
import { storeReading } from '../../../shared/payments/apply-reading.ts';
import { isVisiblePayment, type Payment, paymentOf, type VisiblePayment } from '../../../shared/payments/payment.ts';
import { isStuck } from '../../../shared/payments/payment-due.ts';
import { paymentStore } from '../../../shared/payments/payment-store.ts';
import type { ProviderPayment } from '../../../shared/providers/payment-port.ts';
import { findLost, type LostPayments, type Owners, type Restored, restoreLost } from '../compare/lost-payments.ts';
import { compareMoneyBack, storeMoneyBack } from '../compare/money-back.ts';
import { comparePayment, type Drift, type DriftKind, reportUnfinished } from '../compare/payment.ts';
import type { Installation } from '../installation/installation.ts';
import { describeRestore, type RestoreResult, restoreView } from './describe-restore.ts';
import { columns, progress, type Report } from './report.ts';

export interface DriftOptions {
  /**
   * ISO time to which the table was restored. With it, the command also looks for payments that the providers made
   * since then.
   */
  readonly restoredTo?: string | undefined;
  /** The owners of restored payments, from the operator. */
  readonly owners?: Owners | undefined;
  /** ISO time. Limits the check to payments changed since then. */
  readonly since?: string | undefined;
  /** If true, stores the provider's status, refunds and disputes if they differ from our record. */
  readonly fix?: boolean | undefined;
}

type Found = Drift & { readonly fixed?: boolean };

/** The result of one payment. */
interface Checked {
  readonly found: readonly Found[];
  /** The reason why the provider could not be read. The comparison is then missing or incomplete. */
  readonly unread?: string | undefined;
}

/**
 * Compares every payment, its refunds and its disputes with the provider, and finds unfinished creations. After a
 * restore, it first looks for payments that only the providers have. It scans the whole table with the operator's
 * rights. No function of the service may scan the table, except for the erasure of a person.
 */
export const findDrift = async (installation: Installation, options: DriftOptions): Promise<Report> => {
  const { since, fix = false, restoredTo } = options;
  const startedAt = performance.now();
  const lost = restoredTo === undefined ? undefined : await lookForLost(installation, restoredTo, options);
  const bar = progress('payments');
  const found: Found[] = [...(lost?.found ?? [])];
  const unread: Unread[] = [];
  let checked = 0;
  try {
    for await (const payments of scanPayments(installation, since)) {
      bar.expect(payments.length);
      await inLanes(payments, async (payment) => {
        const result = await checkPayment(installation, payment, fix);
        found.push(...result.found);
        if (result.unread !== undefined) unread.push({ provider: payment.providerId, reason: result.unread });
        checked += 1;
        bar.done();
      });
    }
  } finally {
    bar.stop();
  }
  const tookMs = Math.round(performance.now() - startedAt);
  return reportDrift({ checked, found: found.sort(inOrder), unread, ...(lost && { lost: { ...lost, tookMs } }) });
};

interface Looked extends LostPayments {
  readonly restoredTo: string;
  readonly found: readonly Found[];
  /** Undefined without `fix`. */
  readonly restored: Restored | undefined;
}

/**
 * Finds lost payments and, with `fix`, restores them. This happens before the scan of the table, so the refunds and
 * disputes of restored payments are also compared.
 */
const lookForLost = async (
  installation: Installation,
  restoredTo: string,
  { fix = false, owners = new Map() }: DriftOptions,
): Promise<Looked> => {
  const all = await findLost(installation, restoredTo);
  const restored = fix ? await restoreLost(installation, all.lost, owners) : undefined;
  const stored = new Set(restored?.restored);
  const lost = all.lost.map(({ finding }) => (fix ? { ...finding, fixed: stored.has(finding.payment_id) } : finding));
  return { ...all, restoredTo, restored, found: [...lost, ...all.chargedAgain.map(({ finding }) => finding)] };
};

interface Unread {
  readonly provider: string;
  readonly reason: string;
}

const orderOf = ({ payment_id, kind, provider_object_id = '' }: Drift): string =>
  `${payment_id} ${kind} ${provider_object_id}`;
const inOrder = (one: Drift, other: Drift): number => (orderOf(one) < orderOf(other) ? -1 : 1);

interface Result {
  readonly checked: number;
  readonly found: readonly Found[];
  readonly unread: readonly Unread[];
  readonly lost?: (Looked & { readonly tookMs: number }) | undefined;
}

const reportDrift = ({ checked, found, unread, lost }: Result): Report => {
  const fixed = found.filter((one) => one.fixed === true).length;
  const isBlind = checked > 0 && unread.length === checked;
  const reasons = countReasons(unread);
  const others = found.filter(({ kind }) => kind !== 'payment not here' && kind !== 'charged again').length;
  const restore: RestoreResult | undefined = lost && { ...lost, checked, others };
  return {
    json: {
      checked,
      not_compared: unread.length,
      drifted: found.length,
      fixed,
      findings: found,
      unread: reasons,
      ...(restore && { restore: restoreView(restore) }),
    },
    lines: [
      ...columns(
        found.map((one) => [
          one.payment_id,
          one.provider,
          [one.kind, one.provider_object_id].filter(Boolean).join(' '),
          `${one.here} here`,
          `${one.there} there`,
          adviceFor(one),
        ]),
      ),
      ...reasons.map(
        ({ provider, reason, payments }) => `${provider} cannot be read (${reason}): ${payments} payments`,
      ),
      ...(restore ? describeRestore(restore) : []),
      `${checked - unread.length} payments compared: ${found.length} differences, ${fixed} fixed`,
    ],
    exitCode: found.length > fixed || isUnlisted(lost) ? 1 : isBlind ? 2 : 0,
  };
};

/**
 * True if the list of lost payments may be incomplete, or if a provider still charges a subscription without a record.
 */
const isUnlisted = (lost: Looked | undefined): boolean =>
  lost !== undefined &&
  (lost.unlisted.length > 0 || lost.unfollowed.length > 0 || (lost.restored?.unread_subscriptions.length ?? 0) > 0);

const countReasons = (unread: readonly Unread[]) => {
  const counts = new Map<string, Unread & { payments: number }>();
  for (const { provider, reason } of unread) {
    const name = `${provider} ${reason}`;
    counts.set(name, { provider, reason, payments: (counts.get(name)?.payments ?? 0) + 1 });
  }
  return [...counts].toSorted().map(([, count]) => count);
};

/** Differences that a sync with the provider repairs. */
const REPAIRED: ReadonlySet<DriftKind> = new Set<DriftKind>([
  'payment not here',
  'status differs',
  'hold differs',
  'captured more',
  'refund not here',
  'refund status differs',
  'dispute not here',
  'dispute status differs',
  'dispute amount differs',
  'dispute currency differs',
  'dispute reason differs',
  'dispute due date differs',
]);

const adviceFor = ({ fixed, kind }: Found): string => {
  if (fixed) return 'fixed';
  if (kind === 'creation unfinished') return 'reconcile it';
  return fixed === false || !REPAIRED.has(kind) ? 'needs a person' : '';
};

const checkPayment = async (installation: Installation, seen: Payment, fix: boolean): Promise<Checked> => {
  const { deps } = installation;
  if (isVisiblePayment(seen)) {
    const first = await compareAll(installation, seen);
    if (first.drifts.length === 0) return { found: [], unread: first.unread };
  }
  // Load the payment again, because the scanned version may be out of date.
  const payment = await paymentStore(deps.table, deps.now).load(seen.id);
  if (!payment) return { found: [] };
  if (!isVisiblePayment(payment)) return { found: [reportUnfinished(payment)] };
  const compared = await compareAll(installation, payment);
  const { drifts: found, unread } = compared;
  return fix && found.some(({ kind }) => REPAIRED.has(kind))
    ? fixPayment(installation, payment, compared)
    : { found, unread };
};

interface Compared {
  readonly drifts: readonly Drift[];
  readonly report?: ProviderPayment | undefined;
  readonly unread?: string | undefined;
}

const compareAll = async (installation: Installation, payment: VisiblePayment): Promise<Compared> => {
  const compared = await comparePayment(installation, payment);
  if ('unread' in compared) return { drifts: [], ...compared };
  const { drift, report } = compared;
  const drifts = drift ? [drift] : [];
  if (drift?.kind === 'not at the provider') return { drifts, report };
  const moneyBack = await compareMoneyBack(installation, payment);
  if ('unread' in moneyBack) return { drifts, report, ...moneyBack };
  return { drifts: [...drifts, ...moneyBack.drifts], report };
};

/** Stores the provider's report and compares again. A remaining difference was not fixed. */
const fixPayment = async (
  installation: Installation,
  payment: VisiblePayment,
  { drifts, report }: Compared,
): Promise<Checked> => {
  try {
    const isOvertaken = await storeAll(installation, payment, report);
    if (isOvertaken) return await checkPayment(installation, payment, true);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
  const left = await compareAgain(installation, payment);
  const leftOrders = new Set(left.drifts.map(orderOf));
  const before = new Set(drifts.map(orderOf));
  const later = left.drifts.filter((one) => !before.has(orderOf(one)));
  return {
    found: [
      ...drifts.map((one) => ({ ...one, fixed: left.unread === undefined && !leftOrders.has(orderOf(one)) })),
      ...later.map((one) => ({ ...one, fixed: false })),
    ],
    unread: left.unread,
  };
};

/** @returns true if the payment changed after the comparison. */
const storeAll = async (
  installation: Installation,
  payment: VisiblePayment,
  report: ProviderPayment | undefined,
): Promise<boolean> => {
  const { deps } = installation;
  const store = paymentStore(deps.table, deps.now);
  const stored = report && (await storeReading(deps, store, { payment, report, cause: 'sync' }));
  if (stored?.outcome === 'overtaken') return true;
  await storeMoneyBack(installation, stored?.payment ?? payment);
  return false;
};

const compareAgain = async (installation: Installation, { id }: VisiblePayment): Promise<Compared> => {
  const { deps } = installation;
  const payment = await paymentStore(deps.table, deps.now).loadVisible(id);
  return payment ? compareAll(installation, payment) : { drifts: [] };
};

const PAGE = 200;
const LANES = 8;

async function* scanPayments(
  { documents, settings, deps }: Installation,
  since: string | undefined,
): AsyncGenerator<readonly Payment[]> {
  let after: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await documents.send(
      new ScanCommand({
        TableName: settings.TABLE_NAME,
        ConsistentRead: true,
        Limit: PAGE,
        // A listed payment stores the time of its last change in its list fields.
        FilterExpression: since === undefined ? '#sk = :sk' : '#sk = :sk AND (#at >= :since OR #f.#u >= :since)',
        ExpressionAttributeNames: {
          '#sk': 'sk',
          ...(since !== undefined && { '#at': 'updatedAt', '#f': 'f', '#u': 'u' }),
        },
        ExpressionAttributeValues: { ':sk': 'PAY', ...(since !== undefined && { ':since': since }) },
        ...(after && { ExclusiveStartKey: after }),
      }),
    );
    // Skip payments under creation unless they are stuck.
    yield Items.map(paymentOf).filter((one) => isVisiblePayment(one) || isStuck(one, 'outcome_unknown', deps.now()));
    after = LastEvaluatedKey;
  } while (after);
}

/** Limits concurrency, so that the service keeps most of the provider's rate limit. */
const inLanes = async <T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> => {
  const left = [...all];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
};
