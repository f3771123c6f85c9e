/** @module Test values of the simulated providers (see docs/local.md). */
import type { Prng } from '../kernel/prng.ts';
import type { WorldProvider } from './people.ts';

export const PLAIN_TOKENS: Readonly<Record<WorldProvider, string>> = {
  provider_a: 'pm_card_visa',
  provider_b: 'SIM-OK',
  provider_c: 'cnon:card-nonce-ok',
};

const ODD: Readonly<Record<WorldProvider, readonly string[]>> = {
  provider_a: [
    'pm_card_visa_chargeDeclined',
    'pm_card_visa_chargeDeclinedInsufficientFunds',
    'pm_card_authenticationRequired',
    'pm_card_authenticationRequiredOnSetup',
    'pm_card_authenticationRequiredSetupForOffSession',
    'pm_card_chargeCustomerFail',
    'pm_sim_processing_ok',
    'pm_sim_processing_fail',
    'pm_card_pendingRefund',
    'pm_sim_pending_refund_fail',
    'pm_card_refundFail',
    'pm_card_createDispute',
    'pm_sim_timeout_before',
    'pm_sim_timeout_after',
  ],
  provider_b: [
    'SIM-CARD',
    'SIM-DECLINED',
    'SIM-NSF',
    'SIM-CARD-3DS',
    'SIM-FAIL-LATER',
    'SIM-PENDING-OK',
    'SIM-PENDING-FAIL',
    'SIM-TIMEOUT-BEFORE',
    'SIM-TIMEOUT-AFTER',
  ],
  provider_c: [
    'cnon:card-nonce-declined',
    'cnon:sim-fail-on-charge',
    'bnon:bank-nonce-ok',
    'cnon:sim-pending-refund-fail',
    'cnon:sim-pending-refund-reject',
    'cnon:sim-dispute',
    'cnon:sim-timeout-before',
    'cnon:sim-timeout-after',
  ],
};

/** Methods that stop paying after one or several charges, so a renewal fails. */
const WORN_OUT: Readonly<Record<WorldProvider, readonly string[]>> = {
  provider_a: ['pm_sim_ok_1_then_lost', 'pm_sim_ok_1_then_nsf', 'pm_sim_ok_3_then_decline'],
  provider_b: ['SIM-OK-1-THEN-LOST', 'SIM-OK-1-THEN-NSF', 'SIM-OK-3-THEN-DECLINE'],
  provider_c: ['cnon:sim-ok-1-then-lost', 'cnon:sim-ok-1-then-nsf', 'cnon:sim-ok-3-then-decline'],
};

/** A debit with a later outcome, so the payer may cancel and return in the meantime. */
const SLOW_DEBIT = 'pm_sim_processing_ok';

/** A value for a person's initial method. Many of these values fail later, because subscriptions renew with them. */
export const drawFirstToken = (prng: Prng, provider: WorldProvider): string => {
  if (provider === 'provider_a' && prng.fork('slow debit').chance(0.15)) return SLOW_DEBIT;
  if (prng.chance(0.5)) return PLAIN_TOKENS[provider];
  return prng.chance(0.6) ? prng.pick(WORN_OUT[provider]) : drawToken(prng, provider);
};

/** A value for a payment. Half of the values pay without further steps. */
export const drawToken = (prng: Prng, provider: WorldProvider): string =>
  prng.chance(0.5) ? PLAIN_TOKENS[provider] : prng.pick([...ODD[provider], ...WORN_OUT[provider]]);

/** Banks refuse these cards when they are saved, or at every charge afterwards. */
export const DECLINED_CARDS: Readonly<Record<WorldProvider, { readonly atOnce: string; readonly onceSaved: string }>> =
  {
    provider_a: { atOnce: 'pm_card_visa_chargeDeclined', onceSaved: 'pm_card_chargeCustomerFail' },
    provider_b: { atOnce: 'SIM-DECLINED', onceSaved: 'SIM-FAIL-LATER' },
    provider_c: { atOnce: 'cnon:card-nonce-declined', onceSaved: 'cnon:sim-fail-on-charge' },
  };
