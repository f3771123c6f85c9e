/**
 * @module Cards on file at Square. A card is created from a token or from a payment. It is never changed, and is
 * disabled when it is detached.
 */

import * as z from 'zod';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import type { AttachMethod, KeepMethod, ProviderMethod } from '../method-port.ts';
import { cardFacts } from './facts.ts';
import { squareKey } from './outcome.ts';
import { findSquarePayment, type SquareAccount, type SquareOrders } from './payments.ts';
import { cardSchema, type SquareCard } from './schemas.ts';

export const cardOnFileSchema = cardSchema.extend({ id: z.string().check(z.minLength(1)) });
const cardAnswer = z.looseObject({ card: cardOnFileSchema });

export const squareCards = ({ call, fingerprintOf }: SquareAccount, orders: SquareOrders) => {
  const create = async (
    sourceId: string,
    {
      customerId,
      verificationToken,
      idempotencyKey,
    }: Pick<AttachMethod, 'customerId' | 'verificationToken' | 'idempotencyKey'>,
  ): Promise<Outcome<ProviderMethod>> =>
    mapOutcome(
      await call({
        method: 'POST',
        path: '/v2/cards',
        body: {
          idempotency_key: squareKey(idempotencyKey),
          source_id: sourceId,
          ...(verificationToken && { verification_token: verificationToken }),
          card: { customer_id: customerId },
        },
        answer: cardAnswer,
      }),
      ({ card }) => reportedCard(card, fingerprintOf),
    );
  const find = async (cardId: string): Promise<Outcome<ProviderMethod>> => {
    const path = `/v2/cards/${encodeURIComponent(cardId)}`;
    const found = await call({ method: 'GET', path, answer: cardAnswer });
    // A disabled card counts as removed, although Square still returns the card with its customer.
    if (found.kind === 'done' && found.value.card.enabled === false) return { kind: 'refused', reason: GONE };
    return mapOutcome(found, ({ card }) => reportedCard(card, fingerprintOf));
  };

  return {
    attachMethod: ({ token, ...more }: AttachMethod) => create(token, more),

    findMethod: find,

    /** A card on file is already saved. For any other method, a card is created from the payment. */
    keepMethod: async (input: KeepMethod): Promise<Outcome<ProviderMethod>> => {
      if (input.method?.startsWith(ON_FILE)) return find(input.method);
      const found = await findSquarePayment(orders, input);
      if (found.kind !== 'done') return found;
      if (found.value.status !== 'succeeded') return { kind: 'refused', reason: 'not_paid' };
      const { customerId, idempotencyKey } = input;
      return create(found.value.paymentId, { customerId, idempotencyKey });
    },

    detachMethod: async (methodId: string): Promise<Outcome<{ readonly methodId: string }>> => {
      const disabled = await call({
        method: 'POST',
        path: `/v2/cards/${encodeURIComponent(methodId)}/disable`,
        answer: cardAnswer,
      });
      const isGone = disabled.kind === 'refused' && disabled.reason === GONE;
      return isGone ? { kind: 'done', value: { methodId } } : mapOutcome(disabled, () => ({ methodId }));
    },
  };
};

const GONE = 'NOT_FOUND';

/** The prefix of the ids of cards on file. */
export const ON_FILE = 'ccof:';

export const reportedCard = (
  card: SquareCard & { readonly id: string },
  fingerprintOf: FingerprintOf,
): ProviderMethod => ({
  methodId: card.id,
  customerId: card.customer_id ?? undefined,
  ...cardFacts(card, fingerprintOf),
});
