/** @module Parts of a payment or subscription, shared by lists and the record's own page. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import { type Owned, payersEmail } from '../api/payers.ts';
import { mayOpen } from '../api/session.ts';
import type { Payment, PaymentMethod } from '../api/types.ts';
import { Cut } from '../view/parts.tsx';
import { Link } from '../view/route.tsx';
import { methodInShort } from './method-words.ts';

interface NamedProps {
  readonly name: string | undefined;
  readonly id: string | undefined;
}

/** A name with the id below it, or only the id. */
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
  readonly record: Owned;
}

/** The payer's e-mail address, with the id below it. */
export const Payer = ({ record }: RecordProps) => (
  <Named name={payersEmail(record)} id={record.user_id ?? record.customer_id ?? undefined} />
);

/** The payer in one line. */
export const payerInShort = (record: Owned): string =>
  payersEmail(record) ?? record.user_id ?? record.customer_id ?? '–';

/** The payer in one line, for the rows of a list. */
export const PayerInShort = ({ record }: RecordProps) => {
  const text = payerInShort(record);
  return <Cut title={text}>{text}</Cut>;
};

/** The organization in one line, for the rows of a list; null if the record has none. */
export const organizationInShort = (record: Owned) => {
  const text = record.organization_name ?? record.organization_id ?? null;
  return text === null ? null : <Cut title={text}>{text}</Cut>;
};

/** The organization's name, with the id below it. */
export const OwningOrganization = ({ record }: RecordProps) => (
  <Named name={record.organization_name ?? undefined} id={record.organization_id ?? undefined} />
);

/** The customer's id, as a link if the user may open the customer. */
export const CustomerLink = ({ id }: { readonly id: string }) =>
  mayOpen('customers:read') ? <Link to={`/customers/${id}`}>{id}</Link> : <code>{id}</code>;

type ShownMethod = Pick<PaymentMethod, 'type' | 'card_brand' | 'card_last_four' | 'wallet_type'>;

/** Saved methods by id; null if the method was removed or the caller may not see it. */
const methods = signal<ReadonlyMap<string, ShownMethod | null>>(new Map());
const asked = new Set<string>();

/** The pattern of a saved method's id. Any other id is a one-time token of the provider. */
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
export const savedMethodInShort = ({ card_last_four: last_four, wallet_type = null, ...kind }: ShownMethod): string =>
  methodInShort({ ...kind, wallet_type, last_four, bank_name: null });

/** The method of the last attempt in short. Without details of the attempt, the saved method or the token. */
export const Method = ({ payment }: { readonly payment: Payment }) => {
  const details = payment.payment_method_details;
  if (details) return <span class="method">{methodInShort(details)}</span>;
  return (
    <SavedMethod
      id={payment.payment_method_id}
      included={'payment_method' in payment ? payment.payment_method : undefined}
    />
  );
};

/** A saved method, included in its record or read by its id. */
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
