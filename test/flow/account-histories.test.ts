import { describe, test } from 'vitest';
import { expectSameAccounts, historiesOf } from './account-histories.ts';
import { PATIENT } from './flow.ts';
import { HOLDING } from './holders.ts';
import { withHost } from './host.ts';

describe.each(HOLDING)('the account of a payment at $slot', (holding) => {
  const service = withHost({ frozen: true, env: PATIENT });

  test.each(historiesOf(10).map((history, index) => [index, history] as const))(
    "equals the provider's ledger after each step of random history %i",
    async (_, history) => expectSameAccounts(service, holding, history),
  );
});
