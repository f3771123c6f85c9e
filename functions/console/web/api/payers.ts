/** @module The names of the payer and organization of a record, which the API shows only to the merchant. */

import { answerOf, api } from './client.ts';
import { may } from './session.ts';
import type { Payers, Scope } from './types.ts';

/** The fields that identify the payer of a record. */
export interface Owned extends Payers {
  readonly guest_email?: string | null;
  readonly user_id?: string | null;
  readonly customer_id?: string | null;
  readonly organization_id?: string | null;
}

/** The e-mail address of a payment's or subscription's payer; undefined if the caller may not see it. */
export const payersEmail = ({ guest_email: guest, user_email: user }: Owned): string | undefined =>
  guest || user || undefined;

/**
 * Reads the payer and organization of one record from the list of all records, because only lists contain names.
 * Without names, the console shows ids.
 */
const readPayers = async (
  scope: Scope,
  ask: () => Promise<{ readonly data: { readonly data: readonly Payers[] } }>,
): Promise<Payers> => {
  if (!may(scope)) return {};
  const found = await ask().catch(() => undefined);
  const [record] = found?.data.data ?? [];
  return record ? { user_email: record.user_email, organization_name: record.organization_name } : {};
};

export const readPayersOfPayment = (id: string): Promise<Payers> =>
  readPayers('payments:read', () => answerOf(api.GET('/admin/payments', { params: { query: { search: id } } })));

export const readPayersOfSubscription = (id: string): Promise<Payers> =>
  readPayers('subscriptions:read', () =>
    answerOf(api.GET('/admin/subscriptions', { params: { query: { search: id } } })),
  );
