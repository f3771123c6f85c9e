/** @module The PayPal adapter. It has its own HTTP client, because PayPal's SDK lacks webhooks and other base URLs. */

import { CAPABILITIES_OF } from '../../core/capabilities.ts';
import { type AdapterOptions, notOffered } from '../adapter.ts';
import type { EventReceiver } from '../event-port.ts';
import type { PaymentProvider } from '../provider.ts';
import { httpClient } from '../vendor-http.ts';
import { withAccessToken } from './access-token.ts';
import { paypalAmounts } from './amounts.ts';
import { readPayPalEvent } from './events.ts';
import { paypalHoldings } from './holdings.ts';
import { paypalHolds } from './holds.ts';
import { paypalListing } from './listing.ts';
import { paypalOrders } from './orders.ts';
import { callsBy, type PayPalExchange } from './outcome.ts';
import { paypalRefunds } from './refunds.ts';
import { paypalVault } from './vault.ts';
import { webhookVerifier } from './verify.ts';

const LIVE_BASE = 'https://api-m.paypal.com';

/** Matches set-up tokens and the simulator's test values. Ids of vaulted payment tokens contain lower-case letters. */
const ONE_TIME = /^[0-9A-Z-]+$/;

/** @returns undefined if client id or secret is missing; the slot is then closed */
export const openPayPal = (options: AdapterOptions): PaymentProvider | undefined => {
  const { settings, slot } = options;
  const exchange = openExchange(options);
  if (!exchange) return undefined;
  const call = callsBy(exchange);
  return {
    slot,
    adapter: 'paypal',
    can: CAPABILITIES_OF.paypal,
    checkAmount: async (amount) => paypalAmounts.refusalOf(amount),
    ...paypalOrders(call, settings.STATEMENT_DESCRIPTOR),
    ...paypalVault(call),
    refunds: paypalRefunds(exchange),
    holdings: paypalHoldings(call),
    listing: paypalListing(call),
    holds: paypalHolds(call, settings.STATEMENT_DESCRIPTOR),
    isStoredMethod: (id) => !ONE_TIME.test(id),
    tokenizeCard: notOffered,
    updateBilling: notOffered,
    readEvent: readPayPalEvent,
  };
};

/** @returns undefined if the webhook id or a key for verification is missing; the webhook route is then closed */
export const openPayPalReceiver = (options: AdapterOptions): EventReceiver | undefined => {
  const { WEBHOOK_ID: webhookId, BASE_URL: baseUrl } = options.settings;
  const exchange = openExchange(options);
  if (!exchange || webhookId === '') return undefined;
  return {
    slot: options.slot,
    verifyWebhook: webhookVerifier({ exchange, webhookId, baseUrl }),
    readEvent: readPayPalEvent,
  };
};

const openExchange = (options: AdapterOptions): PayPalExchange | undefined => {
  const { CLIENT_ID: id, CLIENT_SECRET: secret, BASE_URL: baseUrl } = options.settings;
  if (id === '' || secret === '') return undefined;
  return withAccessToken(httpClient({ ...options, baseUrl: baseUrl || LIVE_BASE }), {
    id,
    secret,
  });
};
