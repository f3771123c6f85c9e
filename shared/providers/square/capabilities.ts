import type { Capabilities } from '../port/provider.ts';

/** Square cannot change cards, and only a browser page may convert a card number to a token. */
export const SQUARE_CAN: Capabilities = {
  payments: true,
  customers: true,
  methods: true,
  rawCards: false,
  billingDetails: false,
  clientConfirmation: false,
  capturesOnApproval: false,
  verificationTokens: true,
  subscriptions: 'service',
};
