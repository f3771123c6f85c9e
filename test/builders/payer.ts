/** @module Valid default bodies of POST /customers and POST /payment-methods; a test overrides only some fields. */
type Fields = Readonly<Record<string, unknown>>;

export const customerBody = (fields: Fields = {}): Fields => ({
  provider_id: 'provider_a',
  email: 'payer@example.com',
  ...fields,
});

/** A body with a card that succeeds. */
export const methodBody = (fields: Fields = {}): Fields => ({
  provider_id: 'provider_a',
  provider_payment_method_token: 'pm_card_visa',
  ...fields,
});

/** A body with a raw card number instead of a token. */
export const rawCardBody = (fields: Fields = {}): Fields => ({
  provider_id: 'provider_a',
  card_number: '4242424242424242',
  card_exp_month: '07',
  card_exp_year: '2031',
  card_cvc: '737',
  ...fields,
});
