/** @module Ids that anyone can compute from e-mail addresses, Idempotency-Keys and the ids of payments. */
import { createHash } from 'node:crypto';
import type { HistoryExchange, Person } from './history.ts';

const PREFIXES = {
  payments: 'pay',
  'payment-methods': 'pmt',
  customers: 'cust',
  addresses: 'addr',
  subscriptions: 'subs',
};

const isCreate = (path: string): path is keyof typeof PREFIXES => Object.hasOwn(PREFIXES, path);

const hashOf = (...parts: readonly string[]): string =>
  createHash('sha256')
    .update(parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(''))
    .digest('hex');

const idOf = (prefix: string, ...parts: readonly string[]): string => `${prefix}_${hashOf(...parts).slice(0, 24)}`;

type Keyed = Pick<HistoryExchange, 'method' | 'path' | 'idempotencyKey'>;

/** The id of a created record if the id were the hash of caller and Idempotency-Key. */
export const idOfKey = (
  { method, path, idempotencyKey }: Keyed,
  { kind, email, userId }: Person,
): readonly string[] => {
  const created = path.split('/')[1] ?? '';
  if (method !== 'POST' || idempotencyKey === undefined || !isCreate(created)) return [];
  const caller = kind === 'guest' ? `email:${email}` : `user:${userId}`;
  const scope = hashOf(caller, `POST ${path}`, '{}', idempotencyKey).slice(0, 40);
  return [idOf(PREFIXES[created], scope)];
};

/** The ids of a card saved during a payment and of a record's customer, if they were hashes of the record's id. */
export const idsBeside = (id: string): readonly string[] => [idOf('pmt', id), idOf('cust', id)];
