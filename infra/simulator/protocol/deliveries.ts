import type { Clock } from '../../local/machine/clock.ts';
import type { SimulatorOptions } from '../state/options.ts';
import type { DeliveryMode, OutboxDelivery } from './outbox.ts';
import type { SignatureKind, Vendor } from './vendor.ts';

/** How long a provider waits for the response to a webhook, in real time. */
const DEADLINE_MS = 30_000;

/** Returns the response, or status 0 and the reason. Never rejects. */
export const postTo = async (
  options: SimulatorOptions,
  url: string,
  init: { headers: Record<string, string>; body: string },
): Promise<{ status: number; body: string }> => {
  const late = Promise.withResolvers<{ status: number; body: string }>();
  const timer = setTimeout(() => late.resolve({ status: 0, body: 'too late' }), DEADLINE_MS).unref();
  try {
    return await Promise.race([options.deliver(url, init), late.promise]);
  } catch (error) {
    return { status: 0, body: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
};

const SIGNATURES: Partial<Record<DeliveryMode, SignatureKind>> = { forged: 'invalid', stale: 'stale' };

interface Sender {
  readonly clock: Clock;
  readonly options: SimulatorOptions;
  readonly vendorOf: (slot: OutboxDelivery['slot']) => Vendor;
}

/**
 * Sends one delivery of the outbox, signed at the time of sending. @returns the response's status; 0 without a response
 */
export const sendDelivery = async ({ clock, options, vendorOf }: Sender, delivery: OutboxDelivery): Promise<number> => {
  const slot = options.slots[delivery.slot];
  const headers = vendorOf(delivery.slot).webhooks.headersOf({
    raw: delivery.body,
    slot,
    at: clock.now(),
    kind: SIGNATURES[delivery.manner] ?? 'valid',
  });
  return (await postTo(options, slot.webhookUrl, { headers, body: delivery.body })).status;
};
