/** @module The next version of a succeeded payment after further captures at its provider. Pure. */

import type { Instant } from '../../core/time.ts';
import type { ProviderPayment } from '../../providers/payment-port.ts';
import type { HistoryCause, VisiblePayment } from '../payment.ts';
import { versionAfter } from '../payment-fields.ts';
import { factsOfNext, firstFactLook, reportedFacts } from '../recorded-facts.ts';
import { capturesOfNext, pricesInProportion, withHeldSplit } from './several-captures.ts';

/** @returns undefined without further captures */
export const withMoreCaptured = (
  payment: VisiblePayment,
  report: ProviderPayment,
  now: Instant,
  cause: HistoryCause,
): VisiblePayment | undefined => {
  const { captures, amountCents, status } = report;
  if (payment.status !== 'succeeded' || status !== 'succeeded' || !captures || amountCents === undefined) return;
  const known = new Set(payment.captures?.map(({ id }) => id));
  if (captures.every(({ captureId }) => known.has(captureId))) return undefined;
  // The known fee covers only the earlier captures, so read the new fee.
  const facts = factsOfNext({ ...payment, settlement: undefined }, payment, {
    reported: reportedFacts(payment.status, report.facts),
    now,
  });
  return {
    ...payment,
    ...facts,
    ...(facts.settlement ? {} : firstFactLook(now)),
    ...withHeldSplit(payment, pricesInProportion(payment, amountCents)),
    captures: capturesOfNext(payment, captures),
    ...versionAfter(payment, cause, now),
  };
};
