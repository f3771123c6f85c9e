import * as z from 'zod';
import type { ProviderSlot } from '../core/settings.ts';
import { DAY, epochSeconds, instant, iso, SECOND } from '../core/time.ts';
import type { Owner } from '../table/keys.ts';
import type { Item, StoreDeps } from '../table/table.ts';
import { customerSchema } from './customer.ts';
import { customerPointerKey, type OwnerCustomer, ownerCustomerOf } from './owner-customer.ts';

/**
 * The claim to create an owner's first customer at a provider. Its item has the key of the owner's pointer. Always holds:
 * only one request at a time calls the provider for a claim, and every request sends the id, fields and key of the claim,
 * so that the provider creates one customer. A claim expires after a day, when providers may forget the key.
 */
const claimSchema = z.object({
  draft: customerSchema.omit({ providerCustomerId: true }),
  /** Counts server errors of the provider. Each needs a new key: a provider repeats its answer to a key that it knows. */
  attempt: z.int(),
  /** Until this time, the request that holds the claim may be calling the provider. */
  busyUntil: z.string(),
});
export type CustomerClaim = z.infer<typeof claimSchema>;
export type CustomerDraft = CustomerClaim['draft'];

/** Longer than the time-out of a call to a provider. */
const LEASE_MS = 20 * SECOND;

interface CustomerSlot {
  readonly owner: Owner;
  readonly slot: ProviderSlot;
}

export type ClaimResult =
  | { readonly kind: 'customer'; readonly customer: OwnerCustomer }
  | { readonly kind: 'claimed'; readonly claim: CustomerClaim }
  /** Another request is creating the customer. */
  | { readonly kind: 'busy' };

/** Claims the owner's customer for `draft`, or takes over a claim whose request has ended. */
export const claimCustomer = async (
  deps: StoreDeps,
  slot: CustomerSlot,
  draft: CustomerDraft,
): Promise<ClaimResult> => {
  const busyUntil = iso(deps.now() + LEASE_MS);
  const first = { draft, attempt: 0, busyUntil };
  const written = await deps.table.put(claimItem(slot, first), [{ absent: true }]);
  if (written.ok) return { kind: 'claimed', claim: first };
  const customer = ownerCustomerOf(written.found);
  if (customer) return { kind: 'customer', customer };
  const found = claimSchema.parse(written.found?.['claim']);
  if (instant(found.busyUntil) > deps.now()) return { kind: 'busy' };
  const claim = { ...found, busyUntil };
  return (await replaceClaim(deps, slot, { was: found, next: claim })) ? { kind: 'claimed', claim } : { kind: 'busy' };
};

/** Removes a claim whose draft the provider refused; another caller's draft may be valid. */
export const dropCustomerClaim = async (
  { table }: StoreDeps,
  slot: CustomerSlot,
  claim: CustomerClaim,
): Promise<void> => {
  await table.expire(keyOf(slot), ifUnchanged(claim));
};

/** Lets the next request continue the claim at once. @param attempt a new number makes a new key */
export const releaseCustomerClaim = async (
  deps: StoreDeps,
  slot: CustomerSlot,
  { claim, attempt }: { readonly claim: CustomerClaim; readonly attempt: number },
): Promise<void> => {
  await replaceClaim(deps, slot, { was: claim, next: { ...claim, attempt, busyUntil: iso(deps.now()) } });
};

const replaceClaim = async (
  { table }: StoreDeps,
  slot: CustomerSlot,
  { was, next }: { readonly was: CustomerClaim; readonly next: CustomerClaim },
): Promise<boolean> => (await table.put(claimItem(slot, next), ifUnchanged(was))).ok;

const ifUnchanged = ({ draft, busyUntil }: CustomerClaim) => [
  { equals: ['customerId', draft.id] } as const,
  { equals: ['claim.busyUntil', busyUntil] } as const,
];

const keyOf = ({ owner, slot }: CustomerSlot) => customerPointerKey(owner, slot);

const claimItem = (slot: CustomerSlot, claim: CustomerClaim): Item => ({
  ...keyOf(slot),
  customerId: claim.draft.id,
  claim,
  ttl: epochSeconds(instant(claim.draft.createdAt) + DAY),
});
