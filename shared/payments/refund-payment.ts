/** @module Refunds a payment. Reserves the amount first, so refunds made here never exceed the total. */

import * as z from 'zod';
import { keyOfCaller } from '../access/caller.ts';
import { requireOthersPayment } from '../access/own-payment.ts';
import { ownerIdsOf } from '../access/record-kind.ts';
import { type RefundLimits, refundLimitsOf } from '../access/refund-limits.ts';
import { underRight } from '../access/right.ts';
import type { CallResult } from '../calls/call-kind.ts';
import { lookTime } from '../calls/call-times.ts';
import { DomainError, invalid } from '../core/errors.ts';
import { REFUND_REASONS } from '../core/money-back.ts';
import { iso } from '../core/time.ts';
import { createOnce } from '../http/create-once.ts';
import { boundedText, metadataField } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { TransactionStep } from '../platform/table.ts';
import { firstVersion } from '../platform/versioned-record.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { REFUND_DISPUTED, type RefundsPort } from '../providers/refund-port.ts';
import { unavailableError } from '../providers/unwrap.ts';
import { refusedAsDisputed, requireUndisputed, takenByLostDispute } from './dispute-guard.ts';
import { captureToRefund } from './holds/several-captures.ts';
import { moneyAccount } from './money-account.ts';
import type { VisiblePayment } from './payment.ts';
import { readDisputesOf } from './read-money-back.ts';
import { type Refund, refundView } from './refunds/refund.ts';
import { refundRefusedError, sendRefund } from './refunds/refund-call.ts';
import { type RefundStore, refundStore } from './refunds/refund-store.ts';
import { requireRefundable } from './refunds/refund-sums.ts';

export const createRefundBody = z
  .object({
    amount_cents: z
      .int()
      .positive()
      .optional()
      .meta({
        description: 'The amount to refund, in minor units, at least 1; the rest if absent.',
        examples: [500],
      }),
    reason: z
      .enum(REFUND_REASONS)
      .nullish()
      .describe('Why the payment is refunded. It is sent to the provider if the provider has a matching reason.'),
    description: boundedText(1_000).nullish().describe('A note in your words, at most 1,000 characters.'),
    metadata: metadataField,
    despite_dispute: z
      .boolean()
      .nullish()
      .describe(
        'True refunds although a dispute of the payment is open. If the payer wins the dispute, the money goes back twice. Stripe and Square still refuse, except for an inquiry; PayPal refuses a partial refund.',
      ),
  })
  .meta({ id: 'CreateRefund', description: 'The amount and the reason. Send `{}` to refund everything that is left.' });
type CreateRefundBody = z.output<typeof createRefundBody>;

type CreateRequest = ApiRequest<unknown, unknown, CreateRefundBody, VisiblePayment>;

interface RefundOrder extends Pick<CreateRequest, 'body' | 'idempotency'> {
  readonly payment: VisiblePayment;
  /** The user id of the admin, or the id of the key. */
  readonly createdBy: string | undefined;
  /** The limit for the sum of all refunds of the payment; undefined without a limit. */
  readonly limitCents?: number | undefined;
  /** Conditions of the write that reserves the amount. */
  readonly onlyIf?: readonly TransactionStep[] | undefined;
}

/** `replayed` is true if an earlier request under the same Idempotency-Key made the refund. */
type OrderedRefund = CallResult<Refund> & { readonly replayed: boolean };

interface CreateRefundDeps extends MoneyDeps {
  readonly supportRefundLimits: RefundLimits;
}

export const createRefund = async (deps: CreateRefundDeps, request: CreateRequest): Promise<Reply> => {
  const { record: payment, body, caller, idempotency } = request;
  const createdBy = caller.kind === 'session' ? caller.userId : keyOfCaller(caller)?.id;
  const right = await requireOthersPayment(deps.table, { caller, record: payment, scope: 'refunds:write' });
  const limits = refundLimitsOf(caller, deps.supportRefundLimits);
  const limitCents = limits && (limits[payment.currency] ?? 0);
  const order = { payment, body, idempotency, createdBy, limitCents, onlyIf: right.onlyIf };
  const ordered = await underRight(right, () => orderRefund(deps, order));
  return ordered.replayed ? replay(deps, ordered.record) : reply(deps, ordered);
};

