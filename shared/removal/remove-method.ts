/** @module Deletes saved payment methods, and ends the set-up of methods that the payer has not completed. */

import type { Outcome } from '../core/outcome.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { applySetupReport, type SetupProgress } from '../payment-methods/complete-setup.ts';
import { addressUseSteps } from '../payment-methods/method-store.ts';
import {
  methodDefaultSlotOf,
  type PaymentMethod,
  paymentMethodRecord,
  paymentMethodShape,
} from '../payment-methods/payment-method.ts';
import { aliasRemoval, findAlias } from '../platform/alias.ts';
import { ownedRecord } from '../platform/owned-record.ts';
import { successorSteps } from '../platform/table-defaults.ts';
import type { ProviderSetup } from '../providers/method-port.ts';
import type { ProviderRecordDeps } from '../providers/provider-deps.ts';
import { requireDone } from '../providers/unwrap.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { replaceMethodEverywhere } from '../subscriptions/commands/replace-method.ts';
import { setWantedMethod } from '../subscriptions/commands/wanted-method.ts';

export type RemoveMethodDeps = Pick<ProviderRecordDeps, 'table' | 'now' | 'providers'> & BillingDeps;

export const deleteMethod = async (
  deps: RemoveMethodDeps,
  { record }: ApiRequest<unknown, unknown, unknown, PaymentMethod>,
): Promise<Reply> => {
  await removeMethod(deps, record, { atProvider: true });
  // The call is repeated for subscriptions created during the removal. A creation that starts later checks its method
  // itself.
  await replaceMethodEverywhere(deps, record, { isGone: true });
  return { data: undefined };
};

/**
 * Moves subscriptions to the successor method, detaches the method, then removes its record. The newest remaining
 * method that is set up becomes the default. @throws DomainError PAYMENT_METHOD_IN_USE
 */
export const removeMethod = async (
  deps: RemoveMethodDeps,
  method: PaymentMethod,
  { atProvider }: { readonly atProvider: boolean },
): Promise<void> => {
  const [defaultSteps] = await Promise.all([
    successorSteps(deps.table, methodDefaultSlotOf(method), method.id),
    replaceMethodEverywhere(deps, method, { isGone: !atProvider }),
  ]);
  const attachedId = atProvider ? await detach(deps, method) : undefined;
  const store = ownedRecord(deps, paymentMethodShape);
  // A method with an unfinished set-up is not detached, so its provider would still charge it. Its alias stays, so
  // that no caller can use the method by the provider's id.
  const detachedId = attachedId ?? (method.setup ? undefined : method.providerMethodId);
  const steps = [
    ...(detachedId === undefined ? [] : [aliasRemoval(method.providerId, detachedId)]),
    ...addressUseSteps(method, undefined),
  ];
  // Keeps a default that another request has set during the removal.
  if (!(await store.remove(method, [...steps, ...defaultSteps]))) await store.remove(method, steps);
  // The call is repeated for subscriptions that got the method back during the removal, from an older provider report.
  if (!atProvider) await replaceMethodEverywhere(deps, method, { isGone: true });
};

/**
 * Detaches the method at the provider. An open set-up is canceled first, so that nothing attaches later. If the set-up
 * has saved a method that belongs to another record, that method stays.
 * @returns the provider's id of the detached method, because a set-up may have saved another method than the record
 * names
 */
const detach = async (deps: RemoveMethodDeps, method: PaymentMethod): Promise<string | undefined> => {
  const provider = await deps.providers.require(method.providerId, 'methods');
  const ended = method.setup && provider.setups && requireDone(await provider.setups.cancel(method.setup.id), 'id');
  if (ended?.status === 'canceled') return undefined;
  const attachedId = ended?.method?.methodId ?? method.providerMethodId;
  const alias =
    attachedId === method.providerMethodId ? undefined : await findAlias(deps.table, method.providerId, attachedId);
  if (alias && alias.id !== method.id) return undefined;
  requireDone(await provider.detachMethod(attachedId), 'id');
  return attachedId;
};

/**
 * Reads the open set-up of a method at the provider and applies the report. A canceled set-up removes the method.
 * @throws DomainError if the provider does not respond
 */
export const refreshSetup = async (deps: RemoveMethodDeps, method: PaymentMethod): Promise<SetupProgress> => {
  const provider = await deps.providers.require(method.providerId, 'methods');
  if (!method.setup || !provider.setups) return 'unchanged';
  return settle(deps, method, requireDone(await provider.setups.find(method.setup.id), 'id'));
};

/**
 * The due work of a method whose set-up is still open after 24 h. It cancels the set-up at the provider and removes the
 * method. If the payer was faster, the provider refuses to cancel and reports the success, which completes the method.
 * If the provider does not respond, the method stays without its client secret, and is due again when the lease of this
 * run ends.
 */
export const runDueMethod = async (deps: RemoveMethodDeps, id: string): Promise<string> => {
  const method = await ownedRecord(deps, paymentMethodShape).load(id);
  if (!method?.setup) return 'nothing to do';
  const ended = await cancelSetup(deps, method, method.setup.id);
  if (ended.kind === 'done') return settle(deps, method, ended.value);
  await deps.table.update(paymentMethodRecord.key(id), { remove: ['setup.clientSecret', 'setup.nextAction'] }, [
    { equals: ['version', method.version] },
  ]);
  return `set-up not ended: ${ended.kind}`;
};

const cancelSetup = async (
  { providers }: RemoveMethodDeps,
  { providerId }: PaymentMethod,
  setupId: string,
): Promise<Outcome<ProviderSetup>> => {
  const setups = (await providers.find(providerId))?.setups;
  return setups ? setups.cancel(setupId) : { kind: 'not_done', reason: 'unreachable' };
};

const settle = async (deps: RemoveMethodDeps, method: PaymentMethod, report: ProviderSetup): Promise<SetupProgress> => {
  const progress = await applySetupReport(deps, method, report);
  if (progress === 'over') await removeMethod(deps, method, { atProvider: false });
  const subscriptionId = method.setup?.subscriptionId;
  if (progress === 'completed' && subscriptionId !== undefined) await setWantedMethod(deps, subscriptionId, method.id);
  return progress;
};
