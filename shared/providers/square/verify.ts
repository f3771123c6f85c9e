import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookRequest } from '../event-port.ts';

/**
 * Square signs the notification URL followed by the body (x-square-hmacsha256-signature, base64 of HMAC-SHA256). The URLs
 * come from the settings, never from the request; a function may have several, each with a key of its own. There is no
 * timestamp: the event's id stops a replay.
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
