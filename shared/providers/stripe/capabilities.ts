import type { Capabilities } from '../port/provider.ts';

export const STRIPE_CAN: Omit<Capabilities, 'subscriptions'> = {
  payments: true,
  customers: true,
  methods: true,
  rawCards: true,
  billingDetails: true,
  clientConfirmation: true,
  capturesOnApproval: false,
  verificationTokens: false,
};
