import { answerOf, api } from './client.ts';
import type { SearchHit } from './types.ts';

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** True if more records match than are listed. */
  readonly isTruncated: boolean;
}

/** Searches the records of every kind, which needs the scope payments:read. */
export const searchEverything = async (q: string): Promise<SearchResult> => {
  const { data } = await answerOf(api.GET('/admin/search', { params: { query: { q } } }));
  return { hits: data.data, isTruncated: data.meta.truncated };
};
