/** @module Refunds of uncaptured amounts, which only old versions of Stripe's API show. */

import type { LedgerCharge } from '../../ledger/documents.ts';
import type { StripeObject } from '../wire/request.ts';
import { refundsUntaken } from '../wire/versions.ts';
import { stripeRefundView } from './money-back-views.ts';

/** The refund of a hold's uncaptured part; undefined if everything was captured, or in a new API version. */
export const untakenRefund = (charge: LedgerCharge, version: string): StripeObject | undefined => {
  if (charge.released === 0 || !refundsUntaken(version)) return undefined;
  return {
    ...stripeRefundView({
      id: untakenIdOf(charge),
      ...{
        provider: charge.provider,
        metadata: {},
        wire: {},
        createdAt: charge.createdAt,
        updatedAt: charge.createdAt,
      },
      ...{ chargeId: charge.id, paymentId: charge.paymentId, amount: charge.released, currency: charge.currency },
      ...{ status: 'succeeded', reason: null, note: null, failureReason: null },
    }),
    balance_transaction: null,
  };
};

const CHARGE = 'ch_';
const REFUND = 're_';

const untakenIdOf = ({ id }: Pick<LedgerCharge, 'id'>): string => `${REFUND}${id.slice(CHARGE.length)}`;

/** The id of the charge whose uncaptured part the refund returns. */
export const chargeIdOfUntaken = (refundId: string): string => `${CHARGE}${refundId.slice(REFUND.length)}`;
