import type * as z from 'zod';
import { amountWithCurrency } from '../../../shared/core/money.ts';
import { changePreviewSchema } from '../../../shared/subscriptions/record/plan-change-view.ts';
import type { ChangeTime } from '../../../shared/subscriptions/record/subscription-requests.ts';
import { type ApiSubscription, readApiSubscription } from '../compare/api-subscription.ts';
import type { Api } from '../installation/api.ts';
import { NotReachable } from '../installation/control.ts';
import { columns, type Report } from './report.ts';

export interface PlanOptions {
  readonly product?: string | undefined;
  readonly quantity?: number | undefined;
  readonly when?: ChangeTime | undefined;
}

/** Shows the payer's cost of a plan change. Requires the scopes subscriptions:read and subscriptions:write. */
export const showPreview = async (api: Api, id: string, { product, quantity, when }: PlanOptions): Promise<Report> => {
  const subscription = await readApiSubscription(api, id);
  const path = `/subscriptions/${subscription.id}/change/preview`;
  const { data } = await api.ask(path, { product_id: product, quantity, when }, payerOf(subscription));
  return reportPreview(changePreviewSchema().parse(data));
};

/**
 * The payer in the format of X-Act-For. @throws NotReachable for a guest, because the API shows no guest_id of a
 * subscription
 */
const payerOf = ({ id, organization_id: organization, user_id: user }: ApiSubscription): string => {
  if (organization) return `organization:${organization}`;
  if (user) return `user:${user}`;
  throw new NotReachable(`${id} is a guest's, and the API does not show the guest_id of a subscription`);
};

type Preview = z.output<ReturnType<typeof changePreviewSchema>>;

const reportPreview = (preview: Preview): Report => {
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
