import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookRequest } from '../port/events.ts';

/**
 * Square signs the URL that it was told to notify and the body after it (x-square-hmacsha256-signature, base64 of
 * HMAC-SHA256). The URLs come from the settings, never from the request; a function may be known by several. There is no
 * timestamp: what stops a replay is the event's id.
 */
export const verifySquareSignature = (
  { raw, headers }: Pick<WebhookRequest, 'raw' | 'headers'>,
  key: string,
  notificationUrls: readonly string[],
): 'valid' | 'invalid' => {
  const given = Buffer.from(headers['x-square-hmacsha256-signature'] ?? '', 'utf8');
  if (key === '' || given.length === 0) return 'invalid';
  // Compared as text, since several texts decode to the same bytes; all of the URLs, so that time tells nothing.
  const matches = notificationUrls.map((url) => {
    const expected = Buffer.from(createHmac('sha256', key).update(url).update(raw).digest('base64'), 'utf8');
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  return matches.includes(true) ? 'valid' : 'invalid';
};
