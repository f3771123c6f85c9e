import * as z from 'zod';
import type { RecordKind } from '../access/record-kind.ts';
import { epochSeconds, instant } from '../core/time.ts';
import { PROVIDER_SLOTS } from '../settings.ts';
import { type Owner, recordKey } from '../table/keys.ts';
import { parseRecord, type RecordShape, storedRecordFields } from '../table/record-store.ts';

/**
 * A customer: a payer as one provider knows it. Always holds: it exists at the provider under providerCustomerId, and
 * belongs to a user, an organization or a guest.
 */
const optional = z.string().optional();

/** Epoch second as of which the provider's word, or ours to it, is known; an event from before it is stale. */
export const knownAtSchema = z.int().optional();

/** Were these facts said by the provider before what is known of it already? */
export const isStale = (
  record: { readonly createdAt: string; readonly knownAt?: number | undefined },
  event: { readonly createdAt: number },
): boolean => event.createdAt < (record.knownAt ?? epochSeconds(instant(record.createdAt)));

export const customerSchema = z.object({
  ...storedRecordFields,
  providerId: z.enum(PROVIDER_SLOTS),
  providerCustomerId: z.string(),
  email: optional,
  name: optional,
  firstName: optional,
  lastName: optional,
  phone: optional,
  userId: optional,
  guestId: optional,
  guestEmail: optional,
  organizationId: optional,
  projectId: optional,
  metadata: z.record(z.string(), z.json()).optional(),
  knownAt: knownAtSchema,
});
export type Customer = z.infer<typeof customerSchema>;

export const ownerOfRecord = (record: {
  readonly organizationId?: string | undefined;
  readonly userId?: string | undefined;
  readonly guestId?: string | undefined;
  readonly guestEmail?: string | undefined;
}): Owner | undefined => {
  if (record.organizationId) return { kind: 'organization', organizationId: record.organizationId };
  if (record.userId) return { kind: 'user', userId: record.userId };
  if (record.guestId && record.guestEmail) {
    return { kind: 'guest', guestId: record.guestId, email: record.guestEmail };
  }
  return undefined;
};

export const customerShape: RecordShape<Customer> = {
  kind: 'CUS',
  schema: customerSchema,
  ownerOf: ownerOfRecord,
  projectOf: ({ projectId }) => projectId,
  listFields: ({ providerId }) => ({ p: providerId }),
};

export const customerRecord: RecordKind<Customer> = {
  resource: 'customer',
  key: (id) => recordKey('CUS', id),
  parse: (item) => parseRecord(customerShape, item),
  ownedBy: ({ userId, organizationId, guestId, guestEmail }) => ({ userId, organizationId, guestId, guestEmail }),
  rule: 'owned',
};
