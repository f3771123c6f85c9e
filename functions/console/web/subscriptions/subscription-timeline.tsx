/** @module The changes of a subscription in words, for its timeline. */

import type { SubscriptionTimelineEntry } from '../api/types.ts';
import type { ShownChange } from '../pages/timeline.tsx';
import { count, dateInUtc, money } from '../view/format.ts';
import { Link } from '../view/route.tsx';
import { PlanChangeLines } from './plan-change-lines.tsx';

type Change = Extract<SubscriptionTimelineEntry, { kind: 'change' }>;

const CAUSES: Readonly<Record<NonNullable<Change['cause']>, string>> = {
  created: 'Subscription created',
  activated: 'Activated by the first payment',
  renewed: 'Renewed',
  recovered_unpaid: 'Active again without a payment',
  payment_failed: 'Payment failed',
  trial_will_end: 'The trial ends soon',
  trial_ended: 'The trial ended',
  cancel_scheduled: 'Cancellation scheduled',
  canceled: 'Subscription canceled',
  reactivated: 'Reactivated',
  paused: 'Paused',
  resumed: 'Resumed',
  method_changed: 'Payment method changed',
  payment_method_unavailable: 'The payment method was removed',
  updated: 'Subscription updated',
  billing_address_changed: 'Billing address changed',
  plan_changed: 'Plan changed',
  plan_change_scheduled: 'Change of plan scheduled',
  plan_change_withdrawn: 'Change of plan withdrawn',
  plan_change_failed: 'Change of plan failed',
  cancel_failed: 'Cancellation failed',
  reactivate_failed: 'Reactivation failed',
  resume_failed: 'Resumption failed',
  renewal_due: 'Renewal announced',
  method_expiring: 'End of the card announced',
  import: 'Imported from the provider',
  imported: 'Imported from the provider',
  discount_ended: 'Discount ended',
};

export const showSubscriptionChange = (change: Change, currency: string): ShownChange => {
  const { cause, status, payment_id: payment, failure_code: failure, plan_change: plan } = change;
  const isEnding = change.cancel_at_period_end;
  return {
    title: cause === null ? 'Subscription changed' : CAUSES[cause],
    status,
    children: (
      <>
        {payment !== undefined && (
          <p>
            <Link to={`/payments/${payment}`}>{payment}</Link>
            {failure !== undefined && (
              <>
                {' '}
                · declined: <code>{failure}</code>
              </>
            )}
          </p>
        )}
        {plan && <ChangedPlan change={plan} currency={currency} />}
        {isEnding && status !== 'canceled' && <p class="quiet">Ends on {dateInUtc(change.current_period_end)} (UTC)</p>}
      </>
    ),
  };
};

type PlanChange = NonNullable<Change['plan_change']>;

const planInShort = ({ product_id: product, quantity, total_cents: total }: PlanChange['to'], currency: string) =>
  [product ?? 'Custom price', quantity > 1 && `quantity ${count(quantity)}`, money(total, currency)]
    .filter(Boolean)
    .join(', ');

/** The plan before and after a change, with the charge. */
const ChangedPlan = ({ change, currency }: { readonly change: PlanChange; readonly currency: string }) => {
  const { from, to, lines, due_cents: due } = change;
  return (
    <>
      <p>
        From {planInShort(from, currency)} to {planInShort(to, currency)}
      </p>
      {lines.length > 0 && <PlanChangeLines lines={lines} sum={['Charged', due]} currency={currency} />}
    </>
  );
};
