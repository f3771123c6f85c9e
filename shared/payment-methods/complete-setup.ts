/**
 * @module Applies a report about a set-up. Completes the method, marks the set-up as failed, or returns that the record
 * must be removed.
 */

import { iso } from '../core/time.ts';
import { aliasKey } from '../platform/keys.ts';
import type { StoreDeps, TransactionStep } from '../platform/table.ts';
import { defaultStep } from '../platform/table-defaults.ts';
import { versionedRecord } from '../platform/versioned-record.ts';
import type { ProviderSetup } from '../providers/method-port.ts';
import { storedMethodFields } from './create-method.ts';
import { methodDefaultSlotOf, type PaymentMethod, paymentMethodShape } from './payment-method.ts';

export type SetupProgress =
  | 'completed'
  | 'failed'
  | 'unchanged'
  /** The set-up was canceled, or another record already has its method. The caller must remove the record. */
  | 'over';

/**
 * Applies the report to the method, unless the method is already complete.
 * @param report from a read of the provider; an event alone never decides
 * @throws DomainError VERSION_CONFLICT if the method has been removed since
 */
export const applySetupReport = async (
  deps: StoreDeps,
  method: PaymentMethod,
  report: ProviderSetup,
): Promise<SetupProgress> => {
  if (report.status === 'canceled') return 'over';
  const { record, isOurs, unmet } = await versionedRecord(deps, paymentMethodShape).change(
    method,
    (current) => (current.setup?.id === report.setupId ? nextOf(deps, current, report) : undefined),
    completionSteps,
  );
  // Another record already has the provider's method.
  if (unmet) return 'over';
  if (!isOurs) return 'unchanged';
  return record.setup ? 'failed' : 'completed';
};

const nextOf = (
  { now }: StoreDeps,
  method: PaymentMethod,
  { status, method: saved }: ProviderSetup,
): PaymentMethod | undefined => {
  const version = { version: method.version + 1, updatedAt: iso(now()) };
  if (status === 'succeeded' && saved) return { ...method, ...storedMethodFields(saved), setup: undefined, ...version };
  if (status !== 'failed' || method.setup?.status !== 'requires_action') return undefined;
  return { ...method, setup: { ...method.setup, status: 'failed', nextAction: undefined }, ...version };
};

/**
 * Adds an alias if the payer has used another card after a failure. Makes the method the default if the owner has
 * requested that.
 */
const completionSteps = (was: PaymentMethod, next: PaymentMethod): readonly TransactionStep[] => {
  if (next.setup || !was.setup) return [];
  return [
    ...(was.providerMethodId === next.providerMethodId ? [] : aliasStepsOf(next)),
    ...(was.setup.wantsDefault ? [defaultStep(methodDefaultSlotOf(next), next.id)] : []),
  ];
};

/**
 * The alias of the earlier card stays. The provider could still charge the earlier card, so no other record may get
 * that alias.
 */
const aliasStepsOf = (next: PaymentMethod): readonly TransactionStep[] => [
  {
    put: { ...aliasKey(next.providerId, next.providerMethodId), kind: 'PM', id: next.id },
    if: [{ any: [{ absent: true }, { equals: ['id', next.id] }] }],
  },
];
