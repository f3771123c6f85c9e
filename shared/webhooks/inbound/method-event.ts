import type { ProviderSlot } from '../../core/settings.ts';
import { iso } from '../../core/time.ts';
import { type PaymentMethod, paymentMethodShape } from '../../payment-methods/payment-method.ts';
import type { ProviderEvent } from '../../providers/port/events.ts';
import { isStale } from '../../providers/port/events.ts';
import { type RemoveMethodDeps, removeMethod } from '../../removal/payment-method.ts';
import { findAlias } from '../../table/alias.ts';
import { recordStore } from '../../table/record-store.ts';
import type { EventResult, OwnerIds } from './result.ts';

type MethodEventType = 'payment_method.attached' | 'payment_method.detached' | 'payment_method.updated';

export const isMethodEvent = (type: ProviderEvent['type']): type is MethodEventType =>
  type?.startsWith('payment_method.') ?? false;

const COMMIT_TRIES = 5;

/** updated refreshes brand, last four and expiry; detached removes the method; attached confirms it. */
export const applyMethodEvent = async (
  deps: RemoveMethodDeps,
  slot: ProviderSlot,
  event: ProviderEvent,
  type: MethodEventType,
): Promise<EventResult> => {
  const store = recordStore(deps.table, deps.now, paymentMethodShape);
  const alias = await findAlias(deps.table, slot, event.object.id);
  for (let tries = 0; tries < COMMIT_TRIES; tries += 1) {
    const method = alias?.kind === 'PM' ? await store.load(alias.id) : undefined;
    if (!method) {
      if (type === 'payment_method.updated') return { kind: 'early' };
      return ignored({}, 'no such payment method here');
    }
    if (isStale(method, event)) return ignored(method, 'stale');
    if (type === 'payment_method.attached') return ignored(method, 'known');
    if (type === 'payment_method.detached') {
      await removeMethod(deps, method, { atProvider: false });
      return { kind: 'applied', reason: 'payment method removed', owner: method };
    }
    const next = refreshed(method, event, iso(deps.now()));
    const changes = next.version !== method.version;
    if (!changes && event.createdAt === method.knownAt) return ignored(method, 'no change');
    if (!(await store.commit(method, next))) continue;
    return changes
      ? { kind: 'applied', reason: 'payment method refreshed', owner: method }
      : ignored(method, 'no change');
  }
  throw new Error('too many writers at once');
};

const ignored = (owner: OwnerIds, reason: string): EventResult => ({ kind: 'ignored', reason, owner });

/** What the provider says of it, and since when; a new version only where something differs. */
const refreshed = (
  method: PaymentMethod,
  { object: { method: facts }, createdAt: knownAt }: ProviderEvent,
  at: string,
): PaymentMethod => {
  const next = {
    ...method,
    knownAt,
    cardBrand: facts?.cardBrand ?? method.cardBrand,
    lastFour: facts?.lastFour ?? method.lastFour,
    expiryMonth: facts?.expiryMonth ?? method.expiryMonth,
    expiryYear: facts?.expiryYear ?? method.expiryYear,
  };
  const same =
    next.cardBrand === method.cardBrand &&
    next.lastFour === method.lastFour &&
    next.expiryMonth === method.expiryMonth &&
    next.expiryYear === method.expiryYear;
  return same ? next : { ...next, version: method.version + 1, updatedAt: at };
};
