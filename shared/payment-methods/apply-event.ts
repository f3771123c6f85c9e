import { epochSeconds, instant, iso } from '../core/time.ts';
import type { RecordEventResult } from '../customers/apply-event.ts';
import type { ProviderRecordDeps } from '../customers/deps.ts';
import type { ProviderEvent } from '../providers/provider.ts';
import type { ProviderSlot } from '../settings.ts';
import { findAlias } from '../table/alias.ts';
import { recordStore } from '../table/record-store.ts';
import { type PaymentMethod, paymentMethodShape } from './payment-method.ts';
import { removeMethod } from './remove.ts';

type MethodEventType = 'payment_method.attached' | 'payment_method.detached' | 'payment_method.updated';

export const isMethodEvent = (type: ProviderEvent['type']): type is MethodEventType =>
  type?.startsWith('payment_method.') ?? false;

const COMMIT_TRIES = 5;

/** updated refreshes brand, last four and expiry; detached removes the method; attached confirms it. */
export const applyMethodEvent = async (
  deps: Pick<ProviderRecordDeps, 'table' | 'now' | 'providers'>,
  slot: ProviderSlot,
  event: ProviderEvent,
  type: MethodEventType,
): Promise<RecordEventResult> => {
  const store = recordStore(deps.table, deps.now, paymentMethodShape);
  const alias = await findAlias(deps.table, slot, event.object.id);
  for (let tries = 0; tries < COMMIT_TRIES; tries += 1) {
    const method = alias?.kind === 'PM' ? await store.load(alias.id) : undefined;
    if (!method) {
      if (type === 'payment_method.updated') return { kind: 'early' };
      return { kind: 'ignored', reason: 'no such payment method here', owner: {} };
    }
    const stale = event.createdAt < epochSeconds(instant(method.updatedAt));
    if (type === 'payment_method.detached' && !stale) {
      await removeMethod(deps, method, { atProvider: false });
      return { kind: 'applied', reason: 'payment method removed', owner: method };
    }
    if (stale) return { kind: 'ignored', reason: 'stale', owner: method };
    const next = type === 'payment_method.updated' ? refreshed(method, event, iso(deps.now())) : undefined;
    if (!next) return { kind: 'ignored', reason: 'no change', owner: method };
    if (await store.commit(method, next)) {
      return { kind: 'applied', reason: 'payment method refreshed', owner: method };
    }
  }
  throw new Error('too many writers at once');
};

const refreshed = (method: PaymentMethod, { object }: ProviderEvent, at: string): PaymentMethod | undefined => {
  const facts = object.method;
  if (!facts) return undefined;
  const next = {
    ...method,
    cardBrand: facts.cardBrand ?? method.cardBrand,
    lastFour: facts.lastFour ?? method.lastFour,
    expiryMonth: facts.expiryMonth ?? method.expiryMonth,
    expiryYear: facts.expiryYear ?? method.expiryYear,
  };
  const same =
    next.cardBrand === method.cardBrand &&
    next.lastFour === method.lastFour &&
    next.expiryMonth === method.expiryMonth &&
    next.expiryYear === method.expiryYear;
  return same ? undefined : { ...next, version: method.version + 1, updatedAt: at };
};
