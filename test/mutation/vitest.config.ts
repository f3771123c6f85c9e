import { defineConfig } from 'vitest/config';

const SECOND_MS = 1_000;

/** The unit tests of the mutated decision modules. */
export default defineConfig({
  test: {
    environment: 'node',
    include: [
      'test/unit/{access,idempotency,payment,subscription}*.test.ts',
      'test/unit/{core-money,provider-currencies,square-currency,square,stripe-events}.test.ts',
      'test/unit/{paypal-adapter,paypal-verify,table-change,table-keys}.test.ts',
      'test/unit/webhooks-{attempt,deliver,post}.test.ts',
    ],
    provide: { scale: 1 },
    restoreMocks: true,
    testTimeout: 60 * SECOND_MS,
  },
});
