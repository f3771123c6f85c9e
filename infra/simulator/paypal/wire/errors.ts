/** @module PayPal's error bodies: `{name, message, details: [{issue, description, field}], debug_id, links}`. */

import { type Answer, Refused } from '../../protocol/vendor.ts';

const NAMES: Readonly<Record<number, readonly [name: string, message: string]>> = {
  400: ['INVALID_REQUEST', 'Request is not well-formed, syntactically incorrect, or violates schema.'],
  401: [
    'AUTHENTICATION_FAILURE',
    'Authentication failed due to missing authorization header, or invalid authentication credentials.',
  ],
  404: ['RESOURCE_NOT_FOUND', 'The specified resource does not exist.'],
  409: ['RESOURCE_CONFLICT', 'The server has detected a conflict while processing this request.'],
  422: [
    'UNPROCESSABLE_ENTITY',
    'The requested action could not be performed, semantically incorrect, or failed business validation.',
  ],
  429: ['RATE_LIMIT_REACHED', 'Too many requests. Blocked due to rate limiting.'],
  500: ['INTERNAL_SERVER_ERROR', 'An internal server error occurred.'],
};

export interface Detail {
  readonly issue: string;
  readonly description?: string;
  /** JSON pointer. */
  readonly field?: string;
  readonly value?: string;
  readonly location?: 'body' | 'path' | 'query';
}

export interface Link {
  readonly href: string;
  readonly rel: string;
  readonly method?: string;
}

const DEBUG_ID = '90957fca61718';

export const paypalError = (
  status: number,
  { details, links, began = false }: { details?: readonly Detail[]; links?: readonly Link[]; began?: boolean } = {},
): Answer => {
  const [name, message] = NAMES[status] ?? ['INTERNAL_SERVER_ERROR', 'An internal server error occurred.'];
  const information = { href: `https://developer.paypal.com/api/rest/responses/#${name}`, rel: 'information_link' };
  const body = { name, message, details, debug_id: DEBUG_ID, links: [...(links ?? []), information] };
  return { status, body: JSON.stringify(body), began };
};

