/** @module Parts of a payment that both the list and the payment's own page show. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import type { Payment, PaymentMethod } from '../api/types.ts';
import { inWords } from '../view/format.ts';

export const payerOf = ({ guest_email, user_id, customer_id }: Payment): string =>
  guest_email ?? user_id ?? customer_id ?? '–';

type ShownMethod = Pick<PaymentMethod, 'type' | 'card_brand' | 'card_last_four'>;

/** Saved methods by id; null if the method was removed or the caller may not see it. */
const methods = signal<ReadonlyMap<string, ShownMethod | null>>(new Map());
const asked = new Set<string>();

/** The form of the ids of saved methods. Any other id is a one-time token of the provider. */
const SAVED = /^pmt_[0-9a-f]{24}$/;

const readMethod = async (id: string): Promise<void> => {
  if (asked.has(id)) return;
  asked.add(id);
  const found = await answerOf(api.GET('/payment-methods/{id}', { params: { path: { id } } })).catch(() => undefined);
  methods.value = new Map(methods.value).set(id, found?.data ?? null);
};

const isMethod = (value: unknown): value is ShownMethod =>
  typeof value === 'object' && value !== null && 'type' in value;

const textOf = ({ type, card_brand, card_last_four }: ShownMethod): string =>
  card_last_four ? `${inWords(card_brand ?? type)} •••• ${card_last_four}` : inWords(type);

/** The payment method, which is included in the payment or read by its id. */
export const Method = ({ payment }: { readonly payment: Payment }) => {
  const { payment_method: included, payment_method_id: id } = payment;
  const isSaved = id !== null && SAVED.test(id);
  const needsReading = isSaved && !isMethod(included);
  useEffect(() => {
    if (needsReading) void readMethod(id);
  }, [needsReading, id]);
  if (id === null) return <span class="quiet">–</span>;
  const method = isMethod(included) ? included : methods.value.get(id);
  if (method) return <span class="method">{textOf(method)}</span>;
  return <span class="clip quiet">{isSaved ? 'Saved method' : id}</span>;
};
