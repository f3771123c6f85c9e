import { answerOf, api, nextCursor } from './client.ts';
import { may } from './session.ts';
import type { Customer, SearchHit } from './types.ts';

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** True if more records match than the list shows. */
  readonly isTruncated: boolean;
}

/**
 * Searches records of every kind, with the scope payments:read. The API matches whole values. If it finds nothing, the
 * console searches customers by the first letters of their name or e-mail address.
 */
export const searchEverything = async (q: string): Promise<SearchResult> => {
  const { data } = await answerOf(api.GET('/admin/search', { params: { query: { q } } }));
  if (data.data.length === 0 && may('customers:read')) return searchCustomers(q);
  return { hits: data.data, isTruncated: data.meta.truncated };
};

const PER_PAGE = 100;
const MOST_PAGES = 3;
/**
 * A prefix search covers this many of the newest customers. The console filters them itself, because no route searches
 * by prefix.
 */
export const NEWEST_CUSTOMERS = PER_PAGE * MOST_PAGES;

const searchCustomers = async (q: string): Promise<SearchResult> => {
  const found = new Map<string, SearchHit>();
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES && (pages === 0 || cursor !== undefined); pages += 1) {
    const query = { limit: PER_PAGE, cursor };
    const { data } = await answerOf(api.GET('/admin/customers', { params: { query } }));
    for (const customer of data.data) if (isNamed(customer, q)) found.set(customer.id, hitOf(customer));
    cursor = nextCursor(data.meta);
  }
  return { hits: [...found.values()], isTruncated: false };
};

/** True if the e-mail address, the name or a word of the name starts with the text, in any case. */
const isNamed = ({ name, email }: Customer, q: string): boolean =>
  [email ?? '', name ?? '', ...(name ?? '').split(' ')].some((word) => word.toLowerCase().startsWith(q.toLowerCase()));

const hitOf = ({ id, name, email, created_at }: Customer): SearchHit => ({
  kind: 'customer',
  id,
  label: name ?? email ?? id,
  status: null,
  created_at,
  amount_cents: null,
  currency: null,
  payment_id: null,
  user_email: email,
  organization_name: null,
});
