import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { ProviderSetup, SetupsPort } from '../port/methods.ts';
import type { StripeCall } from './outcome.ts';
import { readStripeSetup } from './report.ts';

type SetupOutcome = Outcome<ProviderSetup>;

const EXPANDED = { expand: ['payment_method'] };

export const stripeSetups = (stripe: Stripe, call: StripeCall): SetupsPort => {
  const find = async (setupId: string): Promise<SetupOutcome> => {
    const found = await call(() => stripe.setupIntents.retrieve(setupId, EXPANDED), readStripeSetup);
    if (found.kind !== 'refused' || found.reason !== 'resource_missing') return found;
    return { kind: 'done', value: { setupId, status: 'canceled', method: undefined } };
  };

  /** Stripe refuses to cancel a SetupIntent that is final. */
  const cancel = async (setupId: string): Promise<SetupOutcome> => {
    const canceled = await call(() => stripe.setupIntents.cancel(setupId, EXPANDED), readStripeSetup);
    if (canceled.kind !== 'refused') return canceled;
    const found = await find(setupId);
    return found.kind === 'done' && !isFinal(found.value) ? canceled : found;
  };

  return { find, cancel };
};

const isFinal = ({ status }: ProviderSetup): boolean => status === 'succeeded' || status === 'canceled';
