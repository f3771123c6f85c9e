import { describe, test } from 'vitest';
import { expectSameAccounts, historiesOf } from './account-histories.ts';
import { PATIENT } from './flow.ts';
import { HOLDING } from './holders.ts';
import { withHost } from './host.ts';

const HISTORIES = 500;
const PART = 50;
const histories = historiesOf(HISTORIES);
const parts = Array.from({ length: HISTORIES / PART }, (_, index) => index * PART);

describe.each(HOLDING)('the account of a payment at $slot', (holding) => {
  describe.each(parts)('in the random histories from number %i on', (from) => {
    const service = withHost({ frozen: true, env: PATIENT });

    test("equals the provider's ledger after each step", async () => {
      for (const [index, history] of histories.slice(from, from + PART).entries()) {
        try {
          await expectSameAccounts(service, holding, history);
        } catch (error) {
          throw new Error(`history ${from + index}: ${JSON.stringify(history)}`, { cause: error });
        }
      }
    }, 900_000);
  });
});
