/** @module Previews a plan change. Nothing is stored or charged. */

import { iso } from '../../core/time.ts';
import type { Reply } from '../../http/request.ts';
import { changeLinesView } from '../record/plan-change-view.ts';
import type { VisibleSubscription } from '../record/subscription.ts';
import { afterPeriod, codesPart } from '../record/subscription-discount.ts';
import {
  type PlanChangeDeps,
  type PlanChangeRequest,
  readWantedChange,
  type WantedChange,
} from './plan-change-terms.ts';

/** The discount code after the change, with the amount it takes off one period; null without a code. */
const discountAfter = ({ discount }: VisibleSubscription, { plan, when, startsPeriod }: WantedChange) => {
  const code = codesPart(plan);
  if (!discount || !code) return null;
  const after = when === 'now' && startsPeriod ? afterPeriod(plan) : plan;
  return { ...code, periods_left: after.discount?.periodsLeft ?? null };
};

export const previewChange = async (deps: PlanChangeDeps, request: PlanChangeRequest): Promise<Reply> => {
  const { record } = request;
  const wanted = await readWantedChange(deps, request, { isClaiming: false });
  const { kind, when, at, price, lines, period, nextTotalCents } = wanted;
  const periodEnd = iso(period.end);
  return {
    data: {
      subscription_id: record.id,
      kind,
      when,
      effective_at: when === 'now' ? iso(at) : periodEnd,
      proration_at: iso(at),
      currency: record.currency,
      lines: changeLinesView(lines),
      unused_cents: price.unused.totalCents,
      due_now_cents: price.due.totalCents,
      forfeited_cents: price.forfeitedCents,
      next_total_cents: nextTotalCents ?? null,
      discount: discountAfter(record, wanted),
      next_billing_date: record.cancelAtPeriodEnd ? null : periodEnd,
      current_period_end: periodEnd,
    },
  };
};
