import type { AdapterName } from '../../core/settings.ts';
import { BRAINTREE_CAN } from '../braintree/capabilities.ts';
import { PAYPAL_CAN } from '../paypal/capabilities.ts';
import type { Capabilities } from '../port/provider.ts';
import { SQUARE_CAN } from '../square/capabilities.ts';
import { STRIPE_CAN } from '../stripe/capabilities.ts';

/** What each adapter can do, known without opening a slot: no adapter and no key is loaded. */
export const CAPABILITIES_OF: Readonly<Record<AdapterName, Omit<Capabilities, 'subscriptions'>>> = {
  stripe: STRIPE_CAN,
  paypal: PAYPAL_CAN,
  square: SQUARE_CAN,
  braintree: BRAINTREE_CAN,
};
