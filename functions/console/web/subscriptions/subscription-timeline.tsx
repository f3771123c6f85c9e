/** @module The changes of a subscription in words, for its timeline. */

import type { SubscriptionTimelineEntry } from '../api/types.ts';
import type { ShownChange } from '../pages/timeline.tsx';
import { dateInUtc } from '../view/format.ts';
import { Link } from '../view/route.tsx';

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
};

export const showSubscriptionChange = (change: Change): ShownChange => {
  const { cause, status, payment_id: payment, failure_code: failure, cancel_at_period_end: isEnding } = change;
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
        {isEnding && status !== 'canceled' && <p class="quiet">Ends on {dateInUtc(change.current_period_end)} (UTC)</p>}
      </>
    ),
  };
};
