import Stripe from 'stripe';
import { epochSeconds } from '../../core/time.ts';
import type { WebhookRequest } from '../event-port.ts';

const CLOCK_TOLERANCE_SECONDS = 300;

/** Stripe signs the time and the body (stripe-signature, hexadecimal HMAC-SHA256); a replay is refused after five minutes. */
export const verifyStripeSignature = ({ raw, headers, now }: WebhookRequest, secret: string): 'valid' | 'invalid' => {
  const header = headers['stripe-signature'];
  const [time, ...others] = header?.split(',').flatMap(timeOf) ?? [];
  // The SDK verifies the last of several times. With one, every reader means the same.
  if (!header || time === undefined || others.length > 0) return 'invalid';
  try {
    // Checks the signature only; readEvent refuses a body that is not JSON.
    const { signature } = Stripe.webhooks;
    if (!signature?.verifyHeader(raw, header, secret, CLOCK_TOLERANCE_SECONDS, undefined, now)) return 'invalid';
  } catch {
    return 'invalid';
  }
  // The SDK accepts timestamps in the future.
  return time - epochSeconds(now) <= CLOCK_TOLERANCE_SECONDS ? 'valid' : 'invalid';
};

/** The time of one part of the header, as the SDK reads it. */
const timeOf = (part: string): readonly number[] => {
  const [name, value = ''] = part.split('=');
  return name === 't' ? [Number.parseInt(value, 10)] : [];
};
