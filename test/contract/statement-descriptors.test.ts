/** @module Tests the text on payers' statements, in each provider's format. */
import { afterEach, describe, expect, test } from 'vitest';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL, SQUARE, STRIPE } from './provider-subjects.ts';
import type { ProviderSubject } from './provider-suite.ts';

const TEXT = 'Gold Club';

let rig: ProviderRig;
afterEach(() => rig.close());

/** The sent requests that create and charge a payment. */
const pay = async (subject: ProviderSubject, descriptor: string): Promise<readonly string[]> => {
  rig = await openRig({ ...subject, settings: { ...subject.settings, STATEMENT_DESCRIPTOR: descriptor } });
  const payment = { paymentId: 'pay_1', amountCents: 2_500, currency: 'USD', customerId: undefined };
  const created = await rig.provider.createIntent({
    ...payment,
    description: undefined,
    method: undefined,
    isSavedMethod: false,
    saveMethod: false,
    returnUrl: undefined,
    idempotencyKey: 'pay_1:create',
  });
  if (created.kind !== 'done') throw new Error(JSON.stringify(created));
  await rig.provider.confirmIntent({
    ...payment,
    intentId: created.value.intentId,
    method: subject.methods.succeeds,
    returnUrl: undefined,
    idempotencyKey: 'pay_1:confirm:1',
  });
  return rig.exchanges.map(({ sent }) => decodeURIComponent(sent.replaceAll('+', ' ')));
};

describe.each<[ProviderSubject, string]>([
  [STRIPE, `statement_descriptor_suffix=${TEXT}`],
  [PAYPAL, `"soft_descriptor":"${TEXT}"`],
  [SQUARE, `"statement_description_identifier":"${TEXT}"`],
])('the text on statements', (subject, sent) => {
  test(`is sent once to ${subject.name} if a descriptor is set`, async () => {
    expect((await pay(subject, TEXT)).filter((body) => body.includes(sent))).toHaveLength(1);
    expect(rig.exchanges.every(({ status }) => status < 300)).toBe(true);
  });

  test(`is the account’s default at ${subject.name} if no descriptor is set`, async () => {
    expect((await pay(subject, '')).some((body) => /descriptor|description_identifier/.test(body))).toBe(false);
  });
});
