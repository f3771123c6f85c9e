/** @module The names behind the ids of a record, which the API tells to platform admins only. */

import { searchEverything } from './search.ts';
import { isAdmin } from './session.ts';
import type { Payers } from './types.ts';

/** The fields of a record that say who pays. */
export interface Owned extends Payers {
  readonly guest_email?: string | null;
  readonly user_id?: string | null;
  readonly customer_id?: string | null;
  readonly organization_id?: string | null;
}

/** The payer of a payment or subscription by its e-mail address; undefined if the caller may not see it. */
export const payersEmail = ({ guest_email: guest, user_email: user }: Owned): string | undefined =>
  guest || user || undefined;

/**
 * Reads the payer and the organization of one payment or subscription. Only lists and the search name them, so the
 * search for the id reads them. Without them the record is shown with its ids.
 */
export const readPayers = async (id: string): Promise<Payers> => {
  if (!isAdmin.value) return {};
  const found = await searchEverything(id).catch(() => undefined);
  const hit = found?.hits.find((one) => one.id === id);
  return hit ? { user_email: hit.user_email, organization_name: hit.organization_name } : {};
};
