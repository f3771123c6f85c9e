import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { DomainError } from '../../shared/core/errors.ts';
import { storeReading } from '../../shared/payments/attempts/reconcile.ts';
import { isStuck } from '../../shared/payments/record/due.ts';
import { isVisiblePayment, type Payment, paymentOf } from '../../shared/payments/record/payment.ts';
import { paymentStore } from '../../shared/payments/record/store.ts';
import { compared, type Drift, unfinished } from './judge.ts';
import type { Place } from './place.ts';
import { columns, progress, type Report } from './report.ts';

export interface DriftOptions {
  /** ISO time: payments that changed since then. */
  readonly since?: string | undefined;
  /** Takes the provider's word for a status that differs. */
  readonly fix?: boolean | undefined;
}

type Found = Drift & { readonly fixed?: boolean };

/**
 * Every payment's status and amount against its provider's, and what should have been created long ago. The one command
 * that reads the whole table, by the operator's own right: no function of the service can.
 */
export const drift = async (place: Place, { since, fix = false }: DriftOptions): Promise<Report> => {
  const bar = progress('payments');
  const found: Found[] = [];
  let checked = 0;
  try {
    for await (const payments of pagesOf(place, since)) {
      bar.expect(payments.length);
      await inLanes(payments, async (payment) => {
        const drifted = await look(place, payment, fix);
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
          wordOf(one),
        ]),
      ),
      `${checked} payments compared: ${found.length} differ, ${found.length - open.length} mended`,
    ],
    exitCode: open.length === 0 ? 0 : 1,
  };
};

const wordOf = ({ fixed, kind }: Found): string => {
  if (fixed) return 'mended';
  if (kind === 'creation unfinished') return 'reconcile it';
  return fixed === false || kind !== 'status differs' ? 'needs a person' : '';
};

const look = async (place: Place, seen: Payment, fix: boolean): Promise<Found | undefined> => {
  const { deps } = place;
  if (isVisiblePayment(seen) && !(await compared(place, seen)).drift) return undefined;
  // It may just have moved on.
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.load(seen.id);
  if (!payment) return undefined;
  if (!isVisiblePayment(payment)) return unfinished(payment);
  const { drift: still, report } = await compared(place, payment);
  if (!still || !fix || still.kind !== 'status differs' || !report) return still;
  try {
    const { outcome } = await storeReading(deps, store, { payment, report, cause: 'sync' });
    return outcome === 'overtaken' ? look(place, seen, fix) : { ...still, fixed: outcome === 'stored' };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { ...still, fixed: false };
  }
};

const PAGE = 200;
const LANES = 8;

async function* pagesOf(
  { documents, settings, deps }: Place,
  since: string | undefined,
): AsyncGenerator<readonly Payment[]> {
  let after: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await documents.send(
      new ScanCommand({
        TableName: settings.TABLE_NAME,
        ConsistentRead: true,
        Limit: PAGE,
        FilterExpression: since === undefined ? '#sk = :sk' : '#sk = :sk AND #at >= :since',
        ExpressionAttributeNames: { '#sk': 'sk', ...(since !== undefined && { '#at': 'updatedAt' }) },
        ExpressionAttributeValues: { ':sk': 'PAY', ...(since !== undefined && { ':since': since }) },
        ...(after && { ExclusiveStartKey: after }),
      }),
    );
    // What is being created this moment is nobody's yet.
    yield Items.map(paymentOf).filter((one) => isVisiblePayment(one) || isStuck(one, 'outcome_unknown', deps.now()));
    after = LastEvaluatedKey;
  } while (after);
}

/** A provider's rate is not ours to use up. */
const inLanes = async <T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> => {
  const left = [...all];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
};
