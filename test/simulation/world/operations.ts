import type { Operation } from './operation.ts';
import { confirmIntent, createIntent, payInBrowser } from './operations/payments.ts';

/** What happens in a run. */
export const OPERATIONS: readonly Operation[] = [createIntent, confirmIntent, payInBrowser];
