import type { DeclineReason } from '../../ledger/behaviours.ts';
import { type Answer, Refused } from '../../protocol/vendor.ts';

/** The fields of `error` in Stripe's error bodies: `{error: {type, code, decline_code, message, param, …}}`. */
export interface ErrorFields {
  readonly type: 'invalid_request_error' | 'card_error' | 'idempotency_error' | 'api_error';
  readonly code?: string;
  readonly decline_code?: string;
  readonly message: string;
  readonly param?: string;
  readonly [field: string]: unknown;
}

export const stripeError = (status: number, error: ErrorFields, began: boolean): Answer => {
  const docs =
    error.code === undefined
      ? {}
      : { doc_url: `https://stripe.com/docs/error-codes/${error.code.replaceAll('_', '-')}` };
  return { status, body: JSON.stringify({ error: { ...docs, ...error } }), began };
};

const invalid = (fields: Omit<ErrorFields, 'type'> & { message: string }): ErrorFields => ({
  type: 'invalid_request_error',
  ...fields,
});

/** Refused before the operation began, so the same key may be used again. */
export const invalidStripeRequest = (fields: Omit<ErrorFields, 'type'> & { message: string }, status = 400): Refused =>
  new Refused(stripeError(status, invalid(fields), false));

/** Refused during the operation, so the response is stored under the idempotency key. */
export const refusedOperation = (fields: Omit<ErrorFields, 'type'> & { message: string }): Refused =>
  new Refused(stripeError(400, invalid(fields), true));

export const missingReturnUrl = (intent: 'PaymentIntent' | 'SetupIntent'): Refused =>
  invalidStripeRequest({
    message:
      `This ${intent} is configured to accept payment methods enabled in your Dashboard. Because some of these ` +
      "payment methods might redirect your customer off of your page, you must provide a `return_url`. If you don't " +
      'want to accept redirect-based payment methods, set `automatic_payment_methods[enabled]` to `true` and ' +
      '`automatic_payment_methods[allow_redirects]` to `never` when creating Setup Intents and Payment Intents.',
    param: 'return_url',
  });

const PATH_PARAMETERS: readonly string[] = ['id', 'intent'];

/**
 * `kind` is Stripe's name, such as payment_intent, PaymentMethod or customer. A missing object is a 400 if a parameter
 * names it, and a 404 if the path names it.
 */
export const stripeNotFound = (kind: string, id: string, param: string): Refused =>
  invalidStripeRequest(
    { code: 'resource_missing', message: `No such ${kind}: '${id}'`, param },
    PATH_PARAMETERS.includes(param) ? 404 : 400,
  );

export const unauthorized = (message: string): Answer =>
  stripeError(401, { type: 'invalid_request_error', message }, false);

interface Decline {
  readonly code: string;
  readonly decline_code?: string;
  /** The code of the card network, if the issuer declined. */
  readonly network_decline_code?: string;
  /** Advice from Stripe and the card network. */
  readonly advice_code?: 'confirm_card_data' | 'do_not_try_again' | 'try_again_later';
  readonly network_advice_code?: string;
  readonly message: string;
  readonly type?: 'card_error' | 'invalid_request_error';
}

const DECLINED = 'Your card was declined.';
const byNetwork = (code: string | undefined) => (code === undefined ? {} : { network_decline_code: code });
const cardDeclined = (declineCode: string, networkCode?: string, message = DECLINED): Decline => ({
  code: 'card_declined',
  decline_code: declineCode,
  ...byNetwork(networkCode),
  message,
});
const ownCode = (code: string, message: string, networkCode?: string): Decline => ({
  code,
  decline_code: code,
  ...byNetwork(networkCode),
  message,
});

const DECLINES: Readonly<Record<DeclineReason, Decline>> = {
  generic_decline: cardDeclined('generic_decline'),
  do_not_honor: cardDeclined('do_not_honor', '05'),
  insufficient_funds: cardDeclined('insufficient_funds', '51', 'Your card has insufficient funds.'),
  lost_card: cardDeclined('lost_card', '41'),
  stolen_card: cardDeclined('stolen_card', '43'),
  fraudulent: cardDeclined('fraudulent', '59'),
  card_velocity_exceeded: cardDeclined(
    'card_velocity_exceeded',
    '65',
    'Your card was declined for making repeated attempts too frequently or exceeding its amount limit.',
  ),
  expired_card: ownCode('expired_card', 'Your card has expired.', '54'),
  incorrect_cvc: ownCode('incorrect_cvc', "Your card's security code is incorrect.", 'N7'),
  incorrect_postal_code: ownCode('incorrect_zip', "Your card's postal code is incorrect."),
  processing_error: ownCode(
    'processing_error',
    'An error occurred while processing your card. Try again in a little bit.',
  ),
  authentication_required: {
    ...ownCode('authentication_required', 'Your card was declined. This transaction requires authentication.', '1A'),
  },
  authentication_failed: {
    type: 'invalid_request_error',
    code: 'payment_intent_authentication_failure',
    message:
      'The provided PaymentMethod has failed authentication. You can provide payment_method_data or a new ' +
      'PaymentMethod to attempt to fulfill this PaymentIntent again.',
  },
  pickup_card: cardDeclined('pickup_card', '04'),
  invalid_account: cardDeclined('invalid_account', '14'),
  account_closed: cardDeclined('invalid_account', '46'),
  authorization_revoked: cardDeclined('revocation_of_authorization', 'R1'),
  payment_stopped: cardDeclined('stop_payment_order', 'R0'),
  never_again: {
    ...cardDeclined('insufficient_funds', '51', 'Your card has insufficient funds.'),
    advice_code: 'do_not_try_again',
    network_advice_code: '03',
  },
  agreement_canceled: { ...cardDeclined('do_not_honor', '05'), network_advice_code: '21' },
  wrong_data: { ...cardDeclined('do_not_honor', '05'), advice_code: 'confirm_card_data', network_advice_code: '01' },
};

/** The error if a payment waits for its customer, but the operation requires the payment's success. */
export const actionRequired = (of: 'subscription' | 'invoice'): ErrorFields => ({
  type: 'card_error',
  code: `${of}_payment_intent_requires_action`,
  message:
    of === 'invoice'
      ? 'This payment requires additional user action before it can be completed successfully. Payment can be ' +
        'completed using the PaymentIntent associated with the invoice. For more details see: ' +
        'https://stripe.com/docs/billing/subscriptions/overview#requires-action'
      : 'Payment for this subscription requires additional user action before it can be completed successfully. ' +
        'Payment can be completed using the PaymentIntent associated with `subscription.latest_invoice`. Additional ' +
        'information is available here: https://stripe.com/docs/billing/subscriptions/overview#requires-action',
});

export const declineFields = (reason: DeclineReason): ErrorFields => ({ type: 'card_error', ...DECLINES[reason] });
