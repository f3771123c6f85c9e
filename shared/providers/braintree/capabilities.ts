import type { Capabilities } from '../port/provider.ts';

/** Braintree, for customers only. */
export const BRAINTREE_CAN: Capabilities = {
  payments: false,
  customers: true,
  methods: false,
  rawCards: false,
  billingDetails: false,
  clientConfirmation: false,
  capturesOnApproval: false,
  verificationTokens: false,
  subscriptions: 'service',
};
