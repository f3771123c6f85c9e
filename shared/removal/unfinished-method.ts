import type { Outcome } from '../core/outcome.ts';
import { applySetupReport, type SetupProgress } from '../payment-methods/complete-setup.ts';
import { type PaymentMethod, paymentMethodRecord, paymentMethodShape } from '../payment-methods/payment-method.ts';
import type { ProviderSetup } from '../providers/port/methods.ts';
import { requireDone } from '../providers/registry/unwrap.ts';
import { recordStore } from '../table/record-store.ts';
import { type RemoveMethodDeps, removeMethod } from './payment-method.ts';

/**
 * Reads the open set-up of a method at the provider and applies the report. A canceled set-up removes the method.
 * @throws DomainError if the provider does not answer
 */
export const refreshSetup = async (deps: RemoveMethodDeps, method: PaymentMethod): Promise<SetupProgress> => {
  const provider = await deps.providers.require(method.providerId, 'methods');
  if (!method.setup || !provider.setups) return 'unchanged';
  return settle(deps, method, requireDone(await provider.setups.find(method.setup.id), 'id'));
};

/**
 * The due work of a method whose set-up is still open after 24 h: cancels the set-up at the provider, and removes the method.
 * If the payer was faster, the provider refuses to cancel and reports the success, which completes the method. Without an
 * answer, the method stays, without its client secret, and is due again when the lease of this run ends.
 */
export const runDueMethod = async (deps: RemoveMethodDeps, id: string): Promise<string> => {
  const method = await recordStore(deps, paymentMethodShape).load(id);
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
  return progress;
};
