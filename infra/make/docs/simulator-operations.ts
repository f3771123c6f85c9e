/** @module The part of the local host's page that counts the simulator's operations per provider API. */
import type { AdapterName } from '../../../shared/core/settings.ts';
import { VENDORS } from '../../local/host/simulator.ts';

interface Described {
  readonly name: string;
  /**
   * Number of operations in the provider's own API description, with its source. Undefined if the provider publishes no
   * description.
   */
  readonly theirs: { readonly count: number; readonly source: string } | undefined;
}

/** Counts from the providers' OpenAPI files. A test compares them if copies of the files are next to the project. */
export const DESCRIBED: Readonly<Record<AdapterName, Described>> = {
  stripe: {
    name: 'Stripe',
    theirs: { count: 514, source: 'the types of the npm package stripe 23.1.0, version 2026-10-28.endive' },
  },
  paypal: {
    name: 'PayPal',
    theirs: {
      count: 57,
      source:
        'github.com/paypal/paypal-rest-api-specifications: orders, payments, vault, webhooks, products, subscriptions; disputes are not counted',
    },
  },
  square: { name: 'Square', theirs: { count: 316, source: 'github.com/square/connect-api-specification' } },
  braintree: { name: 'Braintree', theirs: undefined },
};

export const simulatorOperations = (): Readonly<Record<string, string>> => ({
  'simulator-operations': [
    '| Provider | Operations | Of |',
    '|---|---|---|',
    ...VENDORS.map(({ adapter, operations }) => {
      const { name, theirs } = DESCRIBED[adapter];
      const all = theirs ? `${theirs.count} (${theirs.source})` : 'no published description';
      return `| ${name} | ${operations.length} | ${all} |`;
    }),
  ].join('\n'),
});
