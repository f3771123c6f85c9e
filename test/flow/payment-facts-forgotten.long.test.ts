/** @module Traces of cards and bank accounts in the table, before and after their holder is erased. */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { platformAdmin, requestErasure, textOf, untilErased } from './erasures.ts';
import { confirm, itemsOf, PATIENT, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { attemptWith, type PaidWith, untilFactsRead } from './ledger-facts.ts';
import { saveReadyMethod } from './payers.ts';
import { refund } from './refunders.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: PATIENT });

const CASES: readonly PaidWith[] = [
  ['provider_a', 'pm_card_visa'],
  ['provider_a', 'pm_sim_apple_pay'],
  ['provider_a', 'pm_card_chargeDeclinedLostCard'],
  ['provider_b', 'SIM-CARD'],
  ['provider_b', 'SIM-NSF'],
  ['provider_b', 'SIM-OK'],
  ['provider_c', 'cnon:card-nonce-ok'],
  ['provider_c', 'cnon:card-nonce-declined'],
  ['provider_c', 'bnon:bank-nonce-ok'],
];
/** The last digits of the methods in CASES and of the saved methods. No amount, time or id in this test equals them. */
const DIGITS = ['4242', '0006', '9987', '1111', '6789', '4444', '0005'] as const;
const BANK = 'Simulated Bank';

/** The traces found in table items (including packed events), each with the keys of the items. */
const tracesIn = async (traces: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
  const items = (await itemsOf(service)).map((item) => ({ key: `${item.pk} ${item.sk}`, text: textOf(item) }));
  const found = traces.map((trace): [string, string[]] => {
    const pattern = new RegExp(String.raw`(?<![\w.:+-])${trace}(?![\w.:-])`);
    return [trace, items.filter(({ text }) => pattern.test(text)).map(({ key }) => key)];
  });
  return new Map(found.filter(([, keys]) => keys.length > 0));
};

const payAll = async (user: User, admin: User): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (const method of CASES) {
    const { id, status } = await attemptWith(service, user, { with: method });
    ids.push(id);
    if (status !== 'succeeded') continue;
    await refund(service, id, { body: { amount_cents: 100 }, ...admin.options });
  }
  // A later attempt uses another card. Only earlier versions of the payment then contain the first card.
  await confirm(service, ids[2] ?? '', { ...user.options, body: { payment_method_id: 'pm_card_amex' } });
  await untilFactsRead(service);
  return ids;
};

describe('an erasure of a payer with cards, accounts, declines and saved methods', () => {
  test('removes digits, fingerprints and bank from every item, and keeps brand, type and country', async () => {
    const admin = await platformAdmin(service);
    const user = await signIn(service, { expires_in: YEAR_SECONDS });
    const ids = await payAll(user, admin);
    await saveReadyMethod(service, user.options);
    await saveReadyMethod(service, user.options, { provider_payment_method_token: 'pm_card_mastercard' });
    await service.advance(DAY_SECONDS);
    await service.settle();
    const known = await Promise.all(ids.map((id) => read(service, id, admin.options)));
    const ours = known.flatMap(({ payment_method_details: { fingerprint } }) => fingerprint ?? []);
    const { charges } = await service.ledger();
    const theirs = charges
      .filter(({ provider }) => provider !== 'provider_b')
      .map(({ payment_method_details: { fingerprint } }: ParsedJson) => fingerprint);
    const traces = [...new Set<string>([...DIGITS, BANK, ...ours, ...theirs])];
    expect(ours.length).toBeGreaterThanOrEqual(6);
    expect([...(await tracesIn(traces)).keys()].toSorted()).toEqual(traces.toSorted());
    const { id } = await requestErasure(service, admin.options, { user_id: user.userId });
    await untilErased(service, admin.options, { id });
    await service.advance(2 * DAY_SECONDS);
    await service.settle();
    expect(Object.fromEntries(await tracesIn(traces))).toEqual({});
    for (const { id: paid, payment_method_details: details } of known) {
      const blank = { last_four: null, expiry_month: null, expiry_year: null, bank_name: null, fingerprint: null };
      expect((await read(service, paid, admin.options)).payment_method_details).toEqual({ ...details, ...blank });
    }
  });
});
