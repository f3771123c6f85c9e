/** @module Changes a payment method's alias, its billing address, and whether it is the default. */

import { requireSameOwner } from '../access/may-charge.ts';
import { fingerprint } from '../core/ids.ts';
import { type Address, addressRecord } from '../customers/address.ts';
import type { BillingAddressBody } from '../customers/address-requests.ts';
import { canonicalJson } from '../http/idempotency.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { StoreDeps } from '../platform/table.ts';
import { clearDefault, setDefault } from '../platform/table-defaults.ts';
import type { Providers } from '../providers/registry.ts';
import type { UpdateMethodBody } from './method-requests.ts';
import { requireSetUp } from './method-setup.ts';
import { commitMethod } from './method-store.ts';
import {
  isDefaultMethod,
  methodDefaultSlotOf,
  methodView,
  methodWithSecret,
  type PaymentMethod,
} from './payment-method.ts';

type Stored = ApiRequest<unknown, unknown, unknown, PaymentMethod>;

/** The view of the method, as a GET returns it. */
export const methodAsRead = async (deps: StoreDeps, { record }: Stored) =>
  methodWithSecret(record, await isDefaultMethod(deps.table, record), deps.now());

/**
 * `is_default: false` also keeps an open set-up from making the method the default.
 * @throws DomainError INVALID_STATE for `is_default: true` before the method is set up
 */
export const updateMethod = async (
  deps: StoreDeps,
  { record: method, body, named }: ApiRequest<unknown, unknown, UpdateMethodBody, PaymentMethod>,
): Promise<Reply> => {
  if (body.is_default === true) requireSetUp(method);
  const address = addressNamed(method, named);
  const next = await commitMethod(deps, method, ({ alias, billingAddressId, setup }) => ({
    alias: body.alias === undefined ? alias : (body.alias ?? undefined),
    billingAddressId: body.billing_address_id === undefined ? billingAddressId : address?.id,
    setup: body.is_default === false && setup?.wantsDefault ? { ...setup, wantsDefault: undefined } : setup,
  }));
  if (body.is_default === true) await setDefault(deps.table, methodDefaultSlotOf(method), method.id);
  if (body.is_default === false) await clearDefault(deps.table, methodDefaultSlotOf(method), method.id);
  const isDefault = body.is_default ?? (await isDefaultMethod(deps.table, method));
  return { data: methodWithSecret(next, isDefault, deps.now()) };
};

/**
 * Makes the method the default. Changes only the pointer, so the last request wins.
 * @throws DomainError INVALID_STATE before the method is set up
 */
export const setDefaultMethod = async (deps: StoreDeps, { record }: Stored): Promise<Reply> => {
  requireSetUp(record);
  await setDefault(deps.table, methodDefaultSlotOf(record), record.id);
  return { data: methodView(record, true) };
};

/** Links the address and sends it to a provider that accepts billing details. If that call fails, the link stays. */
export const linkMethodAddress = async (
  deps: StoreDeps & { readonly providers: Providers },
  { record: method, named }: ApiRequest<unknown, unknown, BillingAddressBody, PaymentMethod>,
): Promise<Reply> => {
  const address = addressNamed(method, named);
  const next = await commitMethod(deps, method, ({ alias, setup }) => ({
    alias,
    billingAddressId: address?.id,
    setup,
  }));
  const isDefault = await isDefaultMethod(deps.table, method);
  const synced = address && (await updateAtProvider(deps.providers, next, address));
  const view = methodWithSecret(next, isDefault, deps.now());
  return { data: { ...view, ...(synced !== undefined && { provider_synced: synced }) } };
};

const addressNamed = (method: PaymentMethod, named: ApiRequest['named']): Address | undefined => {
  const address = named(addressRecord);
  if (address) requireSameOwner(address, method.organizationId);
  return address;
};

/** @returns true if the provider has accepted the details; undefined if the provider takes no billing details */
const updateAtProvider = async (
  providers: Providers,
  method: PaymentMethod,
  address: Address,
): Promise<boolean | undefined> => {
  const provider = await providers.find(method.providerId);
  if (!provider?.can.billingDetails) return undefined;
  const { name, businessName, line1, line2, city, state, postalCode, country } = address;
  const billing = { name: name ?? businessName, line1, line2, city, state, postalCode, country };
  const outcome = await provider.updateBilling({
    methodId: method.providerMethodId,
    billing,
    idempotencyKey: `${method.id}:billing:${method.version}:${fingerprint(canonicalJson(billing)).slice(0, 12)}`,
  });
  return outcome.kind === 'done';
};
