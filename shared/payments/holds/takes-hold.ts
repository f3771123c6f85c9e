import { invalid } from '../../core/errors.ts';
import type { PaymentProvider } from '../../providers/provider.ts';
import type { Draft } from '../payment.ts';

/**
 * Checks that the provider and the method can hold an amount, before anything is written or sent.
 * @throws DomainError VALIDATION_ERROR if the provider, or the kind of the method, cannot hold an amount
 */
export const requireTakesHold = (
  { holds, slot }: Pick<PaymentProvider, 'holds' | 'slot'>,
  { captureMethod, methodRef, methodKind }: Pick<Draft, 'captureMethod' | 'methodRef' | 'methodKind'>,
): void => {
  if (captureMethod === undefined) return;
  const rule = 'capture_method';
  if (!holds) throw invalid([{ path: 'capture_method', rule, message: `${slot} cannot hold an amount` }]);
  if (methodRef === undefined || holds.takes({ id: methodRef, kind: methodKind })) return;
  throw invalid([{ path: 'payment_method_id', rule, message: 'cannot hold an amount; use a card or a wallet' }]);
};

/** The stored capture method; undefined means `automatic`. */
export const captureMethodOf = (asked: 'automatic' | 'manual' | null | undefined): Draft['captureMethod'] =>
  asked === 'manual' ? asked : undefined;
