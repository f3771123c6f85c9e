/**
 * @module Read-only fields in the body of an update. A client may send back a record after reading it. A read-only
 * field is accepted with the record's current value and refused with any other value.
 */

import { invalid, type Problem } from '../core/errors.ts';
import { rowOf } from '../core/rows.ts';
import { cutText } from '../core/text.ts';
import { canonicalJson } from './idempotency.ts';
import { namesOf } from './known-fields.ts';
import type { Schema } from './parse.ts';

/** The fields accepted by a PUT or PATCH in addition to those of its body and response schemas. */
export interface SentBack {
  /** Further fields that a read of the record may contain. */
  readonly further?: readonly string[];
  /** Other records that a read may include. An object or null is accepted without a comparison. */
  readonly expanded?: readonly string[];
  /**
   * Fields that are not compared. They change without a client's request, are missing in some reads, or belong to
   * another system.
   */
  readonly moving?: readonly string[];
  /** The route that changes a field. A field without a route cannot be changed. */
  readonly changedBy: Readonly<Record<string, string>>;
}

interface Update {
  readonly body: Schema | null;
  readonly response: (() => Schema) | null;
  readonly sentBack: SentBack | undefined;
}

/** True if the field is read-only on this route and a client may send it back. */
export const isSentBack = ({ body, response, sentBack }: Update, name: string, value: unknown): boolean => {
  if (!sentBack || (body && namesOf(body).includes(name))) return false;
  const { further = [], expanded = [] } = sentBack;
  if (expanded.includes(name)) return typeof value === 'object' && !Array.isArray(value);
  return further.includes(name) || (response !== null && namesOf(response()).includes(name));
};

/** The sent read-only fields to compare with the record. */
export const sentBackOf = (spec: Update, json: unknown): Readonly<Record<string, unknown>> => {
  if (!spec.sentBack || typeof json !== 'object' || json === null) return {};
  const { expanded = [], moving = [] } = spec.sentBack;
  const notCompared = new Set([...MOVING, ...expanded, ...moving]);
  return Object.fromEntries(
    Object.entries(json).filter(([name, value]) => !notCompared.has(name) && isSentBack(spec, name, value)),
  );
};

/** Fields of all kinds of records that change without a client's request, or that some reads omit. */
const MOVING = ['created_at', 'updated_at', 'imported_at', 'client_secret'];

/** A record, as a read would show it. */
export type ShownRecord = Readonly<Record<string, unknown>>;

/**
 * @param shows reads the record; called only if the body contains read-only fields
 * @throws DomainError VALIDATION_ERROR for each changed field
 */
export const requireSentBack = async (
  spec: Update,
  json: unknown,
  shows: () => ShownRecord | Promise<ShownRecord | undefined>,
): Promise<void> => {
  const sent = sentBackOf(spec, json);
  const shown = Object.keys(sent).length > 0 ? await shows() : undefined;
  if (shown) requireUnchanged(sent, shown, spec.sentBack?.changedBy ?? {});
};

const requireUnchanged = (sent: ShownRecord, shown: ShownRecord, changedBy: SentBack['changedBy']): void => {
  const problems = Object.entries(sent).flatMap(([name, value]): Problem[] => {
    const now = rowOf(shown, name);
    return isSame(value, now)
      ? []
      : [{ path: name, rule: 'read_only', message: messageOf(now, rowOf(changedBy, name)) }];
  });
  if (problems.length > 0) throw invalid(problems);
};

const isSame = (sent: unknown, now: unknown): boolean => {
  const [one, other] = [sent === '' ? null : (sent ?? null), now === '' ? null : (now ?? null)];
  return canonicalJson(one) === canonicalJson(other) || (isTime(one) && isTime(other) && isSameTime(one, other));
};

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]{5,15}(?:Z|[+-]\d\d:\d\d)$/;
const LONGEST_TIME = 35;
const isTime = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_TIME && TIME.test(value);
const isSameTime = (one: string, other: string): boolean => Date.parse(one) === Date.parse(other);

const LONGEST_VALUE = 100;

/** Does not quote an object, because it may contain a payer's secret, such as the address of a next action. */
const messageOf = (now: unknown, route: string | undefined): string => {
  const isObject = typeof now === 'object' && now !== null;
  const value = isObject ? 'different' : cutText(canonicalJson(now ?? null), LONGEST_VALUE);
  const advice = route === undefined ? 'no request changes it' : `${route} changes it`;
  return `is read-only here and is now ${value}; ${advice}`;
};
