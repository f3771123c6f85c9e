/** @module Applies a set-up's report, which completes the method, marks its set-up as failed, or asks for removal. */

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
  /** The set-up was canceled, or it saved a method that another record already has, so the record must be removed. */
  | 'over';

/**
 * A completed method stays as it is. @param report read at the provider, because an event alone never decides
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
  // The provider's method has another record already.
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
 * After a failure the payer may have given another card, which then needs an alias. A method that is to become the
 * default does so now.
 */
const completionSteps = (was: PaymentMethod, next: PaymentMethod): readonly TransactionStep[] => {
  if (next.setup || !was.setup) return [];
  return [
    ...(was.providerMethodId === next.providerMethodId ? [] : aliasStepsOf(next)),
    ...(was.setup.wantsDefault ? [defaultStep(methodDefaultSlotOf(next), next.id)] : []),
  ];
};

/** The earlier alias stays, because the provider could still charge that card and no other record may use it. */
const aliasStepsOf = (next: PaymentMethod): readonly TransactionStep[] => [
  {
    put: { ...aliasKey(next.providerId, next.providerMethodId), kind: 'PM', id: next.id },
    if: [{ any: [{ absent: true }, { equals: ['id', next.id] }] }],
  },
];