/** PayPal's own description of each issue in the simulator. */
const ISSUES = {
  ORDER_NOT_APPROVED:
    "Payer has not yet approved the Order for payment. Please redirect the payer to the 'rel':'approve' url returned as part of the HATEOAS links within the Create Order call or provide a valid `payment_source` in the request.",
  ORDER_ALREADY_CAPTURED: "Order already captured.If 'intent=CAPTURE' only one capture per order is allowed.",
  ORDER_CANNOT_BE_CONFIRMED: "An order with status = 'COMPLETED' cannot be confirmed again.",
  ORDER_ALREADY_COMPLETED: 'The order cannot be patched after it is completed.',
  AMOUNT_CHANGE_NOT_ALLOWED: 'The amount specified is different from the amount authorized by payer.',
  PAYER_ACTION_REQUIRED: 'Transaction cannot complete successfully, instruct the buyer to return to PayPal.',
  INSTRUMENT_DECLINED:
    "The instrument presented  was either declined by the processor or bank, or it can't be used for this payment.",
  TOKEN_ID_NOT_FOUND: 'Specified token was not found. Verify the token and try the request again.',
  MISMATCHED_VAULT_ID_TO_PAYMENT_SOURCE:
    'The vault_id does not match the payment_source provided. Please verify that the vault_id token used refers to the matching payment_source and try again. For example, a PayPal token cannot be passed in the vault_id field in the payment_source.card object.',
  INVALID_CURRENCY_CODE:
    'Currency code is invalid or is not currently supported. Please refer https://developer.paypal.com/api/rest/reference/currency-codes/ for list of supported currency codes.',
  DECIMAL_PRECISION: 'If the currency supports decimals, only two decimal place precision is supported.',
  CANNOT_BE_ZERO_OR_NEGATIVE:
    'Must be greater than zero. If the currency supports decimals, only two decimal place precision is supported.',
  INVALID_CUSTOMER_ID: 'The customer id is not one that PayPal has generated.',
  INCOMPATIBLE_PARAMETER_VALUE:
    'The value of the field is incompatible/redundant with other fields in the order. Please check the documentation for compatibility.',
  MAX_VALUE_EXCEEDED: 'Should be less than or equal to 999999999999999.99.',
  NOT_PATCHABLE: 'Cannot be patched.',
  SETUP_TOKEN_NOT_APPROVED: 'The payer has not yet approved the setup token.',
  DECIMALS_NOT_SUPPORTED: 'Currency does not support decimals.',
  CAPTURE_FULLY_REFUNDED: 'The capture has already been fully refunded',
  REFUND_CAPTURE_CURRENCY_MISMATCH: 'Refund must be in the same currency as the capture',
  REFUND_NOT_ALLOWED: 'Capture cannot be refunded.',
  REFUND_TIME_LIMIT_EXCEEDED: 'You are over the time limit to perform a refund on this capture',
  REFUND_AMOUNT_EXCEEDED:
    'The refund amount must be less than or equal to the capture amount that has not yet been refunded.',
  REFUND_FAILED_INSUFFICIENT_FUNDS:
    'Capture could not be refunded due to insufficient funds. Please check to see if you have sufficient funds in your PayPal account or if the bank account linked to your PayPal account is verified and has sufficient funds.',
  PAYER_ACCOUNT_LOCKED_OR_CLOSED: 'The payer account cannot be used for this transaction.',
  PENDING_CAPTURE:
    'Cannot initiate a refund as the capture is pending. Capture is typically pending when the payer has funded the transaction using e-check/bank funded.',
  DUPLICATE_INVOICE_ID: 'Invoice ID was previously used to refund a capture.',
  ORDER_ALREADY_AUTHORIZED:
    "Order already authorized.If 'intent=AUTHORIZE' only one authorization per order is allowed.",
  ORDER_NOT_APPROVED_TO_AUTHORIZE:
    "Payer has not yet approved the Order for payment. Please redirect the payer to the 'rel':'approve' url returned as part of the HATEOAS links within the Create Order call.",
  ORDER_REFUSED: 'The request was refused.',
  ACTION_DOES_NOT_MATCH_CAPTURE:
    "Order was created with an intent to 'CAPTURE'. Please use v2/checkout/orders/order_id/capture to complete the transaction or alternately Create an order with an intent of 'AUTHORIZE'.",
  ACTION_DOES_NOT_MATCH_AUTHORIZE:
    "Order was created with an intent to 'AUTHORIZE'. Please use v2/checkout/orders/order_id/authorize to perform authorization or alternately Create an order with an intent of 'CAPTURE'.",
  AUTHORIZATION_ALREADY_CAPTURED: 'Authorization has previously been captured.',
  AUTHORIZATION_DENIED: 'An denied authorization cannot be captured.',
  AUTHORIZATION_EXPIRED: 'An expired authorization cannot be captured.',
  AUTHORIZATION_VOIDED: 'A voided authorization cannot be captured or reauthorized. ',
  AUTH_CAPTURE_CURRENCY_MISMATCH: 'Currency of capture must be the same as currency of authorization.',
  MAX_CAPTURE_AMOUNT_EXCEEDED:
    'Capture amount exceeds allowable limit. Please contact customer service or your account manager to request the change to your overage limit. The default overage limit is 115%, which allows the sum of all captures to be up to 115% of the order amount. The ability to over capture is subjected to regulatory approvals.',
  TRANSACTION_NOT_CAPTURABLE: "PayPal's internal controls prevent authorization from being captured.",
  PREVIOUSLY_CAPTURED: 'Authorization has been previously captured and hence cannot be voided.',
  PREVIOUSLY_VOIDED: 'Authorization has been previously voided and hence cannot be voided again.',
  CANNOT_BE_VOIDED: 'A reauthorization cannot be voided. Please void the original parent authorization.',
  TRANSACTION_DISPUTED:
    'Partial refunds cannot be offered at this time because there is an open case on this transaction. Visit the PayPal Resolution Center to review this case.',
  PLATFORM_FEE_NOT_ENABLED:
    "The API Caller account is not setup to be able to process refunds with 'platform_fees'. Please contact your Account Manager. This feature is useful when you want to contribute a portion of the 'platform_fees' you had capture as part of the refund being processed.",
} as const;
export type Issue = keyof typeof ISSUES;

/** PayPal's names for issues with several descriptions. */
const NAMED: Partial<Record<Issue, string>> = {
  ORDER_NOT_APPROVED_TO_AUTHORIZE: 'ORDER_NOT_APPROVED',
  ORDER_REFUSED: 'TRANSACTION_REFUSED',
  TRANSACTION_NOT_CAPTURABLE: 'TRANSACTION_REFUSED',
  ACTION_DOES_NOT_MATCH_CAPTURE: 'ACTION_DOES_NOT_MATCH_INTENT',
  ACTION_DOES_NOT_MATCH_AUTHORIZE: 'ACTION_DOES_NOT_MATCH_INTENT',
};
export const isIssue = (name: string): name is Issue => Object.hasOwn(ISSUES, name);

export const unprocessable = (issue: Issue, more: { field?: string; links?: readonly Link[]; began?: boolean } = {}) =>
  paypalError(422, {
    details: [
      {
        issue: NAMED[issue] ?? issue,
        description: ISSUES[issue],
        ...(more.field && { field: more.field, location: 'body' }),
      },
    ],
    ...(more.links && { links: more.links }),
    began: more.began ?? true,
  });

/** Refused during the operation, so the response is stored under the idempotency key. */
export const refused = (issue: Issue, field?: string): Refused =>
  new Refused(unprocessable(issue, field === undefined ? {} : { field }));

/** Refused before the operation began, so the same key may be used again. */
export const malformed = (details: readonly Detail[]): Refused => new Refused(paypalError(400, { details }));

export const paypalNotFound = (): Refused =>
  new Refused(
    paypalError(404, {
      details: [
        {
          issue: 'INVALID_RESOURCE_ID',
          description: 'Specified resource ID does not exist. Please check the resource ID and try again.',
        },
      ],
    }),
  );
