import * as z from 'zod';
import type { ProviderSlot } from '../core/settings.ts';
import { DAY, epochSeconds, instant, iso, type Now, SECOND } from '../core/time.ts';
import type { Owner } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import { customerSchema } from './customer.ts';
import { customerPointerKey, type OwnerCustomer, ownerCustomerOf } from './owner-customer.ts';

/**
 * The claim to make an owner's first customer at a provider: it stands where the owner's pointer will be. Always holds: one
 * request at a time calls the provider for a claim, and each sends the id, fields and key of the claim, so the provider
 * makes one customer. A claim ends with the day for which providers remember a key.
 */
const claimSchema = z.object({
  draft: customerSchema.omit({ providerCustomerId: true }),
  /** Counts the keys that the provider has answered with a server error: it repeats that answer while it knows the key. */
  attempt: z.int(),
  /** Until then the request that holds the claim may be calling the provider. */
  busyUntil: z.string(),
});
export type CustomerClaim = z.infer<typeof claimSchema>;
export type CustomerDraft = CustomerClaim['draft'];

/** Longer than a call to a provider may take. */
const LEASE_MS = 20 * SECOND;

interface ClaimDeps {
  readonly table: Table;
  readonly now: Now;
}

interface Place {
  readonly owner: Owner;
  readonly slot: ProviderSlot;
}

export type Claimed =
  | { readonly kind: 'customer'; readonly customer: OwnerCustomer }
  | { readonly kind: 'mine'; readonly claim: CustomerClaim }
  /** Another request makes the customer right now. */
  | { readonly kind: 'busy' };

/** Claims the owner's customer for `draft`, or takes over a claim whose request is over. */
export const claimCustomer = async (deps: ClaimDeps, place: Place, draft: CustomerDraft): Promise<Claimed> => {
  const busyUntil = iso(deps.now() + LEASE_MS);
  const first = { draft, attempt: 0, busyUntil };
  const written = await deps.table.put(claimItem(place, first), [{ absent: true }]);
  if (written.ok) return { kind: 'mine', claim: first };
  const customer = ownerCustomerOf(written.found);
  if (customer) return { kind: 'customer', customer };
  const found = claimSchema.parse(written.found?.['claim']);
  if (instant(found.busyUntil) > deps.now()) return { kind: 'busy' };
  const claim = { ...found, busyUntil };
  return (await replaceClaim(deps, place, found, claim)) ? { kind: 'mine', claim } : { kind: 'busy' };
};

/** The provider refused the draft: another caller's may be better. */
export const dropClaim = async ({ table }: ClaimDeps, place: Place, claim: CustomerClaim): Promise<void> => {
  await table.remove(keyOf(place), unchanged(claim));
};

/** Lets the next request go on with the claim at once. @param attempt another one than the claim's means another key */
export const releaseClaim = async (
  deps: ClaimDeps,
  place: Place,
  { claim, attempt }: { readonly claim: CustomerClaim; readonly attempt: number },
): Promise<void> => {
  await replaceClaim(deps, place, claim, { ...claim, attempt, busyUntil: iso(deps.now()) });
};

const replaceClaim = async (
  { table }: ClaimDeps,
  place: Place,
  was: CustomerClaim,
  next: CustomerClaim,
): Promise<boolean> => (await table.put(claimItem(place, next), unchanged(was))).ok;

const unchanged = ({ draft, busyUntil }: CustomerClaim) => [
  { equals: ['customerId', draft.id] } as const,
  { equals: ['claim.busyUntil', busyUntil] } as const,
];

const keyOf = ({ owner, slot }: Place) => customerPointerKey(owner, slot);

const claimItem = (place: Place, claim: CustomerClaim): Item => ({
  ...keyOf(place),
  customerId: claim.draft.id,
  claim,
  ttl: epochSeconds(instant(claim.draft.createdAt) + DAY),
});
