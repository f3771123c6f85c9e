/** @module A refund as a kind of call. Every send has the same key, so the provider refunds once. */

import type { CallKind, CallResult, LookedUp } from '../../calls/call-kind.ts';
import { lookUpCall } from '../../calls/look-up.ts';
import { makeCall } from '../../calls/run-call.ts';
import { DomainError } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import { instant, iso } from '../../core/time.ts';
import {
  type ProviderRefund,
  REFUND_EXCEEDS,
  type RefundedCharge,
  type RefundsPort,
} from '../../providers/refund-port.ts';
import type { VisiblePayment } from '../payment.ts';
import type { Refund } from './refund.ts';
import { recordAnsweredRefund, recordReportedRefunds } from './refund-reports.ts';
import { type RefundStoreDeps, refundStore } from './refund-store.ts';

export interface RefundParts {
  readonly deps: RefundStoreDeps;
  readonly port: RefundsPort;
  readonly payment: VisiblePayment;
}

/** The provider's ids of a payment. */
export const chargedAs = ({ providerIntentId, providerPaymentId, captures }: VisiblePayment): RefundedCharge => ({
  intentId: providerIntentId ?? '',
  paymentId: providerPaymentId ?? providerIntentId ?? '',
  ...(captures && { captureIds: captures.map(({ id }) => id) }),
});

/**
 * Sends a claimed refund. Removes a refund that certainly did not happen, so a retry under the same key makes the
 * refund again.
 */
export const sendRefund = (parts: RefundParts, refund: Refund): Promise<CallResult<Refund>> =>
  makeCall(REFUND_CALL, parts, refund);

/** Looks up a pending refund, as due work. @returns the result for the log */
export const lookUpRefund = async (parts: RefundParts, refund: Refund): Promise<string> =>
  (await lookUpCall(REFUND_CALL, parts, refund)).text;

/** `find` stores all of the payment's refunds and returns this refund, if the provider has it. */
const REFUND_CALL: CallKind<RefundParts, Refund, Refund, ProviderRefund, Refund | undefined> &
  LookedUp<RefundParts, Refund, Refund> = {
  send: async (parts, claim) => ({ claim, outcome: await send(parts, claim) }),
  find: (parts, claim) => nowOrLater(UNREAD, () => readRefunds(parts, claim)),

  apply: async ({ deps }, claim, said) => {
    if (said.by !== 'response' && !said.report && claim.providerRefundId === undefined) {
      return { state: 'absent', record: claim };
    }
    const record =
      said.by !== 'response'
        ? (said.report ?? claim)
        : await nowOrLater({ ...claim, providerRefundId: said.report.refundId }, () =>
            recordAnsweredRefund(deps, claim, said.report),
          );
    return { state: record.status === 'pending' ? 'open' : 'settled', record };
  },

  end: async ({ deps }, claim, { refusal }) => {
    const failureCode = refusal?.kind === 'declined' ? refusal.code : (refusal?.reason ?? 'not_received');
    const record = await nowOrLater(claim, () => failRefund(deps, claim, refusal ? 'refusal' : 'limit', failureCode));
    return { record, ...(record.status === 'failed' && { refusal }) };
  },

  takeBack: async ({ deps }, claim, notDone) => {
    const store = refundStore(deps);
    const isWithdrawn = await nowOrLater(false, () => store.withdraw(claim));
    const stands = isWithdrawn ? undefined : await store.load(claim.id);
    return stands ? { record: stands } : { record: claim, notDone };
  },

  claimedAt: ({ createdAt }) => instant(createdAt),
  step: ({ reconcileStep = 0 }) => reconcileStep,
  maySend: async ({ payment }) => payment.status === 'succeeded',
  setLook: async ({ deps }, refund, { at, step }) => {
    await refundStore(deps).reschedule(refund, iso(at), step);
    return undefined;
  },
  // Only a refund without a response can be stuck. After the response, a refund may stay pending at the provider for
  // days.
  stuck: ({ id, paymentId, providerId, providerRefundId }) =>
    providerRefundId === undefined
      ? ['refund stuck', { payment_id: paymentId, refund_id: id, provider: providerId }]
      : undefined,
  statusOf: ({ status }) => status,
};

const UNREAD = { kind: 'unknown', reason: 'error' } as const;

const send = ({ port, payment }: RefundParts, refund: Refund): Promise<Outcome<ProviderRefund>> =>
  port.createRefund({
    idempotencyKey: `${refund.id}:refund`,
    refundId: refund.id,
    payment: { ...chargedAs(payment), ...(refund.captureId && { paymentId: refund.captureId }) },
    amountCents: refund.amountCents,
    currency: refund.currency,
    reason: refund.reason,
  });

/** Concurrent refunds of a payment compete for its version. A refund that cannot commit now waits for its next look. */
const nowOrLater = async <T>(pending: T, settle: () => Promise<T>): Promise<T> => {
  try {
    return await settle();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'VERSION_CONFLICT') throw error;
    return pending;
  }
};

/** Stores all of the payment's refunds. @returns this refund, if the provider has it; unknown if the read fails */
export const readRefunds = async (
  { deps, port, payment }: RefundParts,
  refund: Refund,
): Promise<Outcome<Refund | undefined>> => {
  const read = await port.listRefunds(chargedAs(payment));
  if (read.kind !== 'done') return UNREAD;
  const stored = await recordReportedRefunds(deps, payment, read.value);
  return { kind: 'done', value: stored.find(({ id }) => id === refund.id) };
};

/** Sets a refund that the provider did not make to failed, unless a report of the refund came first. */
const failRefund = async (
  deps: RefundStoreDeps,
  refund: Refund,
  cause: 'refusal' | 'limit',
  failureCode: string,
): Promise<Refund> => {
  const { record } = await refundStore(deps).change(refund, cause, (current) =>
    current.status === 'pending' && current.providerRefundId === undefined
      ? {
          ...current,
          status: 'failed',
          failureCode,
          reconcileAt: undefined,
          reconcileStep: undefined,
          version: current.version + 1,
          updatedAt: iso(deps.now()),
        }
      : undefined,
  );
  return record;
};

/** The error of a refund that the provider refused. */
export const refundRefusedError = (refund: Refund, refundableCents: number): DomainError => {
  const details = { refund_id: refund.id, payment_id: refund.paymentId };
  return refund.failureCode === REFUND_EXCEEDS
    ? new DomainError('INVALID_STATE', {
        message: 'The amount exceeds what the provider can still refund',
        details: { ...details, refundable_cents: refundableCents },
      })
    : new DomainError('PROVIDER_ERROR', {
        message: 'The provider refused the refund',
        details: { ...details, reason: refund.failureCode ?? 'refused' },
      });
};
