import type { Outcome } from '../core/outcome.ts';

/** What a method answers that the provider's `can` denies: nobody asks it, and nothing is done. */
export const notOffered = async (): Promise<Extract<Outcome<never>, { kind: 'refused' }>> => ({
  kind: 'refused',
  reason: 'not_offered',
});
