import type * as z from 'zod';
import { amountWithCurrency } from '../../../shared/core/money.ts';
import type { changePreviewSchema } from '../../../shared/subscriptions/record/plan-change-view.ts';
import { columns, type Report } from '../commands/report.ts';

type Preview = z.output<ReturnType<typeof changePreviewSchema>>;

/** The report of what a change of a plan would cost. */
export const reportPreview = (preview: Preview): Report => {
  const { subscription_id: id, kind, when, effective_at: at, currency, lines } = preview;
  const amountOf = (cents: number): string => amountWithCurrency(cents, currency);
  const { next_billing_date: next, next_total_cents: nextTotal } = preview;
  const nextAmount = nextTotal === null ? 'of an amount that the provider sets' : amountOf(nextTotal);
  return {
    json: preview,
    lines: [
      `${id}: ${kind} ${when === 'now' ? 'now' : `on ${at}`}, nothing was changed`,
      ...columns(
        lines.map((line) => [
          line.kind,
          `${line.description} × ${line.quantity}`,
          `${line.period_start} to ${line.period_end}`,
          amountOf(line.amount_cents),
        ]),
      ),
      `due now ${amountOf(preview.due_now_cents)}`,
      ...(preview.forfeited_cents > 0 ? [`not given back ${amountOf(preview.forfeited_cents)}`] : []),
      ...(next === null ? [] : [`next charge ${nextAmount} on ${next}`]),
    ],
    exitCode: 0,
  };
};
