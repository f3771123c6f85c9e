import * as z from 'zod';
import { PROVIDER_SLOTS } from '../../../shared/core/settings.ts';

/** Fields of every document of the ledger. */
export const common = {
  id: z.string(),
  provider: z.enum(PROVIDER_SLOTS),
  metadata: z.record(z.string(), z.string()),
  wire: z.record(z.string(), z.unknown()),
  createdAt: z.int(),
};
