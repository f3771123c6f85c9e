import * as z from 'zod';
import { canMoveDispute, changeDispute, moveDispute } from '../../ledger/disputes.ts';
import type { LedgerDispute } from '../../ledger/documents.ts';
import { EVIDENCE_FIELDS, stripeDisputeView } from '../views/money-back-views.ts';
import { refusedOperation, stripeNotFound } from '../wire/errors.ts';
import {
  clearable,
  createdRange,
  expand,
  flag,
  mergeMetadata,
  metadata,
  page,
  readParameters,
  text,
} from '../wire/parameters.ts';
import { getRoute, listPage, none, type StripeObject, type StripeRequest, type StripeRoute } from '../wire/request.ts';

export const stripeDisputeRoutes: readonly StripeRoute[] = [
  { method: 'GET', path: '/v1/disputes', run: (request) => ({ object: listDisputes(request) }) },
  getRoute('/v1/disputes/:id', 'dispute', (unit) => ({ collection: unit.documents.disputes, view: stripeDisputeView })),
  { method: 'POST', path: '/v1/disputes/:id', run: (request) => ({ object: stripeDisputeView(answer(request)) }) },
  { method: 'POST', path: '/v1/disputes/:id/close', run: (request) => ({ object: stripeDisputeView(close(request)) }) },
];

const listDisputes = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const filters = { charge: text().optional(), payment_intent: text().optional(), created: createdRange.optional() };
  const sent = readParameters(call, z.strictObject({ ...page, ...filters }));
  const { charge } = sent;
  return listPage(request, sent, {
    collection: unit.documents.disputes,
    view: stripeDisputeView,
    holder: sent.payment_intent,
    wanted: charge === undefined ? undefined : (dispute) => dispute.chargeId === charge,
    kind: 'dispute',
  });
};

const EVIDENCE_LENGTH = 20_000;
const evidence = z.strictObject(
  Object.fromEntries(EVIDENCE_FIELDS.map((field) => [field, clearable(EVIDENCE_LENGTH).optional()])),
);
const answerFields = z.strictObject({
  evidence: evidence.optional(),
  metadata: metadata.optional(),
  submit: flag.optional(),
  expand: expand.optional(),
});

const disputeOf = ({ unit, id }: StripeRequest): LedgerDispute => {
  const found = unit.documents.disputes.get(unit.slot, id);
  if (!found) throw stripeNotFound('dispute', id, 'id');
  return found;
};

/** Evidence that wins or loses Stripe's test disputes (docs.stripe.com/testing, "Disputes"). */
const ENDS: ReadonlyMap<unknown, LedgerDispute['status']> = new Map([
  ['winning_evidence', 'won'],
  ['losing_evidence', 'lost'],
]);

/** Evidence is submitted to the bank immediately unless `submit` is false. */
const answer = (request: StripeRequest): LedgerDispute => {
  const sent = readParameters(request.call, answerFields);
  const { unit } = request;
  const before = disputeOf(request);
  if (sent.evidence && before.status !== 'needs_response') throw closed(before);
  const changes = { metadata: mergeMetadata(before.metadata, sent.metadata) };
  if (!sent.evidence || sent.submit === false) return changeDispute(unit, before, changes);
  const status = ENDS.get(sent.evidence['uncategorized_text']) ?? 'under_review';
  return changeDispute(unit, before, { ...changes, status });
};

/** Accepts the dispute for the seller. An inquiry is then closed, and any other dispute is lost. */
const close = (request: StripeRequest): LedgerDispute => {
  readParameters(request.call, none);
  const dispute = disputeOf(request);
  const end = dispute.inquiry ? 'closed' : 'lost';
  if (!canMoveDispute(dispute, end)) throw closed(dispute);
  return moveDispute(request.unit, dispute, end);
};

const closed = ({ id }: LedgerDispute) => refusedOperation({ message: `This dispute (${id}) is already closed.` });
