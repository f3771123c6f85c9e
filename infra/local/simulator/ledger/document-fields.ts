import * as z from 'zod';
import { PROVIDER_SLOTS } from '../../../../shared/core/settings.ts';

/** What every document of the ledger has. */
export const common = {
  id: z.string(),
  provider: z.enum(PROVIDER_SLOTS),
  metadata: z.record(z.string(), z.string()),
  wire: z.record(z.string(), z.unknown()),
  createdAt: z.int(),
};
