/** @module The Stripe adapter. The SDK's retries are off, because the service retries (`vendor-failures.ts`). */

import Stripe from 'stripe';
import { CAPABILITIES_OF } from '../../core/capabilities.ts';
import type { Fetch } from '../../platform/fetch.ts';
import { type AdapterOptions, listed } from '../adapter.ts';
import { fingerprintsOf } from '../card-fingerprint.ts';
import type { EventReceiver } from '../event-port.ts';
import type { PaymentProvider } from '../provider.ts';
import { withOneRetry } from '../vendor-failures.ts';
import { stripeAmounts } from './currencies.ts';
import { stripeCustomers } from './customers.ts';
import { readStripeEndpoints } from './endpoints.ts';
import { readStripeEvent } from './events.ts';
import { stripeHoldings } from './holdings.ts';
import { stripeHolds } from './holds.ts';
import { stripeListing } from './listing.ts';
import { stripeMethods, stripeSetups } from './methods.ts';
import { stripeCalls } from './outcome.ts';
import { registerStripeDomain } from './pay-domains.ts';
import { stripePayments } from './payments.ts';
import { stripeRefunds } from './refunds.ts';
import { stripeReaders } from './report.ts';
import { stripeSubscriptions } from './subscriptions.ts';
import { verifyStripeSignature } from './verify.ts';

const LIVE_BASE = 'https://api.stripe.com';

/** A newer SDK uses a newer version of the API, so read Stripe's changelog before an update. */
export const STRIPE_API_VERSION = '2026-10-28.endive';

/** Matches tokens of Stripe.js and names of test cards. Any other method may be attached to a customer. */
const ONE_TIME = /^(?:tok_|pm_card_)/;

/** @returns undefined if the API key is missing; the slot is then closed */
export const openStripe = (options: AdapterOptions): PaymentProvider | undefined => {
  const { settings, slot } = options;
  if (settings.API_KEY === '') return undefined;
  const stripe = new Stripe(settings.API_KEY, {
    httpClient: Stripe.createFetchHttpClient(
      asFetch(withOneRetry(rebased(options.fetch, settings.BASE_URL), options.timeoutMs)),
    ),
    apiVersion: STRIPE_API_VERSION,
    maxNetworkRetries: 0,
    timeout: options.timeoutMs,
    telemetry: false,
  });
  const fingerprintOf = fingerprintsOf(options);
  const call = stripeCalls({ ...options, fingerprintOf });
  const readers = stripeReaders(fingerprintOf);
  const descriptor = settings.STATEMENT_DESCRIPTOR;
  const subscriptions = stripeSubscriptions(stripe, call, descriptor);
  const bills = settings.SUBSCRIPTIONS === 'service' ? 'service' : 'native';
  return {
    slot,
    adapter: 'stripe',
    can: { ...CAPABILITIES_OF.stripe, subscriptions: bills },
    checkAmount: async (amount) => stripeAmounts.refusalOf(amount),
    ...stripePayments(stripe, call, { descriptor, fingerprintOf }),
    ...stripeCustomers(stripe, call),
    ...stripeMethods(stripe, call, readers),
    setups: stripeSetups(stripe, call, readers),
    refunds: stripeRefunds(stripe, call),
    eventVersions: { pinned: STRIPE_API_VERSION, endpoints: () => readStripeEndpoints(stripe, call) },
    payDomains: { register: (host) => registerStripeDomain(stripe, call, host) },
    listing: stripeListing(stripe, call, fingerprintOf),
    holds: stripeHolds(stripe, call, fingerprintOf),
    isStoredMethod: (id) => (ONE_TIME.test(id) ? false : undefined),
    subscriptions,
    holdings: stripeHoldings(stripe, call, { subscriptions, readMethod: readers.readMethod }),
    readEvent: (body) => readStripeEvent(body, fingerprintOf),
  };
};

/** @returns undefined if the webhook secret is missing; the webhook route is then closed */
export const openStripeReceiver = (options: AdapterOptions): EventReceiver | undefined => {
  const { settings, slot } = options;
  const fingerprintOf = fingerprintsOf(options);
  const secrets = listed(settings.WEBHOOK_SECRET);
  if (secrets.length === 0) return undefined;
  return {
    slot,
    verifyWebhook: async (request) =>
      secrets.some((secret) => verifyStripeSignature(request, secret) === 'valid') ? 'valid' : 'invalid',
    readEvent: (body) => readStripeEvent(body, fingerprintOf),
  };
};

/** Sends the SDK's calls to another base URL, such as the simulator's. */
const rebased = (send: Fetch, baseUrl: string): Fetch =>
  baseUrl === '' ? send : (url, init) => send(url.replace(LIVE_BASE, baseUrl), init);

// Sound, because the SDK passes the URL as a string and reads only status, headers and text of the response.
const asFetch = (send: Fetch): typeof fetch => send as unknown as typeof fetch;
