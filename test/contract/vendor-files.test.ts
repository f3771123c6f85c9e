/** @module Tests the check in vendor-files.ts with calls forbidden by the vendor files. */
import { describe, expect, test } from 'vitest';
import { openRig } from './provider-rig.ts';
import { PAYPAL, SQUARE, STRIPE } from './provider-subjects.ts';
import { contractsFolder, vendorProblems, type WireExchange } from './vendor-files.ts';

const calls = async (subject: typeof PAYPAL | typeof SQUARE | typeof STRIPE): Promise<readonly WireExchange[]> => {
  const rig = await openRig(subject);
  const input = { amountCents: 2_500, currency: 'USD', returnUrl: undefined, paymentId: `pay_${'1'.repeat(24)}` };
  const method = subject.methods.succeeds;
  const named = { ...input, description: 'Two books', method, customerId: undefined, saveMethod: false };
  const made = await rig.provider.createIntent({ ...named, idempotencyKey: 'create' });
  if (made.kind !== 'done') throw new Error(`not done: ${made.kind}`);
  await rig.provider.confirmIntent({ ...named, intentId: made.value.intentId, idempotencyKey: 'confirm' });
  await rig.close();
  return rig.exchanges;
};

const accepted = (exchanges: readonly WireExchange[], path: RegExp): WireExchange => {
  const found = exchanges.find((one) => one.method === 'POST' && one.status < 400 && path.test(one.path));
  if (!found) throw new Error(`no call of ${path}`);
  return found;
};

describe.skipIf(contractsFolder === undefined)(
  'the check of calls against the vendors’ files (skipped without these files)',
  () => {
    test('finds unknown, missing and wrong parameters in a Stripe form', async () => {
      const made = accepted(await calls(STRIPE), /payment_intents$/);
      const problems = (sent: string) => vendorProblems('stripe', [{ ...made, sent }]);
      expect(problems(made.sent)).toEqual([]);
      expect(problems(`${made.sent}&payment_method_options[card][capture]=x`)).toEqual([
        expect.stringContaining('card.capture: is not in the document'),
      ]);
      expect(problems(made.sent.replace('currency=', 'money='))).toHaveLength(2);
      expect(problems(made.sent.replace(/amount=\d+/, 'amount=2.5'))).toEqual([expect.stringContaining('no integer')]);
      expect(vendorProblems('stripe', [{ ...made, search: '?expanded[]=charge' }])).toHaveLength(1);
    });

    test('finds a removed field in a Stripe response', async () => {
      const made = accepted(await calls(STRIPE), /payment_intents$/);
      const charges = JSON.stringify({ ...JSON.parse(made.answered), charges: [] });
      expect(vendorProblems('stripe', [{ ...made, answered: charges }])).toEqual([
        expect.stringContaining('200.charges: is not in the document'),
      ]);
      expect(vendorProblems('stripe', [{ ...made, answered: '{}' }]).length).toBeGreaterThan(5);
    });

    test('finds unknown fields in requests to PayPal and Square', async () => {
      const order = accepted(await calls(PAYPAL), /checkout\/orders$/);
      const payment = accepted(await calls(SQUARE), /v2\/payments$/);
      for (const [vendor, made] of [
        ['paypal', order],
        ['square', payment],
      ] as const) {
        const sent = JSON.stringify({ ...JSON.parse(made.sent), made_up: true });
        expect(vendorProblems(vendor, [made])).toEqual([]);
        expect(vendorProblems(vendor, [{ ...made, sent }])).toEqual([
          expect.stringContaining('made_up: is not in the document'),
        ]);
      }
    });
  },
);
