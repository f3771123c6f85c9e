/** @module Reads the fields of a user from the claims of a bearer token, by the setting IDENTITY_CLAIMS. */

import type { ClaimSource, ClaimSources } from '../core/setting.ts';
import { STAFF_ROLES } from './scopes.ts';

/** The claims with each mapped field set from its source. A mapped field is not read from the claim of its own name. */
export const mappedClaims = (claims: unknown, sources: ClaimSources): unknown => {
  if (!isObject(claims)) return claims;
  const read = Object.entries(sources).map(([field, source]) => [field, valueFrom(claims, source)]);
  const fields: Readonly<Record<string, unknown>> = Object.fromEntries(read);
  return {
    ...claims,
    ...fields,
    ...(Array.isArray(fields['staff_role']) && { staff_role: roleIn(fields['staff_role']) }),
  };
};

/** Of a list, such as the groups of a user, the first role in the order of the roles. */
const roleIn = (words: readonly unknown[]): string | undefined => STAFF_ROLES.find((role) => words.includes(role));

const valueFrom = (claims: object, { claim, word }: ClaimSource): unknown => {
  const value = claimAt(claims, claim);
  if (word === undefined) return value;
  return Array.isArray(value) ? value.includes(word) : value === word;
};

/** The claim of exactly this name, else the claim at the path that the dots of the name make. */
const claimAt = (claims: unknown, name: string): unknown => {
  if (!isObject(claims)) return undefined;
  if (Object.hasOwn(claims, name)) return claims[name];
  const dot = name.indexOf('.');
  const first = name.slice(0, dot);
  return dot > 0 && Object.hasOwn(claims, first) ? claimAt(claims[first], name.slice(dot + 1)) : undefined;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
