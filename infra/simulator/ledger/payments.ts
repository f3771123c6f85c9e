/**
 * @module A payment's state machine at a provider. `succeeded` and `canceled` are final, and a payment has at most one
 * succeeded or pending charge.
 */

import type { Behaviour, DeclineReason } from './behaviours.ts';
import { openDispute } from './disputes.ts';
import type { LedgerCharge, LedgerMethod, LedgerPayment } from './documents.ts';
import { withFee } from './fees.ts';
import { attachMethod } from './methods.ts';
import { NeverArrived, type Unit } from './unit.ts';

const SETTLEMENT_MS = 60_000;
const HOLD_MS = 7 * 86_400_000;

export interface ChargeTerms {
  /** True if the customer is absent and cannot authenticate. */
  readonly offSession: boolean;
  /** True if a payment declined for authentication waits for its customer, like an invoice's payment. */
  readonly waitsForCustomer?: boolean;
  /**
   * Identifies this attempt, so that it loses its connection only once. If undefined, every attempt loses its
   * connection.
   */
  readonly attempt: string | undefined;
  /** True for the provider's own charge, without a connection to lose. */
  readonly byItself?: boolean;
}

/** A payment and the method to charge. */
export interface ChargeAttempt {
  readonly payment: LedgerPayment;
  readonly method: LedgerMethod;
}

export interface ChargeOutcome {
  readonly payment: LedgerPayment;
  readonly declined?: {
    readonly charge: LedgerCharge | undefined;
    readonly method: LedgerMethod;
    readonly reason: DeclineReason;
  };
}

/** Tries to charge the method. Expects the status requires_payment_method, requires_confirmation or requires_action. */
export const attemptPayment = (unit: Unit, { payment, method }: ChargeAttempt, terms: ChargeTerms): ChargeOutcome => {
  const started: ChargeAttempt = { payment: { ...payment, methodId: method.id, failure: null }, method };
  const behaviour = method.behaviour;
  switch (behaviour.kind) {
    case 'succeeds':
      return complete(unit, started);
    case 'declines':
      return decline(unit, started, behaviour.reason);
    case 'asks_customer':
      return ask(unit, started, { behaviour, terms });
    case 'settles_later':
      return startSettlement(unit, started);
    case 'succeeds_then_declines':
      if (unit.count(`charges:${chargeCounter(payment, method)}`) <= behaviour.times) return complete(unit, started);
      return behaviour.reason === 'authentication_required' && terms.waitsForCustomer
        ? demandCustomer(unit, started, terms)
        : decline(unit, started, behaviour.reason);
    case 'loses_connection':
      if (!terms.byItself && (terms.attempt === undefined || !unit.lostBefore(terms.attempt))) {
        if (!behaviour.committed) throw new NeverArrived(terms.attempt);
        unit.loseAnswer(terms.attempt);
      }
      return complete(unit, started);
  }
};

/** The customer's own step, which is 3-D Secure or an approval. */
export const authenticate = (unit: Unit, { payment, method }: ChargeAttempt, passed: boolean): LedgerPayment => {
  const waiting: LedgerPayment = { ...payment, failure: null };
  if (!passed) return decline(unit, { payment: waiting, method }, 'authentication_failed').payment;
  const known = payment.saveMethod === null ? method : unit.documents.methods.put({ ...method, setUp: true });
  const later = method.behaviour.kind === 'asks_customer' ? method.behaviour.afterwards : undefined;
  if (later !== undefined) return decline(unit, { payment: waiting, method: known }, later).payment;
  return complete(unit, { payment: waiting, method: known }, true).payment;
};

/** Settles a processing payment. Other payments stay unchanged. */
export const settleLedgerPayment = (unit: Unit, paymentId: string): void => {
  const payment = unit.documents.payments.get(unit.slot, paymentId);
  if (payment?.status !== 'processing' || payment.methodId === null || payment.latestChargeId === null) return;
  const method = unit.documents.methods.get(unit.slot, payment.methodId);
  const charge = unit.documents.charges.get(unit.slot, payment.latestChargeId);
  if (!method || !charge) return;
  if (method.behaviour.kind === 'settles_later' && method.behaviour.outcome === 'failed') {
    fail(unit, payment, { method, reason: 'generic_decline', charge });
    return;
  }
  if (payment.captures === 'later') {
    hold(unit, { payment, method }, charge);
    return;
  }
  const paid = withFee(
    unit,
    unit.documents.charges.put({
      ...charge,
      status: 'succeeded',
      captured: true,
      authorized: charge.amount,
      amountCaptured: charge.amount,
    }),
  );
  unit.announce({ kind: 'charge.succeeded', charge: paid });
  succeed(unit, { payment, method }, charge.amount);
};

