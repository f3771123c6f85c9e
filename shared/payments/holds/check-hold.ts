/**
 * @module Checks a hold as due work. Reminds the merchant a day before the hold ends, and reads the provider daily
 * after the end.
 */

import { storeReading } from '../apply-reading.ts';
import type { IntentParts } from '../create-intent.ts';
import type { VisiblePayment } from '../payment.ts';
import { providerReference } from '../payment-versions.ts';
import { isReminderDue, nextHoldCheck, remindOfCapture } from './hold-versions.ts';

/** @returns the result for the log */
export const checkHold = async (parts: IntentParts, payment: VisiblePayment): Promise<string> => {
  const { deps, store, provider } = parts;
  if (isReminderDue(payment, deps.now())) {
    await store.change(payment, (current) =>
      isReminderDue(current, deps.now()) && current.status === 'requires_capture'
        ? remindOfCapture(current, deps.now())
        : undefined,
    );
    return 'capture due';
  }
  const found = await provider.findPayment(providerReference(payment));
  const read =
    found.kind === 'done'
      ? await storeReading(deps, store, { payment, report: found.value, cause: 'reconciliation' })
      : { payment, outcome: 'provider unclear' };
  const { payment: current, outcome } = read;
  const isChecked = current.holdCheckAt !== payment.holdCheckAt || current.status !== 'requires_capture';
  if (!isChecked) await store.setTimes(current, { holdCheckAt: nextHoldCheck(current, deps.now()) });
  return outcome === 'stored' ? current.status : outcome;
};
