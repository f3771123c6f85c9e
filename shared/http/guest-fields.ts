/** @module Fields in requests and responses of guests. Separate from fields.ts, because workers have no guests. */

import * as z from 'zod';
import { boundedText, emailSchema, timestamp } from './fields.ts';

const guestDataSchema = z
  .object({
    email: emailSchema.meta({
      description: "The guest's e-mail address; stored in lower case.",
      examples: ['gus@example.com'],
    }),
    name: boundedText(200)
      .trim()
      .min(1)
      .meta({ description: "The guest's full name.", examples: ['Gus Guest'] }),
    phone: boundedText(32).optional().describe("The guest's phone number, in any notation."),
  })
  .meta({ id: 'GuestData', description: 'The guest of a request without a session.' });

export const guestDataField = guestDataSchema
  .optional()
  .describe('The guest. Required without a session and without a guest token.');

/** The guest token in the response to a guest's create request. */
export const guestTokenView = {
  guest_id: z
    .string()
    .optional()
    .describe('The guest, `gst_…`, to name in `X-Act-For: guest:<guest_id>`. Only a service key sees it.'),
  guest_token: z
    .string()
    .optional()
    .describe(
      "For a guest: the token that opens this guest's records later, or the new record alone if the guest continued without a token. Absent from a repeat from another network. Keep it like a password.",
    ),
  guest_token_expires_at: timestamp
    .optional()
    .describe('When the token expires; 7 days from now unless the operator sets another lifetime.'),
};

export const LONGEST_GUEST_TOKEN = 2_048;

/** The guest token as a query parameter, for routes that document it. */
export const tokenParameter = boundedText(LONGEST_GUEST_TOKEN)
  .optional()
  .describe('A guest token, in place of the header `X-Guest-Token`. Prefer the header, because URLs end up in logs.');
