/**
 * @module Square's test values (`cnon:card-nonce-ok`, `ccof:customer-card-id-declined`, `bnon:bank-nonce-ok`) and our
 * own (`…sim-timeout-after`, also as `pm_sim_timeout_after`, `…sim-ok-3-then-lost`). Of the prefixes, only `bnon:`
 * changes the behavior, because it names a bank account.
 */

import { createHash } from 'node:crypto';
import {
  type Behaviour,
  captureDeclined,
  declines,
  heldForAnHour,
  laterDecline,
  succeeds,
} from '../../ledger/behaviours.ts';
import type { LedgerMethod } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { invalidSquareRequest, spentToken, squareNotFound } from './errors.ts';

const attachesAndFails: Behaviour = { kind: 'declines', reason: 'generic_decline', attaches: true };

/** A failed refund of this card is REJECTED. A failed refund of any other card is FAILED. */
export const REJECTS_REFUNDS = 'sim-pending-refund-reject';

const CARDS: Readonly<Record<string, Behaviour>> = {
  ok: succeeds,
  declined: declines('generic_decline'),
  'insufficient-funds': declines('insufficient_funds'),
  lost: declines('lost_card'),
  stolen: declines('stolen_card'),
  'rejected-cvv': declines('incorrect_cvc'),
  'rejected-postalcode': declines('incorrect_postal_code'),
  'rejected-expiration': declines('expired_card'),
  'requires-verification': { kind: 'asks_customer', until: 'set_up' },
  // Square's browser page asks the payer of this card to authenticate.
  'sim-verified': succeeds,
  'sim-fail-on-charge': attachesAndFails,
  'sim-processing-ok': { kind: 'settles_later', outcome: 'succeeded' },
  'sim-processing-fail': { kind: 'settles_later', outcome: 'failed' },
  'sim-timeout-before': { kind: 'loses_connection', committed: false },
  'sim-timeout-after': { kind: 'loses_connection', committed: true },
  'sim-do-not-honor': declines('do_not_honor'),
  'sim-pickup-card': declines('pickup_card'),
  'sim-invalid-account': declines('invalid_account'),
  'sim-account-closed': declines('account_closed'),
  'sim-revoked': declines('authorization_revoked'),
  'sim-stopped': declines('payment_stopped'),
  'sim-never-again': declines('never_again'),
  'sim-agreement-canceled': declines('agreement_canceled'),
  'sim-wrong-data': declines('wrong_data'),
  'sim-pending-refund-fail': { kind: 'succeeds', refunds: 'pending_then_failed' },
  [REJECTS_REFUNDS]: { kind: 'succeeds', refunds: 'pending_then_failed' },
  'sim-capture-declined': captureDeclined,
  'sim-hold-1h': heldForAnHour,
  'sim-dispute': { kind: 'succeeds', disputed: { reason: 'fraudulent', inquiry: false } },
  'sim-dispute-inquiry': { kind: 'succeeds', disputed: { reason: 'fraudulent', inquiry: true } },
};

const BANK_ACCOUNTS: Readonly<Record<string, Behaviour>> = {
  ok: { kind: 'settles_later', outcome: 'succeeded' },
  'insufficient-funds': { kind: 'settles_later', outcome: 'failed' },
};

const SPENT = { 'already-used': 'CARD_TOKEN_USED', expired: 'CARD_TOKEN_EXPIRED' } as const;

/** Every use of a test value creates a new method. @throws Refused if Square has no such source. */
export const methodOfSource = (unit: Unit, source: string): LedgerMethod => {
  const stored = unit.documents.methods.get(unit.slot, source);
  if (stored) {
    if (stored.customerId === null) throw squareNotFound('The card is not on file or has been disabled.', 'source_id');
    return stored;
  }
  const name = source.replace(/^(cnon:|ccof:|bnon:|pm_)/, '').replaceAll('_', '-');
  const bank = source.startsWith('bnon:');
  const short = name.replace(/^(card-nonce|customer-card-id|bank-nonce)-/, '');
  if (short === 'already-used' || short === 'expired') throw spentToken(SPENT[short]);
  const known = bank ? BANK_ACCOUNTS : CARDS;
  const behaviour = Object.hasOwn(known, short) ? known[short] : laterDecline(short.replace(/^sim-/, ''));
  if (!behaviour) throw squareNotFound('Card nonce not found', 'source_id');
  return newMethod(unit, { token: short, behaviour, bank });
};

const VALID_YEARS = 4;

const newMethod = (
  unit: Unit,
  { token, behaviour, bank }: { readonly token: string; readonly behaviour: Behaviour; readonly bank: boolean },
): LedgerMethod =>
  unit.documents.methods.put({
    id: unit.newId('method'),
    provider: unit.slot,
    metadata: {},
    wire: { bank },
    createdAt: unit.at,
    type: bank ? 'bank_account' : 'card',
    bankName: bank ? 'Simulated Bank' : null,
    card: {
      brand: 'VISA',
      last4: bank ? '6789' : '1111',
      expMonth: 12,
      expYear: new Date(unit.at).getUTCFullYear() + VALID_YEARS,
      // Square reports the country of a bank account, but not of a card's issuer.
      country: bank ? 'US' : null,
      funding: 'CREDIT',
      fingerprint: `sq-1-${createHash('sha256')
        .update(bank ? `bank:${token}` : token)
        .digest('base64url')
        .slice(0, 40)}`,
      wallet: null,
    },
    token,
    behaviour,
    billing: { name: null, email: null, phone: null, address: null },
    customerId: null,
    spent: false,
    setUp: false,
  });

/** The token format of Square's browser page after authentication. */
const VERIFICATION = /^verf:[\w:-]+$/;

/**
 * @returns true if the payer has authenticated
 * @throws Refused for a token that Square did not create
 */
export const isVerified = (token: string | undefined): boolean => {
  if (token === undefined) return false;
  if (VERIFICATION.test(token)) return true;
  throw invalidSquareRequest('INVALID_VALUE', 'The verification token is not valid.', 'verification_token');
};

/** True if the card still needs its payer's authentication. */
export const asksVerification = ({ behaviour, setUp }: LedgerMethod): boolean =>
  behaviour.kind === 'asks_customer' && !setUp;

/** A card on file may only be charged for its own customer. */
export const checkHolder = (method: LedgerMethod, customerId: string | null): void => {
  if (method.customerId === null || method.customerId === customerId) return;
  throw invalidSquareRequest(
    customerId === null ? 'MISSING_REQUIRED_PARAMETER' : 'INVALID_VALUE',
    'A card on file is charged together with the ID of its customer.',
    'customer_id',
  );
};

export const isBank = (method: LedgerMethod): boolean => method.wire['bank'] === true;
