/** @module What a webhook sends of an event. */

import * as z from 'zod';
import { PROVIDER_SLOTS } from '../core/settings.ts';

/** The body, or the stored event that holds it. */
export const contentSchema = z.union([
  z.object({ body: z.string() }),
  z.object({ providerId: z.enum(PROVIDER_SLOTS), eventId: z.string() }),
]);
export type Content = z.infer<typeof contentSchema>;
