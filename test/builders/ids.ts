import { linkTokens } from '../../shared/access/link-token.ts';
import { keyedIds } from '../../shared/core/keyed-ids.ts';

/** The keyed ids of a deployment of a test. */
export const testIds = keyedIds(async () => 'the id secret of the unit tests');

/** No hosted page can be opened. */
export const noLinks = linkTokens({ secrets: async () => [], now: () => 0 });
