/** @module The body of a request for a link to a hosted page, and its response. */

import * as z from 'zod';
import { once } from '../core/once.ts';
import { boundedText, timestamp } from '../http/fields.ts';

const SHORTEST_SECONDS = 300;
const LONGEST_SECONDS = 2_592_000;

export const pageReturnUrl = boundedText(2048)
  .check(z.url({ protocol: /^https?$/ }))
  .nullish()
  .meta({
    description: `Where the page sends the payer afterwards, with \`payment_id\` and \`status\` in the query: https, of a host that the setting
      PAGE_RETURN_HOSTS lists. Without it the payer stays on the page.`,
    examples: ['https://shop.example/thanks'],
  });

export const pageLinkBody = z
  .object({
    expires_in: z
      .int()
      .min(SHORTEST_SECONDS)
      .max(LONGEST_SECONDS)
      .nullish()
      .meta({
        description:
          'Lifetime of the link in seconds, from 300 to 2,592,000. By default 86,400 for a payment and 604,800 for a subscription.',
        examples: [86_400],
      }),
    return_url: pageReturnUrl,
  })
  .meta({ id: 'PageLinkRequest', description: 'The lifetime of the link, and the return URL of its page.' });

export type PageLinkInput = z.output<typeof pageLinkBody>;

export const pageLinkSchema = /* @__PURE__ */ once(() =>
  z
    .object({
      url: z.string().meta({
        description:
          'The URL of the page, with its token after `#`. Everyone who has the URL can pay. It is not stored.',
        examples: ['https://payments.example/pay#plk_AM1c_r5q0uB8mN3VQ2pZWvVn0f7jJwqz1o6bYk1cX9hZ4tGs'],
      }),
      expires_at: timestamp.describe('Expiry time of the link.'),
    })
    .meta({ id: 'PageLink', description: 'The URL of one page, for the payer of its record.' }),
);
