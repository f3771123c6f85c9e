/** @module Previews a change of the plan. Nothing is stored or charged. */

import { iso } from '../../core/time.ts';
import type { Reply } from '../../http/request.ts';
import { changeLinesView } from '../record/plan-change-view.ts';
import { type PlanChangeDeps, type PlanChangeRequest, readWantedChange } from './plan-change-terms.ts';

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
      next_billing_date: record.cancelAtPeriodEnd ? null : periodEnd,
      current_period_end: periodEnd,
    },
  };
};
