import * as z from 'zod';
import { epochSeconds, instant } from '../../core/time.ts';

/** Epoch second as of which the provider's word, or ours to it, is known; an event from before it is stale. */
export const knownAtSchema = z.int().optional();

/** Were these facts said by the provider before what is known of it already? */
export const isStale = (
  record: { readonly createdAt: string; readonly knownAt?: number | undefined },
  event: { readonly createdAt: number },
): boolean => event.createdAt < (record.knownAt ?? epochSeconds(instant(record.createdAt)));
