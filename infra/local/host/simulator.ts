/**
 * @module The simulated payment providers. Their wire protocols share one ledger, so the service's real adapters,
 * signatures and retries run without an account or a network. To add a vendor, extend VENDORS.
 */

import { PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import { braintree } from '../../simulator/braintree/operations/braintree.ts';
import type { ControlParts } from '../../simulator/control/control-call.ts';
import { answerControl } from '../../simulator/control/simulator-routes.ts';
import { paypal } from '../../simulator/paypal/operations/paypal.ts';
import { sendDelivery } from '../../simulator/protocol/deliveries.ts';
import { openFaults } from '../../simulator/protocol/faults.ts';
import { openKeptVendorAnswers } from '../../simulator/protocol/idempotency.ts';
import { openJournal } from '../../simulator/protocol/journal.ts';
import { openUnits } from '../../simulator/protocol/ledger-work.ts';
import { type OutboxDelivery, openOutbox } from '../../simulator/protocol/outbox.ts';
import { openProtocol } from '../../simulator/protocol/protocol.ts';
import type { Vendor } from '../../simulator/protocol/vendor.ts';
import { square } from '../../simulator/square/operations/square.ts';
import { ConnectionDropped, type Simulator, type SimulatorOptions } from '../../simulator/state/options.ts';
import { openStore } from '../../simulator/state/store.ts';
import { stripe } from '../../simulator/stripe/operations/stripe.ts';

export const VENDORS: readonly Vendor[] = [stripe, paypal, square, braintree];

/** @throws Error if a key looks live. */
export const createSimulator = (options: SimulatorOptions): Simulator => {
  refuseLiveKeys(options);
  const { clock } = options;
  const store = openStore(options.file, options.onFailedWrite);
  const vendorOf = (slot: ProviderSlot): Vendor => vendorFor(options, slot);
  const served = PROVIDER_SLOTS.filter((slot) =>
    VENDORS.some(({ adapter }) => adapter === options.slots[slot].adapter),
  );
  const send = (delivery: OutboxDelivery): Promise<number> => sendDelivery({ clock, options, vendorOf }, delivery);
  const outbox = openOutbox({
    ...{ store, clock, served, send },
    retriesForDays: (slot) => vendorOf(slot).webhooks.retriesForDays,
  });
  const units = openUnits({
    ...{ store, clock, outbox, served, vendorOf, tag: options.ledgerTag },
    siteOf: (slot) => siteOf(options, slot),
    webhookUrlOf: (slot) => options.slots[slot].webhookUrl,
  });
  const journal = openJournal(store);
  const faults = openFaults(store);
  const slots = PROVIDER_SLOTS.map((slot) => [slot, options.slots[slot]] as const);
  const protocol = openProtocol({ clock, units, journal, faults, slots, kept: openKeptVendorAnswers(store) });
  let closed = false;

  const runDue = (): void => {
    if (closed) return;
    units.runDue();
    outbox.drain();
  };
  /** Delivers events after the response to the call that caused them. */
  const deliverNow = (): void => {
    setImmediate(() => {
      runDue();
      clock.wake();
    });
  };
  const parts: ControlParts = { clock, options, units, outbox, journal, faults, vendors: VENDORS, deliverNow };
  return {
    name: 'simulator',
    provider: async (request) => {
      const vendor = VENDORS.find(({ adapter }) => new URL(request.url).pathname.startsWith(`/${adapter}/`));
      if (!vendor) return Response.json({ error: 'The simulator does not speak this protocol' }, { status: 404 });
      try {
        return await protocol.answer(vendor, request);
      } catch (error) {
        throw closed ? new ConnectionDropped('The simulator is closed') : error;
      } finally {
        deliverNow();
      }
    },
    control: (request) => answerControl(parts, request),
    nextDueAt: () => (closed ? undefined : earliest(units.nextDueAt(), outbox.nextDueAt())),
    runDue: async () => runDue(),
    idle: () => closed || (outbox.idle() && (units.nextDueAt() ?? Number.POSITIVE_INFINITY) > clock.now()),
    close: () => {
      if (closed) return;
      closed = true;
      protocol.close();
      outbox.close();
      store.close();
    },
  };
};

const refuseLiveKeys = (options: SimulatorOptions): void => {
  for (const slot of PROVIDER_SLOTS) {
    const { apiKey } = options.slots[slot];
    if (!VENDORS.some((vendor) => vendor.looksLive(apiKey))) continue;
    throw new Error(`The simulator does not start: the API key of ${slot} looks live`);
  }
};

const vendorFor = (options: SimulatorOptions, slot: ProviderSlot): Vendor => {
  const vendor = VENDORS.find(({ adapter }) => adapter === options.slots[slot].adapter);
  if (!vendor) throw new Error(`${slot} has no vendor in the simulator`);
  return vendor;
};

/** The host's address for payers; by default, the origin of its webhook URL. */
const siteOf = (options: SimulatorOptions, slot: ProviderSlot): string =>
  options.site ?? new URL(options.slots[slot].webhookUrl).origin;

const earliest = (...times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};
