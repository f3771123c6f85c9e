/** @module The content of a webhook. */

import * as z from 'zod';
import { PROVIDER_SLOTS } from '../core/settings.ts';

/** The body, or the ids of the stored event with the body. */
export const contentSchema = z.union([
  z.object({ body: z.string() }),
  z.object({ providerId: z.enum(PROVIDER_SLOTS), eventId: z.string() }),
]);
export type Content = z.infer<typeof contentSchema>;