/**
 * @throws DomainError INVALID_STATE; REFUND_EXCEEDS_PAYMENT; PAYMENT_DISPUTED; UNSUPPORTED_PROVIDER; VERSION_CONFLICT
 */
const orderRefund = async (deps: MoneyDeps, order: RefundOrder): Promise<OrderedRefund> => {
  const { payment, idempotency } = order;
  const body: AskedRefund = { ...order.body, limitCents: order.limitCents, onlyIf: order.onlyIf };
  const { provider, port } = await openRefunds(deps, payment);
  const store = refundStore(deps);
  let made: MadeRefund | undefined;
  const { record, replayed } = await createOnce<Refund>(deps, {
    store: {
      find: store.find,
      insertOrFind: async (refund) => {
        made = await insertUnlessMade(deps, { payment, refund, asked: body });
        return made ? undefined : store.find(refund.id);
      },
    },
    kind: 'refund',
    idempotency,
    build: async (id) => {
      const amountCents = await decideAmount(deps, payment, body);
      await requireExpressible(provider, { amountCents, currency: payment.currency });
      return newRefund(order, { id, amountCents, now: deps.now() });
    },
  });
  if (replayed || made === undefined) return { record, replayed: true };
  const parts = { deps, port, payment: made.payment };
  const result = await sendRefund(parts, made.refund);
  // After a refusal because of a dispute, read the provider's disputes, because this dispute may not be recorded yet.
  // If the read fails, an event reports the dispute later.
  if (result.refusal?.kind === 'refused' && result.refusal.reason === REFUND_DISPUTED) await readDisputesOf(parts);
  return { ...result, replayed: false };
};

/** @throws DomainError UNSUPPORTED_PROVIDER if the payment's provider makes no refunds */
const openRefunds = async (
  { providers }: Pick<MoneyDeps, 'providers'>,
  { providerId }: Pick<VisiblePayment, 'providerId'>,
): Promise<{ readonly provider: PaymentProvider; readonly port: RefundsPort }> => {
  const provider = await providers.require(providerId, 'payments');
  if (!provider.refunds) throw new DomainError('UNSUPPORTED_PROVIDER');
  return { provider, port: provider.refunds };
};

/** Refuses an amount that is not a multiple of the provider's unit in this currency. */
const requireExpressible = async (
  provider: PaymentProvider,
  amount: { readonly amountCents: number; readonly currency: string },
): Promise<void> => {
  const refusal = await provider.checkAmount(amount);
  if (refusal?.kind !== 'not expressible') return;
  const message = `must be a multiple of ${refusal.multipleOf} in ${amount.currency} at ${provider.slot}`;
  throw invalid([{ path: 'amount_cents', rule: 'multiple_of', message }]);
};

type MadeRefund = NonNullable<Awaited<ReturnType<RefundStore['insert']>>>;

interface Asked {
  readonly payment: VisiblePayment;
  readonly refund: Refund;
  readonly asked: AskedRefund;
}

type AskedRefund = Pick<CreateRefundBody, 'amount_cents' | 'despite_dispute'> &
  Pick<RefundOrder, 'limitCents' | 'onlyIf'>;

/** Limits the sum of all refunds, including pending refunds. @throws DomainError INSUFFICIENT_PERMISSIONS */
const requireWithin = (limitCents: number | undefined, payment: VisiblePayment, amountCents: number): void => {
  const { refunded, refunding } = moneyAccount(payment);
  if (limitCents === undefined || refunded + refunding + amountCents <= limitCents) return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'The refunds of this payment would exceed the refund limit of support',
    details: { required_scope: 'refunds:write', limit_cents: limitCents },
  });
};

