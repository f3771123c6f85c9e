import { linkTokens } from '../../shared/access/link-token.ts';
import { keyedIds } from '../../shared/core/keyed-ids.ts';

/** The keyed ids of a test deployment. */
export const testIds = keyedIds(async () => 'the id secret of the unit tests');

/** Link tokens with hosted pages turned off. */
export const noLinks = linkTokens({ secrets: async () => [], now: () => 0 });
