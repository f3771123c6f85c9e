/** @module The method and decline of each kind of failed payment, compared with the provider's ledger. */

import { beforeAll, describe, expect, test } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { confirmInBrowser, PATIENT, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { attemptWith, detailsInLedger, expectFactsOfLedger, type PaidWith, untilFactsRead } from './ledger-facts.ts';
import { signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: PATIENT });
let user: User;
let admin: User;
beforeAll(async () => {
  user = await signIn(service, { expires_in: YEAR_SECONDS });
  admin = await signInAdmin(service);
});

const DECLINES: readonly (readonly [
  ...PaidWith,
  code: string,
  provider_code: string,
  advice: string,
  hard: boolean,
])[] = [
  ['provider_a', 'pm_card_visa_chargeDeclined', 'do_not_honor', 'generic_decline', 'contact_bank', false],
  ['provider_a', 'pm_sim_do_not_honor', 'do_not_honor', 'do_not_honor', 'contact_bank', false],
  [
    ...(['provider_a', 'pm_card_chargeDeclinedInsufficientFunds'] as const),
    ...(['insufficient_funds', 'insufficient_funds', 'retry_later', false] as const),
  ],
  ['provider_a', 'pm_card_chargeDeclinedLostCard', 'lost_card', 'lost_card', 'another_method', true],
  ['provider_a', 'pm_card_chargeDeclinedStolenCard', 'stolen_card', 'stolen_card', 'another_method', true],
  ['provider_a', 'pm_card_chargeDeclinedExpiredCard', 'expired_card', 'expired_card', 'correct_data', false],
  ['provider_a', 'pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc', 'incorrect_cvc', 'correct_data', false],
  [
    ...(['provider_a', 'pm_card_chargeDeclinedProcessingError'] as const),
    ...(['processing_error', 'processing_error', 'retry_later', false] as const),
  ],
  ['provider_a', 'pm_sim_pickup_card', 'do_not_honor', 'pickup_card', 'another_method', true],
  ['provider_a', 'pm_sim_invalid_account', 'do_not_honor', 'invalid_account', 'another_method', true],
  ['provider_a', 'pm_sim_account_closed', 'do_not_honor', 'invalid_account', 'another_method', true],
  ['provider_a', 'pm_sim_revoked', 'do_not_honor', 'revocation_of_authorization', 'another_method', true],
  ['provider_a', 'pm_sim_stopped', 'do_not_honor', 'stop_payment_order', 'another_method', true],
  ['provider_a', 'pm_sim_never_again', 'insufficient_funds', 'insufficient_funds', 'another_method', true],
  ['provider_a', 'pm_sim_agreement_canceled', 'do_not_honor', 'do_not_honor', 'another_method', true],
  ['provider_a', 'pm_sim_wrong_data', 'do_not_honor', 'do_not_honor', 'correct_data', false],
  ['provider_b', 'SIM-PICKUP-CARD', 'do_not_honor', '5150', 'another_method', true],
  ['provider_b', 'SIM-INVALID-ACCOUNT', 'do_not_honor', '1330', 'another_method', true],
  ['provider_b', 'SIM-ACCOUNT-CLOSED', 'do_not_honor', '5140', 'another_method', true],
  ['provider_b', 'SIM-REVOKED', 'do_not_honor', '0500', 'another_method', true],
  ['provider_b', 'SIM-NEVER-AGAIN', 'insufficient_funds', '5120', 'another_method', true],
  ['provider_b', 'SIM-WRONG-DATA', 'do_not_honor', '0500', 'correct_data', false],
  ['provider_c', 'cnon:sim-pickup-card', 'do_not_honor', 'GENERIC_DECLINE', 'another_method', true],
  ['provider_c', 'cnon:sim-invalid-account', 'do_not_honor', 'INVALID_ACCOUNT', 'another_method', true],
  ['provider_c', 'cnon:sim-account-closed', 'do_not_honor', 'GENERIC_DECLINE', 'another_method', true],
  ['provider_c', 'cnon:sim-revoked', 'do_not_honor', 'GENERIC_DECLINE', 'another_method', true],
  ['provider_c', 'cnon:sim-never-again', 'do_not_honor', 'ACCOUNT_UNUSABLE', 'another_method', true],
  ['provider_c', 'cnon:sim-wrong-data', 'do_not_honor', 'PAN_FAILURE', 'correct_data', false],
  ['provider_b', 'SIM-NSF', 'insufficient_funds', '5120', 'retry_later', false],
  ['provider_b', 'SIM-LOST', 'lost_card', '9520', 'another_method', true],
  ['provider_b', 'SIM-EXPIRED', 'expired_card', '5400', 'correct_data', false],
  ['provider_b', 'SIM-CVC', 'incorrect_cvc', '5110', 'correct_data', false],
  ['provider_b', 'SIM-DO-NOT-HONOR', 'do_not_honor', '0500', 'contact_bank', false],
  ['provider_b', 'SIM-PROCESSING-ERROR', 'processing_error', '5910', 'retry_later', false],
  ['provider_c', 'cnon:card-nonce-declined', 'do_not_honor', 'GENERIC_DECLINE', 'contact_bank', false],
  [
    ...(['provider_c', 'cnon:card-nonce-insufficient-funds'] as const),
    ...(['insufficient_funds', 'INSUFFICIENT_FUNDS', 'retry_later', false] as const),
  ],
  ['provider_c', 'cnon:card-nonce-lost', 'lost_card', 'GENERIC_DECLINE', 'another_method', true],
  ['provider_c', 'cnon:card-nonce-rejected-cvv', 'incorrect_cvc', 'CVV_FAILURE', 'correct_data', false],
];

