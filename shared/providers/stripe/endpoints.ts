/** @module The webhook endpoints of a Stripe account. Stripe sends events in the API version of the endpoint. */

import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { EventEndpoint } from '../provider.ts';
import type { StripeCall } from './outcome.ts';
import { everyPage } from './refunds.ts';

const PAGE = 100;

export const readStripeEndpoints = (stripe: Stripe, call: StripeCall): Promise<Outcome<readonly EventEndpoint[]>> =>
  call(
    () => everyPage(stripe.webhookEndpoints.list({ limit: PAGE })),
    (endpoints) =>
      endpoints.map(({ url, status, api_version: version }) => ({
        url,
        isEnabled: status === 'enabled',
        version: version ?? undefined,
      })),
  );
