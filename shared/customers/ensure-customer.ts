/** @module Finds or creates an owner's customer at a provider, exactly once because a claim precedes the call. */

import * as z from 'zod';
import type { Caller } from '../access/caller.ts';
import { ownerFieldsOf } from '../access/record-kind.ts';
import { DomainError } from '../core/errors.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { DAY_MS, epochSeconds, instant, iso, SECOND_MS } from '../core/time.ts';
import type { Owner } from '../platform/keys.ts';
import type { Item, StoreDeps } from '../platform/table.ts';
import { firstVersion, recordItem } from '../platform/versioned-record.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { ProviderRecordDeps } from '../providers/provider-deps.ts';
import { createProviderCustomer, customerAlias } from './create-customer.ts';
import {
  customerPointerKey,
  customerSchema,
  customerShape,
  type OwnerCustomer,
  ownerCustomerOf,
  pointerItem,
} from './customer.ts';

interface CustomerRequest {
  readonly slot: ProviderSlot;
  readonly owner: Owner;
  readonly caller: Caller;
  readonly forId: string;
  readonly known: OwnerCustomer | undefined;
}

/** Five seconds in all, longer than a provider usually takes to create a customer. */
const TRIES = 25;
const WAIT_MS = 200;

/** @throws DomainError of the provider's outcome, or VERSION_CONFLICT while another request creates the customer. */
export const ensureCustomer = async (deps: ProviderRecordDeps, wanted: CustomerRequest): Promise<OwnerCustomer> => {
  if (wanted.known) return wanted.known;
  const provider = await deps.providers.require(wanted.slot, 'customers');
  for (let tries = 0; tries < TRIES; tries += 1) {
    const claimed = await claimCustomer(deps, wanted, await draftFor(deps, wanted));
    if (claimed.kind === 'customer') return claimed.customer;
    const created =
      claimed.kind === 'claimed' && (await createClaimed({ deps, wanted, claim: claimed.claim }, provider));
    if (created) return created;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new DomainError('VERSION_CONFLICT', { retryAfterSeconds: 5 });
};

/** A guest who repeats a request has another guest_id and finds no claim, so the id is derived from the record's id. */
const draftFor = async (
  deps: ProviderRecordDeps,
  { slot, owner, caller, forId }: CustomerRequest,
): Promise<CustomerDraft> => {
  const at = iso(deps.now());
  return {
    id: owner.kind === 'guest' ? await deps.ids.idOf('customer', forId) : deps.newId('customer'),
    ...firstVersion(at),
    providerId: slot,
    email: 'email' in caller ? caller.email : undefined,
    name: caller.kind === 'guest' ? caller.name : undefined,
    ...(caller.kind === 'guest' && caller.name && { isNameGiven: true }),
    phone: caller.kind === 'guest' ? caller.phone : undefined,
    ...ownerFieldsOf(owner, caller),
  };
};

interface HeldClaim {
  readonly deps: ProviderRecordDeps;
  readonly wanted: CustomerRequest;
  readonly claim: CustomerClaim;
}

/** @returns undefined if another request has taken over the claim. */
const createClaimed = async (held: HeldClaim, provider: PaymentProvider): Promise<OwnerCustomer | undefined> => {
  const { deps, wanted, claim } = held;
  const customer = await createProviderCustomer(provider, claim.draft, claim.attempt).catch(async (error: unknown) => {
    await endClaim(held, error);
    throw error;
  });
  const put = pointerItem(wanted.owner, customer);
  const stillClaimed = [{ equals: ['customerId', customer.id] }] as const;
  const stored = await deps.table.transact([
    { put: recordItem(customerShape, customer), if: [{ absent: true }] },
    customerAlias(customer),
    { put, if: stillClaimed },
  ]);
  if (stored.ok) return { customerId: customer.id, providerCustomerId: customer.providerCustomerId };
  // An earlier try has stored the record, for another guest_id if a guest repeats the request.
  await deps.table.put(put, stillClaimed);
  return ownerCustomerOf(await deps.table.get(customerPointerKey(wanted.owner, wanted.slot)));
};

/** A refusal drops the claim. Any other failure keeps it, so that the next try creates the same customer. */
const endClaim = async ({ deps, wanted, claim }: HeldClaim, error: unknown): Promise<void> => {
  const code = error instanceof DomainError ? error.code : undefined;
  if (code === 'VALIDATION_ERROR' || code === 'PAYMENT_DECLINED') return dropCustomerClaim(deps, wanted, claim);
  const attempt = code === 'PROVIDER_ERROR' ? claim.attempt + 1 : claim.attempt;
  return releaseCustomerClaim(deps, wanted, { claim, attempt });
};

/**
 * The claim to create an owner's first customer at a provider. Its item has the key of the owner's pointer. Only one
 * request at a time calls the provider for a claim. Every request sends the id, fields and key of the claim, so the
 * provider creates one customer. A claim expires after a day, when providers may forget the key.
 */
const claimSchema = z.object({
  draft: customerSchema.omit({ providerCustomerId: true }),
  /** Counts server errors. Each needs a new idempotency key, because a provider repeats its response to a known key. */
  attempt: z.int(),
  /** Until this time, the request that holds the claim may be calling the provider. */
  busyUntil: z.string(),
});
type CustomerClaim = z.infer<typeof claimSchema>;
type CustomerDraft = CustomerClaim['draft'];

/** Longer than the timeout of a call to a provider. */
const LEASE_MS = 20 * SECOND_MS;

interface CustomerSlot {
  readonly owner: Owner;
  readonly slot: ProviderSlot;
}

type ClaimResult =
  | { readonly kind: 'customer'; readonly customer: OwnerCustomer }
  | { readonly kind: 'claimed'; readonly claim: CustomerClaim }
  | { readonly kind: 'busy' };

/** Claims the owner's customer for `draft`, or takes over a claim whose request has ended. */
const claimCustomer = async (deps: StoreDeps, slot: CustomerSlot, draft: CustomerDraft): Promise<ClaimResult> => {
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
const dropCustomerClaim = async ({ table }: StoreDeps, slot: CustomerSlot, claim: CustomerClaim): Promise<void> => {
  await table.expire(keyOf(slot), ifUnchanged(claim));
};

/** Lets the next request continue the claim immediately. @param attempt each number makes another idempotency key */
const releaseCustomerClaim = async (
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
  ttl: epochSeconds(instant(claim.draft.createdAt) + DAY_MS),
});
