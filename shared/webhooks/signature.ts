import { Webhook } from 'standardwebhooks';
import { epochSeconds, type Instant } from '../core/time.ts';

/** Headers of the Standard Webhooks scheme: the id stays the same over retries and replays, the timestamp is of this attempt. */
export const signatureHeaders = (
  id: string,
  at: Instant,
  body: Buffer,
  secrets: readonly string[],
): Readonly<Record<string, string>> => ({
  'webhook-id': id,
  'webhook-timestamp': String(epochSeconds(at)),
  ...(secrets.length > 0 && {
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body)).join(' '),
  }),
});
