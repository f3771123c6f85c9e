import type { Caller } from '../access/caller.ts';
import { ownerFieldsOf } from '../access/owner.ts';
import { DomainError } from '../core/errors.ts';
import { derivedId } from '../core/ids.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { iso } from '../core/time.ts';
import type { PaymentProvider } from '../providers/port/provider.ts';
import type { ProviderRecordDeps } from '../providers/registry/deps.ts';
import type { Owner } from '../table/keys.ts';
import { recordItem } from '../table/record-store.ts';
import { type CustomerClaim, type CustomerDraft, claimCustomer, dropClaim, releaseClaim } from './claim.ts';
import { createProviderCustomer, customerAlias } from './create.ts';
import { customerShape } from './customer.ts';
import { customerPointerKey, type OwnerCustomer, ownerCustomerOf, pointerItem } from './owner-customer.ts';

interface Wanted {
  readonly slot: ProviderSlot;
  readonly owner: Owner;
  readonly caller: Caller;
  /** The record that the customer is made for. */
  readonly forId: string;
  readonly known: OwnerCustomer | undefined;
}

/** About five seconds, which is longer than a provider usually takes to make a customer. */
const LOOKS = 25;
const LOOK_AGAIN_MS = 200;

/**
 * The owner's customer at a provider; made where the provider needs one and there is none. Requests at the same time, and a
 * retry after a crash, make one customer: the claim is written before the provider is called.
 * @throws DomainError of the provider's answer, or VERSION_CONFLICT where another request is still making the customer.
 */
export const ensureCustomer = async (deps: ProviderRecordDeps, wanted: Wanted): Promise<OwnerCustomer> => {
  if (wanted.known) return wanted.known;
  const provider = await deps.providers.having(wanted.slot, 'customers');
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const claimed = await claimCustomer(deps, wanted, draftFor(deps, wanted));
    if (claimed.kind === 'customer') return claimed.customer;
    const made = claimed.kind === 'mine' && (await make(deps, provider, wanted, claimed.claim));
    if (made) return made;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new DomainError('VERSION_CONFLICT', { retryAfterSeconds: 5 });
};

/** A guest's repeat under the same key comes as another guest, who finds no claim: the id follows from the record. */
const draftFor = (deps: ProviderRecordDeps, { slot, owner, caller, forId }: Wanted): CustomerDraft => {
  const at = iso(deps.now());
  return {
    id: owner.kind === 'guest' ? derivedId('customer', forId) : deps.newId('customer'),
    version: 1,
    createdAt: at,
    updatedAt: at,
    providerId: slot,
    email: caller.kind === 'anonymous' ? undefined : caller.email,
    name: caller.kind === 'guest' ? caller.name : undefined,
    phone: caller.kind === 'guest' ? caller.phone : undefined,
    ...ownerFieldsOf(owner, caller),
  };
};

/** @returns undefined where the claim passed to another request meanwhile. */
const make = async (
  deps: ProviderRecordDeps,
  provider: PaymentProvider,
  wanted: Wanted,
  claim: CustomerClaim,
): Promise<OwnerCustomer | undefined> => {
  const customer = await createProviderCustomer(provider, claim.draft, claim.attempt).catch(async (error: unknown) => {
    await settleFailure(deps, wanted, claim, error);
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
  // An earlier try has stored the record: of another guest, where a guest comes again under the same key.
  await deps.table.put(put, stillClaimed);
  return ownerCustomerOf(await deps.table.get(customerPointerKey(wanted.owner, wanted.slot)));
};

/** A refusal ends the claim. Any other failure leaves it, so that the next try makes the same customer. */
const settleFailure = async (
  deps: ProviderRecordDeps,
  wanted: Wanted,
  claim: CustomerClaim,
  error: unknown,
): Promise<void> => {
  const code = error instanceof DomainError ? error.code : undefined;
  if (code === 'VALIDATION_ERROR' || code === 'PAYMENT_DECLINED') return dropClaim(deps, wanted, claim);
  const attempt = code === 'PROVIDER_ERROR' ? claim.attempt + 1 : claim.attempt;
  return releaseClaim(deps, wanted, { claim, attempt });
};
