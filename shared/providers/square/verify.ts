import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookRequest } from '../event-port.ts';

/**
 * Square signs the notification URL followed by the body (x-square-hmacsha256-signature, base64 of HMAC-SHA256). The
 * URLs come from the settings, never from the request. A function may have several URLs, each with its own key. Square
 * signs no timestamp, so only the event id prevents a replay.
 */
export const verifySquareSignature = (
  { raw, headers }: Pick<WebhookRequest, 'raw' | 'headers'>,
  keys: readonly string[],
  notificationUrls: readonly string[],
): 'valid' | 'invalid' => {
  const given = Buffer.from(headers['x-square-hmacsha256-signature'] ?? '', 'utf8');
  if (given.length === 0) return 'invalid';
  // Compares strings, because several strings decode to the same bytes. Always checks all pairs, so that the duration
  // reveals nothing.
  const matches = keys.flatMap((key) =>
    notificationUrls.map((url) => {
      const expected = Buffer.from(createHmac('sha256', key).update(url).update(raw).digest('base64'), 'utf8');
      return expected.length === given.length && timingSafeEqual(expected, given);
    }),
  );
  return matches.includes(true) ? 'valid' : 'invalid';
};
