/** @module Common fields and formats of PayPal's objects. */
import * as z from 'zod';
import type { DeclineReason } from '../../ledger/behaviours.ts';
import type { LedgerCharge } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { isCard } from '../wire/tokens.ts';

export type PayPalObject = Readonly<Record<string, unknown>>;

export const API = 'https://api-m.paypal.com';

/** PayPal's times have whole seconds. */
export const timeView = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** The merchant's ids of an order, a capture or a refund. */
const merchantIds = z.object({ custom_id: z.string().optional(), invoice_id: z.string().optional() });
export const readMerchantIds = (document: { readonly wire: unknown }): z.infer<typeof merchantIds> =>
  merchantIds.parse(document.wire);

/** A processor's response codes for declined cards. */
const RESPONSE_CODES: Partial<Record<DeclineReason, string>> = {
  insufficient_funds: '5120',
  lost_card: '9520',
  stolen_card: '9520',
  expired_card: '5400',
  incorrect_cvc: '5110',
  processing_error: '5910',
  authentication_required: '7710',
  pickup_card: '5150',
  invalid_account: '1330',
  account_closed: '5140',
  never_again: '5120',
};
/** The card network's advice. */
const ADVICE_CODES: Partial<Record<DeclineReason, string>> = {
  authorization_revoked: '21',
  payment_stopped: '03',
  never_again: '03',
  agreement_canceled: '21',
  wrong_data: '01',
};
const DO_NOT_HONOR = '0500';

/** The reason for a declined card. PayPal gives no reason for a wallet. */
export const processorResponse = (unit: Unit, { failure, methodId }: LedgerCharge): PayPalObject =>
  failure && isCard(unit.documents.methods.get(unit.slot, methodId))
    ? {
        processor_response: {
          response_code: RESPONSE_CODES[failure.reason] ?? DO_NOT_HONOR,
          ...(ADVICE_CODES[failure.reason] && { payment_advice_code: ADVICE_CODES[failure.reason] }),
        },
      }
    : {};