/** Captures reserved money. Releases the rest, except the amount held for further captures. */
export const captureLedgerPayment = (unit: Unit, payment: LedgerPayment, amount: number): LedgerPayment => {
  const charge = unit.documents.charges.get(unit.slot, payment.latestChargeId ?? '');
  const method = unit.documents.methods.get(unit.slot, payment.methodId ?? '');
  if (!charge || !method) throw new Error(`Payment ${payment.id} is reserved without a charge`);
  const captured = withFee(
    unit,
    unit.documents.charges.put({
      ...charge,
      status: 'succeeded',
      reserved: false,
      captured: true,
      amountCaptured: amount,
      released: Math.max(0, charge.authorized - amount - (charge.stillHeld ?? 0)),
    }),
  );
  unit.announce({ kind: 'charge.captured', charge: captured });
  return succeed(unit, { payment, method }, amount);
};

export const cancelLedgerPayment = (unit: Unit, payment: LedgerPayment, reason: string | null): LedgerPayment => {
  const charge = payment.status === 'requires_capture' && payment.latestChargeId;
  const reserved = charge ? unit.documents.charges.get(unit.slot, charge) : undefined;
  if (reserved) {
    const released = unit.documents.charges.put({ ...reserved, status: 'canceled', released: reserved.authorized });
    unit.announce({ kind: 'charge.refunded', charge: released });
  }
  const canceled = unit.documents.payments.put({
    ...payment,
    status: 'canceled',
    canceledAt: unit.at,
    cancellationReason: reason,
  });
  unit.announce({ kind: 'payment.canceled', payment: canceled });
  return canceled;
};

/**
 * The counter's name for a method's charges. Charges of an unsaved method are counted by its test value and customer.
 */
const chargeCounter = (payment: LedgerPayment, method: LedgerMethod): string =>
  method.customerId !== null || (payment.saveMethod !== null && payment.customerId !== null)
    ? method.id
    : `${method.token}:${payment.customerId ?? ''}`;

interface Asking {
  readonly behaviour: Extract<Behaviour, { kind: 'asks_customer' }>;
  readonly terms: ChargeTerms;
}

const ask = (unit: Unit, attempt: ChargeAttempt, { behaviour, terms }: Asking): ChargeOutcome => {
  if (behaviour.until === 'set_up' && attempt.method.setUp) return complete(unit, attempt);
  if (behaviour.until === 'absent' && terms.offSession) return complete(unit, attempt);
  return demandCustomer(unit, attempt, terms);
};

const demandCustomer = (unit: Unit, attempt: ChargeAttempt, terms: ChargeTerms): ChargeOutcome => {
  if (terms.offSession && terms.waitsForCustomer) return declineAndAsk(unit, attempt);
  if (terms.offSession) return decline(unit, attempt, 'authentication_required');
  const asked = unit.documents.payments.put({ ...attempt.payment, status: 'requires_action' });
  unit.announce({ kind: 'payment.requires_action', payment: asked });
  return { payment: asked };
};

/** The charge fails, but the payment keeps its method, because the customer can still authenticate. */
const declineAndAsk = (unit: Unit, { payment, method }: ChargeAttempt): ChargeOutcome => {
  const reason = 'authentication_required';
  const added = addCharge(unit, { payment, method }, { status: 'failed' });
  const failure = { reason, chargeId: added.id, methodId: method.id } as const;
  const charge = unit.documents.charges.put({ ...added, failure });
  unit.announce({ kind: 'charge.failed', charge });
  const asked = unit.documents.payments.put({
    ...payment,
    status: 'requires_action',
    latestChargeId: charge.id,
    failure,
  });
  unit.announce({ kind: 'payment.requires_action', payment: asked });
  return { payment: asked, declined: { charge, method, reason } };
};

const startSettlement = (unit: Unit, attempt: ChargeAttempt): ChargeOutcome => {
  const { payment } = attempt;
  const charge = addCharge(unit, attempt, { status: 'pending' });
  unit.announce({ kind: 'charge.pending', charge });
  const processing = unit.documents.payments.put({ ...payment, status: 'processing', latestChargeId: charge.id });
  unit.announce({ kind: 'payment.processing', payment: processing });
  unit.schedule(unit.at + SETTLEMENT_MS, 'settle_payment', payment.id);
  return { payment: processing };
};

