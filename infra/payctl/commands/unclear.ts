/**
 * @module Finds records that need attention: outcomes that have been unknown for too long, holds that end soon, and
 * disputes with evidence due soon.
 */

import * as z from 'zod';
import { DAY_MS, HOUR_MS, instant, iso, MINUTE_MS } from '../../../shared/core/time.ts';
import { disputeViewSchema, isEvidenceDueSoon } from '../../../shared/payments/dispute.ts';
import { isVisiblePayment, type Payment, paymentOf } from '../../../shared/payments/payment.ts';
import { type Refund, refundOf } from '../../../shared/payments/refunds/refund.ts';
import { dueShards, type Key } from '../../../shared/platform/keys.ts';
import type { Item } from '../../../shared/platform/table.ts';
import { listDisputes } from '../../../shared/queries/list-refunds.ts';
import { endOfHold } from '../../../shared/queries/payment-entry.ts';
import type { Installation } from '../installation/installation.ts';

type Reader = Pick<Installation, 'deps'>;

/** The doctor names a record after its outcome has been unknown for this time. */
const UNCLEAR_AFTER_MS = 10 * MINUTE_MS;
const UNFINISHED_AFTER_MS = 5 * MINUTE_MS;

export interface Unclear {
  /** Payments with an unknown outcome of a charge, update, capture or release. */
  readonly payments: readonly string[];
  readonly creations: readonly string[];
  readonly refunds: readonly string[];
  /** Holds that end within a day, as `pay_… by <time>`, most urgent first. */
  readonly holds: readonly string[];
  /** True if due records were left unread. */
  readonly isPartial: boolean;
}

/**
 * Only records due within this time are read. A record with an unknown outcome is due within a day, and a hold is due
 * at its end.
 */
const HORIZON_MS = 25 * HOUR_MS;
const PER_PAGE = 500;
const MAX_PAGES_PER_SHARD = 10;

export const findUnclear = async (reader: Reader): Promise<Unclear> => {
  const now = reader.deps.now();
  const shards = await Promise.all(dueShards.map((shard) => readShard(reader, shard)));
  const keys = shards.flatMap((shard) => shard.keys);
  const items = await reader.deps.table.getMany(keys.filter(({ sk }) => sk === 'PAY' || sk === 'RFD'));
  const of = (sk: string): readonly Item[] =>
    items.filter((item) => item !== undefined).filter((one) => one['sk'] === sk);
  const [payments, refunds] = [of('PAY').map(paymentOf), of('RFD').map(refundOf)];
  return {
    payments: payments.filter((one) => isVisiblePayment(one) && isUnclear(one, now)).map(({ id }) => id),
    creations: payments.filter((one) => !isVisiblePayment(one) && isUnfinished(one, now)).map(({ id }) => id),
    refunds: refunds.filter((one) => isUnclearRefund(one, now)).map(({ id, paymentId }) => `${id} of ${paymentId}`),
    holds: endingHolds(payments, iso(now + DAY_MS)),
    isPartial: shards.some((shard) => shard.isPartial),
  };
};

const readShard = async ({ deps }: Reader, shard: string) => {
  const keys: Key[] = [];
  let after: Item | undefined;
  for (let pages = 0; pages < MAX_PAGES_PER_SHARD; pages += 1) {
    const to = iso(deps.now() + HORIZON_MS);
    const page = await deps.table.queryIndex({ index: 'due', partition: shard, to, limit: PER_PAGE, after });
    keys.push(...page.items.map((item) => ({ pk: String(item['pk']), sk: String(item['sk']) })));
    after = page.next;
    if (!after) break;
  }
  return { keys, isPartial: after !== undefined };
};

/** True if a claimed charge, an update, a capture or a release has had no response for over ten minutes. */
const isUnclear = ({ status, cause, draft, holdCall, updatedAt }: Payment, now: number): boolean =>
  ((status === 'processing' && cause === 'claim') || draft !== undefined || holdCall !== undefined) &&
  now - instant(holdCall?.claimedAt ?? updatedAt) > UNCLEAR_AFTER_MS;

const endingHolds = (payments: readonly Payment[], until: string): readonly string[] =>
  payments
    .flatMap((payment) => {
      const end = endOfHold(payment);
      return end === undefined || end > until ? [] : [`${end} ${payment.id}`];
    })
    .sort()
    .map((one) => one.split(' ').toReversed().join(' by '));

const isUnfinished = ({ createdAt }: Payment, now: number): boolean => now - instant(createdAt) > UNFINISHED_AFTER_MS;

const isUnclearRefund = ({ status, providerRefundId, createdAt }: Refund, now: number): boolean =>
  status === 'pending' && providerRefundId === undefined && now - instant(createdAt) > UNCLEAR_AFTER_MS;

/** Only disputes created within this time are read, because no provider allows more time for evidence. */
const CREATED_WITHIN_MS = 120 * DAY_MS;

const disputePage = z.object({
  data: z.array(disputeViewSchema()),
  meta: z.object({ next_cursor: z.string().nullable() }),
});

/** Disputes with evidence due within three days, as `dsp_… of pay_… by <time>`, most urgent first. */
export const findDueDisputes = async ({ deps }: Reader): Promise<readonly string[]> => {
  const from = iso(deps.now() - CREATED_WITHIN_MS);
  const due: z.infer<typeof disputePage>['data'] = [];
  let cursor: string | undefined;
  do {
    const page = disputePage.parse(
      await listDisputes(deps, { query: { status: 'needs_response', from, limit: 100, cursor }, csvPage: undefined }),
    );
    due.push(
      ...page.data.filter(({ status, evidence_due_by: by }) =>
        isEvidenceDueSoon({ status, evidenceDueBy: by ?? undefined }, deps.now()),
      ),
    );
    cursor = page.meta.next_cursor ?? undefined;
  } while (cursor !== undefined);
  const byTime = due.toSorted((one, other) => ((one.evidence_due_by ?? '') < (other.evidence_due_by ?? '') ? -1 : 1));
  return byTime.map(({ id, payment_id, evidence_due_by }) => `${id} of ${payment_id} by ${evidence_due_by}`);
};
