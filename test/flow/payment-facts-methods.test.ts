import { beforeAll, describe, expect, test } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, PATIENT, read, signIn, type User } from './flow.ts';
import { type ParsedJson, withHost } from './host.ts';

/** The method and the decline of a payment, for each provider, method and outcome, compared with the provider's ledger. */
const service = withHost({ frozen: true, env: PATIENT });
let user: User;
beforeAll(async () => {
  user = await signIn(service, { expires_in: YEAR_SECONDS });
});

type Case = readonly [provider: string, method: string];

const CARDS: readonly Case[] = [
  ['provider_a', 'pm_card_visa'],
  ['provider_a', 'pm_card_visa_debit'],
  ['provider_a', 'pm_card_mastercard'],
  ['provider_a', 'pm_card_amex'],
  ['provider_a', 'pm_card_unionpay'],
  ['provider_a', 'pm_card_br'],
  ['provider_a', 'pm_sim_ok_3_then_lost'],
  ['provider_b', 'SIM-CARD'],
  ['provider_c', 'cnon:card-nonce-ok'],
  ['provider_c', 'cnon:sim-ok-3-then-lost'],
];

const DECLINES: readonly (readonly [...Case, code: string, provider_code: string, advice: string, hard: boolean])[] = [
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

const attempt = async ([provider_id, payment_method_id]: Case) => {
  const intent = await createIntent(service, user, { provider_id, payment_method_id });
  const confirmed = await confirm(service, intent.id, user.options);
  return { id: intent.id, confirmed, payment: await read(service, intent.id, user.options) };
};

/** The newest card in the provider's ledger, as the service names its fields. Each attempt makes a new card there. */
const newestCard = async (provider: string): Promise<ParsedJson> => {
  const { payment_methods } = await service.ledger();
  const { brand, last_four, exp_month, exp_year } = payment_methods.findLast(
    (one: ParsedJson) => one.provider === provider,
  );
  const expiry = { expiry_month: String(exp_month).padStart(2, '0'), expiry_year: String(exp_year) };
  return { type: 'card', card_brand: brand.toLowerCase(), last_four, ...expiry };
};

describe('the method of a payment', () => {
  test.each(CARDS)('at %s is the card of %s once the payment has succeeded', async (provider, method) => {
    const { id, payment } = await attempt([provider, method]);
    expect(payment).toMatchObject({ status: 'succeeded', decline: null });
    expect(payment.payment_method_details).toMatchObject(await newestCard(provider));
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({
      payment_method_details: payment.payment_method_details,
    });
  });

  test.each(DECLINES)('at %s is the card of %s after the decline %s (%s)', async (...row) => {
    const [provider, method, code, provider_code, advice, hard] = row;
    const { id, payment } = await attempt([provider, method]);
    expect(payment).toMatchObject({
      status: 'failed',
      failure_code: code,
      decline: { code, provider_code, advice, hard },
    });
    expect(payment.payment_method_details).toMatchObject(await newestCard(provider));
    await service.settle();
    expect((await read(service, id, user.options)).decline).toEqual(payment.decline);
  });
});
