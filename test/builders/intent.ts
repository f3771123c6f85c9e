/** @module Valid default bodies of POST /payments/intents; a test overrides only relevant fields. */
type Fields = Readonly<Record<string, unknown>>;

export const intentBody = (fields: Fields = {}): Fields => ({ total_cents: 2_500, currency: 'USD', ...fields });

/** A body with a payment method that succeeds. */
export const paidIntentBody = (fields: Fields = {}): Fields => intentBody({ payment_method_id: VISA, ...fields });

/** A guest's body. Each call creates another guest unless an e-mail is given. */
export const guestIntentBody = (fields: Fields = {}, guest: Fields = {}): Fields =>
  intentBody({ guest_data: { email: nextEmail(), name: 'Guest', ...guest }, ...fields });

export const VISA = 'pm_card_visa';
export const DECLINED = 'pm_card_visa_chargeDeclined';
export const THREE_D_SECURE = 'pm_card_authenticationRequired';

let guests = 0;
const nextEmail = (): string => {
  guests += 1;
  return `guest.${guests}@example.com`;
};
