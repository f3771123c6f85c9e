import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { DomainError } from '../../../shared/core/errors.ts';
import { storeReading } from '../../../shared/payments/attempts/reconcile.ts';
import { isStuck } from '../../../shared/payments/record/due.ts';
import { isVisiblePayment, type Payment, paymentOf } from '../../../shared/payments/record/payment.ts';
import { paymentStore } from '../../../shared/payments/record/store.ts';
import type { Installation } from '../installation/installation.ts';
import { compareWithProvider, type Drift, reportUnfinished } from './compare.ts';
import { columns, progress, type Report } from './report.ts';

export interface DriftOptions {
  /** ISO time: payments that changed since then. */
  readonly since?: string | undefined;
  /** Stores the provider's status where it differs. */
  readonly fix?: boolean | undefined;
}

type Found = Drift & { readonly fixed?: boolean };

/**
 * Compares the status and amount of every payment with its provider's, and finds creations that never finished. The only
 * command that reads the whole table; it needs the operator's rights, since of the service's functions only the erasure of a person may scan.
 */
export const findDrift = async (installation: Installation, { since, fix = false }: DriftOptions): Promise<Report> => {
  const bar = progress('payments');
  const found: Found[] = [];
  let checked = 0;
  try {
    for await (const payments of scanPayments(installation, since)) {
      bar.expect(payments.length);
      await inLanes(payments, async (payment) => {
        const drifted = await checkPayment(installation, payment, fix);
        if (drifted) found.push(drifted);
        checked += 1;
        bar.done();
      });
    }
  } finally {
    bar.stop();
  }
  found.sort((one, other) => (one.payment_id < other.payment_id ? -1 : 1));
  const open = found.filter(({ fixed }) => fixed !== true);
  return {
    json: { checked, drifted: found.length, fixed: found.length - open.length, findings: found },
    lines: [
      ...columns(
        found.map((one) => [
          one.payment_id,
          one.provider,
          one.kind,
          `${one.here} here`,
          `${one.there} there`,
          adviceFor(one),
        ]),
      ),
      `${checked} payments compared: ${found.length} differ, ${found.length - open.length} fixed`,
    ],
    exitCode: open.length === 0 ? 0 : 1,
  };
};

const adviceFor = ({ fixed, kind }: Found): string => {
  if (fixed) return 'fixed';
  if (kind === 'creation unfinished') return 'reconcile it';
  return fixed === false || kind !== 'status differs' ? 'needs a person' : '';
};

const checkPayment = async (installation: Installation, seen: Payment, fix: boolean): Promise<Found | undefined> => {
  const { deps } = installation;
  if (isVisiblePayment(seen) && !(await compareWithProvider(installation, seen)).drift) return undefined;
  // The scanned payment may be out of date: load it again.
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.load(seen.id);
  if (!payment) return undefined;
  if (!isVisiblePayment(payment)) return reportUnfinished(payment);
  const { drift: still, report } = await compareWithProvider(installation, payment);
  if (!still || !fix || still.kind !== 'status differs' || !report) return still;
  try {
    const { outcome } = await storeReading(deps, store, { payment, report, cause: 'sync' });
    return outcome === 'overtaken' ? checkPayment(installation, seen, fix) : { ...still, fixed: outcome === 'stored' };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { ...still, fixed: false };
  }
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
        // A listed payment keeps the time of its last change among its list fields.
        FilterExpression: since === undefined ? '#sk = :sk' : '#sk = :sk AND (#at >= :since OR #f.#u >= :since)',
        ExpressionAttributeNames: {
          '#sk': 'sk',
          ...(since !== undefined && { '#at': 'updatedAt', '#f': 'f', '#u': 'u' }),
        },
        ExpressionAttributeValues: { ':sk': 'PAY', ...(since !== undefined && { ':since': since }) },
        ...(after && { ExclusiveStartKey: after }),
      }),
    );
    // A payment that is still being created is skipped, unless it is stuck.
    yield Items.map(paymentOf).filter((one) => isVisiblePayment(one) || isStuck(one, 'outcome_unknown', deps.now()));
    after = LastEvaluatedKey;
  } while (after);
}

/** Few at a time, so that the service keeps most of the provider's rate limit. */
const inLanes = async <T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> => {
  const left = [...all];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
};
