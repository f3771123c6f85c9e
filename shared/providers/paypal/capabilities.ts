import type { Capabilities } from '../port/provider.ts';

export const PAYPAL_CAN: Capabilities = {
  payments: true,
  customers: true,
  methods: true,
  rawCards: false,
  billingDetails: false,
  clientConfirmation: false,
  capturesOnApproval: true,
  verificationTokens: false,
  subscriptions: 'service',
};