describe('a declined payment', () => {
  test.each(DECLINES)('at %s with %s shows the ledger’s method and %s (%s)', async (...row) => {
    const [provider, method, code, provider_code, advice, hard] = row;
    const { id, ...payment } = await attemptWith(service, user, { with: [provider, method] });
    expect(payment).toMatchObject({ status: 'failed', failure_code: code });
    expect(payment.decline).toMatchObject({ code, provider_code, advice, hard });
    expect(payment.payment_method_details).toEqual(await detailsInLedger(service, id));
    await untilFactsRead(service);
    expect(await expectFactsOfLedger(service, admin, id)).toMatchObject({ decline: payment.decline });
  });

  test.each([
    ['provider_a', 'pm_sim_processing_fail'],
    ['provider_b', 'SIM-PENDING-FAIL'],
    ['provider_c', 'bnon:bank-nonce-insufficient-funds'],
  ])('at %s that fails after processing (%s) shows the ledger’s method', async (...method) => {
    const { id } = await attemptWith(service, user, { with: method });
    await untilFactsRead(service);
    expect(await expectFactsOfLedger(service, admin, id)).toMatchObject({ status: 'failed', decline: { hard: false } });
  });

  test('at Stripe shows that the payer failed the authentication', async () => {
    const { id } = await attemptWith(service, user, { with: ['provider_a', 'pm_card_authenticationRequired'] });
    await service.authenticate(id, 'failure');
    await untilFactsRead(service);
    expect(await read(service, id, user.options)).toMatchObject({
      payment_method_details: { last_four: '3184', three_d_secure: { result: 'failed' } },
      decline: { advice: 'authenticate', provider_code: 'payment_intent_authentication_failure' },
    });
  });
  test('at Stripe shows the second card if it fails authentication in the browser', async () => {
    const declined = ['provider_a', 'pm_card_chargeDeclinedInsufficientFunds'] as const;
    const payment = await attemptWith(service, user, { with: declined });
    await service.settle();
    await service.webhookMode('drop');
    await confirmInBrowser(service, payment, 'pm_card_authenticationRequired');
    await service.webhookMode('normal');
    await service.authenticate(payment.id, 'failure');
    await untilFactsRead(service);
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'failed',
      payment_method_details: { last_four: '3184', three_d_secure: { result: 'failed' } },
      decline: { network_code: null, provider_code: 'payment_intent_authentication_failure' },
      failure_code: 'authentication_required',
    });
  });
});
