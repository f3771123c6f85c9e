import { createHash } from 'node:crypto';
import {
  type Behaviour,
  captureDeclined,
  type DisputeReason,
  declines,
  heldForAnHour,
  laterDecline,
  settlesInEuros,
  succeeds,
} from '../../ledger/behaviours.ts';

/** A card behind one of Stripe's test values or our own (`pm_sim_…`), with its behavior. */
export interface TestCard {
  /** The test value without its prefix `pm_card_`, `pm_` or `tok_`. */
  readonly token: string;
  readonly brand: string;
  readonly number: string;
  readonly behaviour: Behaviour;
  readonly country?: string;
  readonly funding?: string;
  readonly wallet?: 'apple_pay' | 'google_pay';
}

const attachesAndFails: Behaviour = { kind: 'declines', reason: 'generic_decline', attaches: true };
const asksAlways: Behaviour = { kind: 'asks_customer', until: 'never' };

const disputed = (reason: DisputeReason, inquiry = false): Behaviour => ({
  kind: 'succeeds',
  disputed: { reason, inquiry },
});

const visa = (token: string, number: string, behaviour: Behaviour): TestCard => ({
  token,
  brand: 'visa',
  number,
  behaviour,
});

/** The token of a card without a test value. */
const ANY_NUMBER = 'number';

const OWN_NUMBER = '4000007777770006';

const CARDS: readonly TestCard[] = [
  visa('visa', '4242424242424242', succeeds),
  { ...visa('visa_debit', '4000056655665556', succeeds), funding: 'debit' },
  { token: 'mastercard', brand: 'mastercard', number: '5555555555554444', behaviour: succeeds },
  { token: 'amex', brand: 'amex', number: '378282246310005', behaviour: succeeds },
  { token: 'discover', brand: 'discover', number: '6011111111111117', behaviour: succeeds },
  { token: 'diners', brand: 'diners', number: '3056930009020004', behaviour: succeeds },
  { token: 'jcb', brand: 'jcb', number: '3566002020360505', behaviour: succeeds },
  { token: 'unionpay', brand: 'unionpay', number: '6200000000000005', behaviour: succeeds },
  { ...visa('br', '4000000760000002', succeeds), country: 'BR' },
  { ...visa('gb', '4000008260000000', succeeds), country: 'GB' },
  { ...visa('mx', '4000004840008001', succeeds), country: 'MX' },
  visa('chargeDeclined', '4000000000000002', declines('generic_decline')),
  visa('chargeDeclinedInsufficientFunds', '4000000000009995', declines('insufficient_funds')),
  visa('chargeDeclinedLostCard', '4000000000009987', declines('lost_card')),
  visa('chargeDeclinedStolenCard', '4000000000009979', declines('stolen_card')),
  visa('chargeDeclinedFraudulent', '4100000000000019', declines('fraudulent')),
  visa('chargeDeclinedExpiredCard', '4000000000000069', declines('expired_card')),
  visa('chargeDeclinedIncorrectCvc', '4000000000000127', declines('incorrect_cvc')),
  visa('chargeDeclinedProcessingError', '4000000000000119', declines('processing_error')),
  visa('chargeDeclinedVelocityLimitExceeded', '4000000000006975', declines('card_velocity_exceeded')),
  visa('chargeCustomerFail', '4000000000000341', attachesAndFails),
  visa('refundFail', '4000000000005126', { kind: 'succeeds', refunds: 'succeeded_then_failed' }),
  visa('pendingRefund', '4000000000007726', { kind: 'succeeds', refunds: 'pending_then_succeeded' }),
  visa('createDispute', '4000000000000259', disputed('fraudulent')),
  visa('createDisputeProductNotReceived', '4000000000002685', disputed('product_not_received')),
  visa('createDisputeInquiry', '4000000000001976', disputed('fraudulent', true)),
  visa('sim_pending_refund_fail', OWN_NUMBER, { kind: 'succeeds', refunds: 'pending_then_failed' }),
  visa('authenticationRequired', '4000002760003184', asksAlways),
  visa('authenticationRequiredOnSetup', '4000002500003155', { kind: 'asks_customer', until: 'set_up' }),
  visa('authenticationRequiredSetupForOffSession', '4000003800000446', { kind: 'asks_customer', until: 'absent' }),
  visa('authenticationRequiredChargeDeclinedInsufficientFunds', '4000008260003178', {
    kind: 'asks_customer',
    until: 'never',
    afterwards: 'insufficient_funds',
  }),
  visa('threeDSecure2Required', '4000000000003220', asksAlways),
  visa('threeDSecureRequired', '4000000000003063', asksAlways),
  visa('sim_processing_ok', OWN_NUMBER, { kind: 'settles_later', outcome: 'succeeded' }),
  visa('sim_processing_fail', OWN_NUMBER, { kind: 'settles_later', outcome: 'failed' }),
  visa('sim_timeout_before', OWN_NUMBER, { kind: 'loses_connection', committed: false }),
  visa('sim_timeout_after', OWN_NUMBER, { kind: 'loses_connection', committed: true }),
  visa('sim_do_not_honor', OWN_NUMBER, declines('do_not_honor')),
  visa('sim_pickup_card', OWN_NUMBER, declines('pickup_card')),
  visa('sim_invalid_account', OWN_NUMBER, declines('invalid_account')),
  visa('sim_account_closed', OWN_NUMBER, declines('account_closed')),
  visa('sim_revoked', OWN_NUMBER, declines('authorization_revoked')),
  visa('sim_stopped', OWN_NUMBER, declines('payment_stopped')),
  visa('sim_never_again', OWN_NUMBER, declines('never_again')),
  visa('sim_agreement_canceled', OWN_NUMBER, declines('agreement_canceled')),
  visa('sim_wrong_data', OWN_NUMBER, declines('wrong_data')),
  visa('sim_hold_1h', OWN_NUMBER, heldForAnHour),
  visa('sim_settles_eur', OWN_NUMBER, settlesInEuros),
  visa('sim_capture_declined', OWN_NUMBER, captureDeclined),
  { ...visa('sim_apple_pay', OWN_NUMBER, succeeds), wallet: 'apple_pay' },
  { token: 'sim_google_pay', brand: 'mastercard', number: OWN_NUMBER, behaviour: succeeds, wallet: 'google_pay' },
];

