import { createHmac, timingSafeEqual } from 'node:crypto';
import { CAPABILITIES_OF } from '../../core/capabilities.ts';
import type { WebhookRequest } from '../port/events.ts';
import type { PaymentProvider } from '../port/provider.ts';
import { type AdapterOptions, listed, notOffered } from '../wire/adapter.ts';
import { httpClient } from '../wire/http-client.ts';
import { ON_FILE, squareCards } from './cards.ts';
import { squareLocation } from './currencies.ts';
import { squareCustomers } from './customers.ts';
import { readSquareEvent } from './events.ts';
import { SQUARE_STATUSES, squareCalls } from './outcome.ts';
import { squareOrders, squarePayments } from './payments.ts';
import { squareRefunds } from './refunds.ts';

/** Square, with our own client: its SDK takes longer to load than a payment takes. */
const LIVE_BASE = 'https://connect.squareup.com';

/** @returns undefined if the slot lacks token or location: it is closed. */
export const openSquare = (options: AdapterOptions): PaymentProvider | undefined => {
  const { settings, slot } = options;
  const { ACCESS_TOKEN: accessToken, LOCATION_ID: locationId, NOTIFICATION_URL: urls } = settings;
  const keys = listed(settings.SIGNATURE_KEY);
  if (accessToken === '' || locationId === '') return undefined;
  const http = httpClient({ ...options, baseUrl: settings.BASE_URL || LIVE_BASE, statuses: SQUARE_STATUSES });
  const call = squareCalls(http, accessToken);
  const account = { call, locationId, accessToken, descriptor: settings.STATEMENT_DESCRIPTOR };
  return {
    slot,
    can: CAPABILITIES_OF.square,
    acceptsWebhooks: keys.length > 0 && urls.length > 0,
    ...squareLocation(call, locationId),
    ...squarePayments(account),
    ...squareCustomers(call),
    ...squareCards(call, squareOrders(account)),
    refunds: squareRefunds(call),
    isStoredMethod: (id) => id.startsWith(ON_FILE),
    tokenizeCard: notOffered,
    updateBilling: notOffered,
    verifyWebhook: async (request) => verifySquareSignature(request, keys, urls),
    readEvent: readSquareEvent,
  };
};

/**
 * Square signs the notification URL followed by the body (x-square-hmacsha256-signature, base64 of HMAC-SHA256). The URLs
 * come from the settings, never from the request; a function may have several, each with a key of its own. There is no timestamp: the event's id stops a
 * replay.
 */
export const verifySquareSignature = (
  { raw, headers }: Pick<WebhookRequest, 'raw' | 'headers'>,
  keys: readonly string[],
  notificationUrls: readonly string[],
): 'valid' | 'invalid' => {
  const given = Buffer.from(headers['x-square-hmacsha256-signature'] ?? '', 'utf8');
  if (given.length === 0) return 'invalid';
  // Compares text, because several texts decode to the same bytes. Always checks all pairs, so that time reveals nothing.
  const matches = keys.flatMap((key) =>
    notificationUrls.map((url) => {
      const expected = Buffer.from(createHmac('sha256', key).update(url).update(raw).digest('base64'), 'utf8');
      return expected.length === given.length && timingSafeEqual(expected, given);
    }),
  );
  return matches.includes(true) ? 'valid' : 'invalid';
};
