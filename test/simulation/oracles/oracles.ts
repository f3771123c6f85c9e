import { oneChargePerPayment, recordFollowsProvider } from './money.ts';
import type { Oracle } from './oracle.ts';
import { acknowledgedIntentsAreStored } from './records.ts';

/** What holds at the end of every run. */
export const ORACLES: readonly Oracle[] = [oneChargePerPayment, recordFollowsProvider, acknowledgedIntentsAreStored];
