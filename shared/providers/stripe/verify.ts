import Stripe from 'stripe';
import { epochSeconds } from '../../core/time.ts';
import type { WebhookRequest } from '../event-port.ts';

const CLOCK_TOLERANCE_SECONDS = 300;

/** Stripe signs time and body (stripe-signature, hex HMAC-SHA256). A replay after five minutes is refused. */
export const verifyStripeSignature = ({ raw, headers, now }: WebhookRequest, secret: string): 'valid' | 'invalid' => {
  const header = headers['stripe-signature'];
  const [time, ...others] = header?.split(',').flatMap(timeOf) ?? [];
  // The SDK verifies only the last of several times, so a header with more than one time is refused.
  if (!header || time === undefined || others.length > 0) return 'invalid';
  try {
    // Checks the signature only; readEvent refuses a body that is not JSON.
    const { signature } = Stripe.webhooks;
    if (!signature?.verifyHeader(raw, header, secret, CLOCK_TOLERANCE_SECONDS, undefined, now)) return 'invalid';
  } catch {
    return 'invalid';
  }
  // The SDK accepts timestamps in the future, so they are limited here.
  return time - epochSeconds(now) <= CLOCK_TOLERANCE_SECONDS ? 'valid' : 'invalid';
};

/** The time of one part of the header, as the SDK reads it. */
const timeOf = (part: string): readonly number[] => {
  const [name, value = ''] = part.split('=');
  return name === 't' ? [Number.parseInt(value, 10)] : [];
};
