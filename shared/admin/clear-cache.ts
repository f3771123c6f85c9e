import * as z from 'zod';
import { CACHE_TYPES, type CacheEpoch } from '../access/cache-epoch.ts';
import { DomainError } from '../core/errors.ts';
import { boundedText } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';

export const clearCacheBody = z
  .object({
    cache_type: boundedText(64).describe('`organization_membership`, `session` or `all`.'),
  })
  .meta({ id: 'ClearCache', description: 'The cache that every instance empties.' });
type ClearCacheBody = z.output<typeof clearCacheBody>;

/** Clears a cache in every running instance, within seconds of the instance's next request. */
export const clearCache = async (
  { epoch }: { readonly epoch: Pick<CacheEpoch, 'raise'> },
  { body }: ApiRequest<unknown, unknown, ClearCacheBody>,
): Promise<Reply> => {
  const { cache_type: asked } = body;
  const types = CACHE_TYPES.filter((type) => asked === type || asked === 'all');
  if (types.length === 0) {
    throw new DomainError('UNKNOWN_CACHE_TYPE', { details: { cache_types: [...CACHE_TYPES, 'all'] } });
  }
  await epoch.raise(types);
  return { data: { cache_type: asked, cleared: true }, message: 'The cache was cleared' };
};
