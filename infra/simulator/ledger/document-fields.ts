import * as z from 'zod';
import { PROVIDER_SLOTS } from '../../../shared/core/settings.ts';

/** The common fields of all ledger documents. */
export const common = {
  id: z.string(),
  provider: z.enum(PROVIDER_SLOTS),
  metadata: z.record(z.string(), z.string()),
  wire: z.record(z.string(), z.unknown()),
  createdAt: z.int(),
};
