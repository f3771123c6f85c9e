/** @module Finds or creates an owner's customer at a provider. A claim before the call prevents a second creation. */

import * as z from 'zod';
import type { Caller } from '../access/caller.ts';
import { ownerFieldsOf } from '../access/record-kind.ts';
import { runCreation } from '../calls/run-creation.ts';
import { DomainError } from '../core/errors.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { DAY_MS, epochSeconds, instant, iso, SECOND_MS } from '../core/time.ts';
import type { Key, Owner } from '../platform/keys.ts';
import type { Item, StoreDeps } from '../platform/table.ts';
import { firstVersion, recordItem } from '../platform/versioned-record.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { ProviderRecordDeps } from '../providers/provider-deps.ts';
import { failedError, unansweredError } from '../providers/unwrap.ts';
import { customerAlias, customerRefusal, sendCustomer } from './create-customer.ts';
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

/** The number of tries, which last about five seconds. A provider usually takes less time to create a customer. */
const TRIES = 25;
const WAIT_MS = 200;

/** @throws DomainError for the provider's failure, or VERSION_CONFLICT while another request creates the customer */
export const ensureCustomer = async (deps: ProviderRecordDeps, wanted: CustomerRequest): Promise<OwnerCustomer> => {
  if (wanted.known) return wanted.known;
  const provider = await deps.providers.require(wanted.slot, 'customers');
  const key = customerPointerKey(wanted.owner, wanted.slot);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const claimed = await claimCustomer(deps, key, await draftFor(deps, wanted));
    if (claimed.kind === 'customer') return claimed.customer;
    const created = claimed.kind === 'claimed' && (await createClaimed(deps, wanted, { ...claimed, provider }));
    if (created) return created;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new DomainError('VERSION_CONFLICT', { retryAfterSeconds: 5 });
};

/**
 * Drafts the customer to claim. A guest who repeats a request has another guest_id and finds no claim. A guest's
 * customer id is therefore derived from the id of the record that needs the customer.
 */
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

/** @returns undefined if another request has taken over the claim */
const createClaimed = (
  deps: ProviderRecordDeps,
  { owner, slot }: CustomerRequest,
  { claim, provider }: { readonly claim: CustomerClaim; readonly provider: PaymentProvider },
): Promise<OwnerCustomer | undefined> => {
  const { draft, attempt } = claim;
  const key = customerPointerKey(owner, slot);
  /** Frees the claim, so the next request can create the same customer immediately. */
  const release = (nextAttempt: number) =>
    deps.table.put(claimItem(key, { draft, attempt: nextAttempt, busyUntil: iso(deps.now()) }), ifUnchanged(claim));
  return runCreation({
    send: async () => {
      try {
        return await sendCustomer(provider, draft, attempt);
      } catch (error) {
        await release(attempt);
        throw error;
      }
    },
    publish: async ({ customerId: providerCustomerId }) => {
      const customer = { ...draft, providerCustomerId };
      const put = pointerItem(owner, customer);
      const stillClaimed = [{ equals: ['customerId', customer.id] }] as const;
      const stored = await deps.table.transact([
        { put: recordItem(customerShape, customer), if: [{ absent: true }] },
        customerAlias(customer),
        { put, if: stillClaimed },
      ]);
      if (stored.ok) return { customerId: customer.id, providerCustomerId };
      // The record exists already, such as from an earlier try of a guest under another guest_id.
      await deps.table.put(put, stillClaimed);
      return ownerCustomerOf(await deps.table.get(key));
    },
    /** Removes the claim with its refused draft; the next caller's draft may be valid. */
    remove: async (reason) => {
      await deps.table.expire(key, ifUnchanged(claim));
      throw failedError(reason, customerRefusal);
    },
    keep: async (reason) => {
      const isServerError = reason.kind === 'unknown' && reason.reason === 'error';
      await release(isServerError ? attempt + 1 : attempt);
      throw unansweredError(reason);
    },
  });
};

/**
 * The claim to create an owner's first customer at a provider. It is stored at the key of the owner's pointer. Only one
 * request at a time calls the provider for a claim. Every request sends the claim's id, fields and key, so only one
 * customer is created. A claim expires after a day, when providers may forget the key.
 */
const claimSchema = z.lazy(() =>
  z.object({
    draft: customerSchema.unwrap().omit({ providerCustomerId: true }),
    /** Number of server errors. Each needs a new idempotency key, because a used key replays the error. */
    attempt: z.int(),
    /** The request with the claim may be calling the provider until this time. */
    busyUntil: z.string(),
  }),
);
type CustomerClaim = z.infer<typeof claimSchema>;
type CustomerDraft = CustomerClaim['draft'];

/** The time for which a request holds a claim. It exceeds the time-out of a provider call. */
const LEASE_MS = 20 * SECOND_MS;

type ClaimResult =
  | { readonly kind: 'customer'; readonly customer: OwnerCustomer }
  | { readonly kind: 'claimed'; readonly claim: CustomerClaim }
  | { readonly kind: 'busy' };

/** Claims the owner's customer for `draft`, or takes over a claim whose request has ended. */
const claimCustomer = async (deps: StoreDeps, key: Key, draft: CustomerDraft): Promise<ClaimResult> => {
  const busyUntil = iso(deps.now() + LEASE_MS);
  const first = { draft, attempt: 0, busyUntil };
  const written = await deps.table.put(claimItem(key, first), [{ absent: true }]);
  if (written.ok) return { kind: 'claimed', claim: first };
  const customer = ownerCustomerOf(written.found);
  if (customer) return { kind: 'customer', customer };
  const found = claimSchema.parse(written.found?.['claim']);
  if (instant(found.busyUntil) > deps.now()) return { kind: 'busy' };
  const claim = { ...found, busyUntil };
  const taken = await deps.table.put(claimItem(key, claim), ifUnchanged(found));
  return taken.ok ? { kind: 'claimed', claim } : { kind: 'busy' };
};

const ifUnchanged = ({ draft, busyUntil }: CustomerClaim) => [
  { equals: ['customerId', draft.id] } as const,
  { equals: ['claim.busyUntil', busyUntil] } as const,
];

const claimItem = (key: Key, claim: CustomerClaim): Item => ({
  ...key,
  customerId: claim.draft.id,
  claim,
  ttl: epochSeconds(instant(claim.draft.createdAt) + DAY_MS),
});
