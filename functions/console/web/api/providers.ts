import { signal } from '@preact/signals';
import { answerOf, api } from './client.ts';
import type { ProviderConfig } from './types.ts';

/** The provider slots of this installation, from GET /config. */
export const providers = signal<readonly ProviderConfig[]>([]);

const NAMES: Readonly<Record<ProviderConfig['provider'], string>> = {
  stripe: 'Stripe',
  paypal: 'PayPal',
  square: 'Square',
  braintree: 'Braintree',
};

export const readProviders = async (): Promise<void> => {
  const { data } = await answerOf(api.GET('/config'));
  providers.value = data.data?.providers ?? [];
};

/** The provider's name, such as `Stripe` for `provider_a`; the slot itself if it is switched off now. */
export const providerName = (slot: string): string => {
  const found = providers.value.find(({ provider_id: id }) => id === slot);
  return found ? NAMES[found.provider] : slot;
};

/** The link to a payment in the vendor's dashboard; undefined if the vendor has no such link. */
export const dashboardLink = (slot: string, providerPaymentId: string): string | undefined => {
  const found = providers.value.find(({ provider_id: id }) => id === slot);
  if (!found) return undefined;
  const id = encodeURIComponent(providerPaymentId);
  switch (found.provider) {
    case 'stripe':
      return `https://dashboard.stripe.com/${found.test ? 'test/' : ''}payments/${id}`;
    case 'paypal':
      return `https://www.${found.test ? 'sandbox.' : ''}paypal.com/activity/payment/${id}`;
    case 'square':
      return `https://${found.test ? 'app.squareupsandbox' : 'app.squareup'}.com/dashboard/sales/transactions/${id}`;
    default:
      return undefined;
  }
};
