/** @module The Square adapter. It has its own HTTP client, because loading Square's SDK takes longer than a payment. */

import { CAPABILITIES_OF } from '../../core/capabilities.ts';
import { type AdapterOptions, listed, notOffered } from '../adapter.ts';
import { fingerprintsOf } from '../card-fingerprint.ts';
import type { EventReceiver } from '../event-port.ts';
import type { PaymentProvider } from '../provider.ts';
import { httpClient } from '../vendor-http.ts';
import { ON_FILE, squareCards } from './cards.ts';
import { squareCustomers } from './customers.ts';
import { readSquareEvent } from './events.ts';
import { squareHoldings } from './holdings.ts';
import { squareHolds } from './holds.ts';
import { squareListing } from './listing.ts';
import { squareLocation } from './location.ts';
import { squareCalls } from './outcome.ts';
import { squareOrders, squarePayments } from './payments.ts';
import { squareRefunds } from './refunds.ts';
import { verifySquareSignature } from './verify.ts';

const LIVE_BASE = 'https://connect.squareup.com';

/** @returns undefined if token or location is missing; the slot is then closed */
export const openSquare = (options: AdapterOptions): PaymentProvider | undefined => {
  const { settings, slot } = options;
  const { ACCESS_TOKEN: accessToken, LOCATION_ID: locationId } = settings;
  if (accessToken === '' || locationId === '') return undefined;
  const http = httpClient({ ...options, baseUrl: settings.BASE_URL || LIVE_BASE });
  const fingerprintOf = fingerprintsOf(options);
  const call = squareCalls(http, { accessToken, fingerprintOf });
  const account = { call, locationId, accessToken, descriptor: settings.STATEMENT_DESCRIPTOR, fingerprintOf };
  const customers = squareCustomers(call);
  return {
    slot,
    adapter: 'square',
    can: CAPABILITIES_OF.square,
    ...squareLocation(call, locationId),
    ...squarePayments(account),
    ...customers,
    ...squareCards(account, squareOrders(account)),
    holdings: squareHoldings(call, { findCustomer: customers.findCustomer, fingerprintOf }),
    holds: squareHolds(account),
    refunds: squareRefunds(call),
    listing: squareListing(account),
    isStoredMethod: (id) => id.startsWith(ON_FILE),
    tokenizeCard: notOffered,
    updateBilling: notOffered,
    readEvent: (body) => readSquareEvent(body, fingerprintOf),
  };
};

/** @returns undefined if the signature key or the notification URL is missing; the webhook route is then closed */
export const openSquareReceiver = (options: AdapterOptions): EventReceiver | undefined => {
  const { settings, slot } = options;
  const { NOTIFICATION_URL: urls } = settings;
  const fingerprintOf = fingerprintsOf(options);
  const keys = listed(settings.SIGNATURE_KEY);
  if (keys.length === 0 || urls.length === 0) return undefined;
  return {
    slot,
    verifyWebhook: async (request) => verifySquareSignature(request, keys, urls),
    readEvent: (body) => readSquareEvent(body, fingerprintOf),
  };
};