const BY_TOKEN = new Map(CARDS.map((card) => [card.token, card]));
const BY_NUMBER = new Map(CARDS.filter((card) => card.number !== OWN_NUMBER).map((card) => [card.number, card]));

/** `pm_card_visa`, `pm_card_visa_chargeDeclined`, `pm_sim_processing_ok` … */
export const cardOfMethodId = (id: string): TestCard | undefined => {
  if (id.startsWith('pm_sim_')) return cardNamed(id.slice('pm_'.length));
  return id.startsWith('pm_card_') ? cardNamed(id.slice('pm_card_'.length)) : undefined;
};

/** `tok_visa`, `tok_visa_chargeDeclined`, `tok_sim_timeout_after` … */
export const cardOfToken = (token: string): TestCard | undefined =>
  token.startsWith('tok_') ? cardNamed(token.slice('tok_'.length)) : undefined;

/** The test card with this number. Any other valid card number gives a card that succeeds. */
export const cardOfNumber = (number: string): TestCard | undefined =>
  BY_NUMBER.get(number) ??
  (passesLuhn(number) ? { ...visa(ANY_NUMBER, number, succeeds), brand: brandOf(number) } : undefined);

const cardNamed = (name: string): TestCard | undefined =>
  BY_TOKEN.get(name) ?? BY_TOKEN.get(name.startsWith('visa_') ? name.slice('visa_'.length) : name) ?? laterCard(name);

/** The card of a value such as `sim_ok_3_then_lost`. */
const laterCard = (name: string): TestCard | undefined => {
  const later = name.startsWith('sim_') ? laterDecline(name.slice('sim_'.length).replaceAll('_', '-')) : undefined;
  return later && visa(name, OWN_NUMBER, later);
};

const passesLuhn = (number: string): boolean => {
  if (!/^\d{12,19}$/.test(number)) return false;
  const sum = [...number].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
};

/** A card's fingerprint, equal for equal cards. It derives from no secret and no full card number. */
export const fingerprintOf = ({ token, brand, number }: TestCard): string =>
  createHash('sha256')
    .update(token === ANY_NUMBER ? `${brand}:${number.slice(0, 6)}:${number.slice(-4)}` : token)
    .digest('base64url')
    .replaceAll(/[-_]/g, 'x')
    .slice(0, 16);

const brandOf = (number: string): string => {
  if (/^3[47]/.test(number)) return 'amex';
  if (/^(5[1-5]|2[2-7])/.test(number)) return 'mastercard';
  return number.startsWith('4') ? 'visa' : 'unknown';
};