/**
 * The amount to refund now.
 * @throws DomainError INVALID_STATE, also if no single capture covers the amount; REFUND_EXCEEDS_PAYMENT;
 * PAYMENT_DISPUTED; INSUFFICIENT_PERMISSIONS
 */
const decideAmount = async (
  { table }: Pick<MoneyDeps, 'table'>,
  payment: VisiblePayment,
  { amount_cents: amount, despite_dispute: despiteDispute, limitCents }: AskedRefund,
): Promise<number> => {
  const amountCents = requireRefundable(payment, amount);
  if (amountCents === undefined) throw await takenByLostDispute(table, payment);
  requireWithin(limitCents, payment, amountCents);
  await requireUndisputed(table, payment, despiteDispute);
  captureToRefund(payment, amountCents);
  return amountCents;
};

/**
 * Reserves the amount and stores the refund. Ignores a refusal if the refund already exists under the same key, because
 * this refund itself has reduced the refundable amount.
 * @returns undefined if the refund exists @throws DomainError VERSION_CONFLICT if only a condition of `onlyIf` failed
 */
const insertUnlessMade = async (
  deps: MoneyDeps,
  { payment, refund, asked }: Asked,
): Promise<MadeRefund | undefined> => {
  const store = refundStore(deps);
  try {
    const build = async (current: VisiblePayment) => {
      const amountCents = await decideAmount(deps, current, asked);
      return { ...refund, amountCents, captureId: captureToRefund(current, amountCents) };
    };
    const made = await store.insert(payment, build, asked.onlyIf);
    if (made || asked.onlyIf === undefined || (await store.load(refund.id))) return made;
    throw new DomainError('VERSION_CONFLICT');
  } catch (error) {
    if (error instanceof DomainError && (await store.load(refund.id))) return undefined;
    throw error;
  }
};

const newRefund = (
  { payment, body, createdBy, idempotency }: RefundOrder,
  { id, amountCents, now }: { readonly id: string; readonly amountCents: number; readonly now: number },
): Refund => ({
  id,
  ...firstVersion(iso(now), idempotency),
  paymentId: payment.id,
  amountCents,
  currency: payment.currency,
  status: 'pending',
  reason: body.reason ?? undefined,
  description: body.description ?? undefined,
  metadata: body.metadata ?? undefined,
  source: 'api',
  providerId: payment.providerId,
  createdBy,
  ...ownerIdsOf(payment),
  reconcileAt: iso(lookTime(now, 0)),
  reconcileStep: 0,
});

const reply = async (deps: MoneyDeps, { record, refusal, notDone }: CallResult<Refund>): Promise<Reply> => {
  if (notDone) throw unavailableError(notDone);
  if (refusal) throw await refusedError(deps, record);
  return answerOf(record);
};

const refusedError = async (deps: MoneyDeps, refund: Refund): Promise<DomainError> => {
  const payment = await refundStore(deps).loadPayment(refund.paymentId);
  if (refund.failureCode !== REFUND_DISPUTED) return refundRefusedError(refund, moneyAccount(payment).refundable);
  return refusedAsDisputed(deps.table, payment, { refund_id: refund.id, payment_id: payment.id });
};

/** The status is 202 until the provider has responded. */
const answerOf = (refund: Refund): Reply => ({
  data: refundView(refund, 'staff'),
  ...(refund.status === 'pending' && refund.providerRefundId === undefined && { status: 202 }),
});

const replay = async (deps: MoneyDeps, refund: Refund): Promise<Reply> => {
  const wasRefused = refund.status === 'failed' && refund.providerRefundId === undefined;
  if (wasRefused && refund.failureCode !== 'not_received') throw await refusedError(deps, refund);
  return { ...answerOf(refund), headers: { 'idempotent-replayed': 'true' } };
};
