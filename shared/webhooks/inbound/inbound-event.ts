import type { ProviderSlot } from '../../core/settings.ts';
import type { InboundEventType, ProviderEvent } from '../../providers/port/events.ts';
import type { Historic } from '../../table/keys.ts';

/** An event of a slot's provider, of a type that the service acts on. */
export interface InboundEvent<Type extends InboundEventType = InboundEventType> {
  readonly slot: ProviderSlot;
  readonly type: Type;
  readonly event: ProviderEvent;
}

/** The result of a provider's event about a customer, a payment method or a subscription. */
export type EventResult =
  | {
      readonly kind: 'applied' | 'ignored' | 'quarantined';
      readonly reason: string;
      readonly owner: OwnerIds;
      /** Where the record has a history, which names the event. */
      readonly about?: Historic;
    }
  /** The record does not exist yet. */
  | { readonly kind: 'early' };

export interface OwnerIds {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  /** The person of the record was erased. */
  readonly erasedAt?: string | undefined;
}

export const ignored = (owner: OwnerIds, reason: string): EventResult => ({ kind: 'ignored', reason, owner });
