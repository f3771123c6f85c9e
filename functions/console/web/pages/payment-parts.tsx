/** @module Parts of a payment or subscription that both a list and the record's own page show. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import { type Fields, methodDetailsOf, payersEmail, textIn } from '../api/loose-fields.ts';
import type { Payment, PaymentMethod } from '../api/types.ts';
import { methodInShort } from './method-words.ts';

interface NamedProps {
  readonly name: string | undefined;
  readonly id: string | undefined;
}

/** A name with the id below it; the id alone without a name. */
const Named = ({ name, id }: NamedProps) => {
  if (name === undefined) return <span class="clip quiet">{id ?? '–'}</span>;
  return (
    <>
      <span class="clip" title={name}>
        {name}
      </span>
      {id !== undefined && <span class="second-line clip quiet">{id}</span>}
    </>
  );
};

interface RecordProps {
  readonly record: Fields;
}

/** The payer's e-mail address, with the id below it. */
export const Payer = ({ record }: RecordProps) => (
  <Named name={payersEmail(record)} id={textIn(record, 'user_id') ?? textIn(record, 'customer_id')} />
);

/** The payer in one line. */
export const payerInShort = (record: Fields): string =>
  payersEmail(record) ?? textIn(record, 'user_id') ?? textIn(record, 'customer_id') ?? '–';

/** The organization's name, with the id below it. */
export const OwningOrganization = ({ record }: RecordProps) => (
  <Named name={textIn(record, 'organization_name')} id={textIn(record, 'organization_id')} />
);

type ShownMethod = Pick<PaymentMethod, 'type' | 'card_brand' | 'card_last_four' | 'wallet_type'>;

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

/** A saved method in short, such as `Visa •••• 4242`. */
export const savedMethodInShort = ({ type, card_brand, card_last_four, wallet_type }: ShownMethod): string =>
  methodInShort({
    type,
    walletType: wallet_type ?? undefined,
    cardBrand: card_brand ?? undefined,
    lastFour: card_last_four ?? undefined,
    bankName: undefined,
  });

type MethodProps = {
  readonly payment: Pick<Payment, 'payment_method_id'> & Fields;
};

/** The method of the last attempt in short. A payment without details has a saved method or none. */
export const Method = ({ payment }: MethodProps) => {
  const details = methodDetailsOf(payment);
  if (details) return <span class="method">{methodInShort(details)}</span>;
  return <SavedMethod id={payment.payment_method_id} included={payment['payment_method']} />;
};

/** A saved method, which is included in its record or read by its id. */
export const SavedMethod = ({ id, included }: { readonly id: string | null; readonly included?: unknown }) => {
  const isSaved = id !== null && SAVED.test(id);
  const needsReading = isSaved && !isMethod(included);
  useEffect(() => {
    if (needsReading) void readMethod(id);
  }, [needsReading, id]);
  if (id === null) return <span class="quiet">–</span>;
  const method = isMethod(included) ? included : methods.value.get(id);
  if (method) return <span class="method">{savedMethodInShort(method)}</span>;
  return <span class="clip quiet">{isSaved ? 'Saved method' : id}</span>;
};