const complete = (unit: Unit, attempt: ChargeAttempt, authenticated = false): ChargeOutcome => {
  const { payment, method } = attempt;
  if (payment.captures === 'later') {
    const held = hold(unit, attempt, addCharge(unit, attempt, { status: 'pending', authenticated }));
    return { payment: held };
  }
  const charge = withFee(unit, addCharge(unit, attempt, { status: 'succeeded', authenticated }));
  unit.announce({ kind: 'charge.succeeded', charge });
  return { payment: succeed(unit, { payment: { ...payment, latestChargeId: charge.id }, method }, charge.amount) };
};

/** Reserves the amount of an approved charge. */
const hold = (unit: Unit, { payment, method }: ChargeAttempt, charge: LedgerCharge): LedgerPayment => {
  const { behaviour } = method;
  const bankMs = behaviour.kind === 'succeeds' ? behaviour.holdMs : undefined;
  const holdEndsAt = unit.at + (bankMs ?? payment.holdMs ?? HOLD_MS);
  const reserved = unit.documents.charges.put({ ...charge, reserved: true, authorized: charge.amount, holdEndsAt });
  unit.announce({ kind: 'charge.succeeded', charge: reserved });
  const holding = unit.documents.payments.put({ ...payment, status: 'requires_capture', latestChargeId: reserved.id });
  unit.announce({ kind: 'payment.authorized', payment: holding });
  unit.schedule(holdEndsAt, 'end_hold', payment.id);
  return holding;
};

const succeed = (unit: Unit, { payment, method }: ChargeAttempt, amountReceived: number): LedgerPayment => {
  const succeeded = unit.documents.payments.put({ ...payment, status: 'succeeded', amountReceived });
  unit.announce({ kind: 'payment.succeeded', payment: succeeded });
  if (method.customerId === null) {
    if (payment.saveMethod !== null && payment.customerId !== null) attachMethod(unit, method, payment.customerId);
    else unit.documents.methods.put({ ...method, spent: true });
  }
  if (method.behaviour.kind === 'succeeds' && method.behaviour.disputed) {
    openDispute(unit, chargeOf(unit, succeeded), method.behaviour.disputed);
  }
  return succeeded;
};

const chargeOf = (unit: Unit, { id, latestChargeId }: LedgerPayment): LedgerCharge => {
  const charge = unit.documents.charges.get(unit.slot, latestChargeId ?? '');
  if (!charge) throw new Error(`Payment ${id} has no charge`);
  return charge;
};

const decline = (unit: Unit, attempt: ChargeAttempt, reason: DeclineReason): ChargeOutcome => {
  const { payment, method } = attempt;
  // A failed authentication creates no charge.
  const charge = reason === 'authentication_failed' ? undefined : addCharge(unit, attempt, { status: 'failed' });
  const failed = fail(unit, payment, { method, reason, charge });
  const stored = charge && unit.documents.charges.get(unit.slot, charge.id);
  return { payment: failed, declined: { charge: stored, method, reason } };
};

interface Failing {
  readonly method: LedgerMethod;
  readonly reason: DeclineReason;
  readonly charge: LedgerCharge | undefined;
}

const fail = (unit: Unit, payment: LedgerPayment, { method, reason, charge }: Failing): LedgerPayment => {
  const failure = { reason, chargeId: charge?.id ?? null, methodId: method.id };
  if (charge) {
    const failedCharge = unit.documents.charges.put({ ...charge, status: 'failed', failure });
    unit.announce({ kind: 'charge.failed', charge: failedCharge });
  }
  const failed = unit.documents.payments.put({
    ...payment,
    status: 'requires_payment_method',
    methodId: null,
    latestChargeId: charge?.id ?? payment.latestChargeId,
    failure,
  });
  unit.announce({ kind: 'payment.failed', payment: failed });
  return failed;
};

interface Charging {
  readonly status: LedgerCharge['status'];
  readonly authenticated?: boolean;
}

const addCharge = (unit: Unit, { payment, method }: ChargeAttempt, charging: Charging): LedgerCharge =>
  unit.documents.charges.put({
    id: unit.newId('charge'),
    provider: unit.slot,
    metadata: payment.metadata,
    wire: payment.wire,
    createdAt: unit.at,
    paymentId: payment.id,
    amount: payment.amount,
    currency: payment.currency,
    status: charging.status,
    reserved: false,
    captured: charging.status === 'succeeded',
    authorized: charging.status === 'succeeded' ? payment.amount : 0,
    amountCaptured: charging.status === 'succeeded' ? payment.amount : 0,
    released: 0,
    holdEndsAt: null,
    amountRefunded: 0,
    customerId: payment.customerId,
    methodId: method.id,
    description: payment.description,
    failure: null,
    authenticated: charging.authenticated ?? false,
    fee: null,
  });
