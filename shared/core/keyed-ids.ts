/**
 * @module Keyed ids, and the stored form of a guest's network. Only this deployment can compute them, with ID_SECRET.
 * The secret is never rotated, because a repeated request finds its record by its id.
 */

import { type IdKind, keyedHash, keyedId } from './ids.ts';

export interface KeyedIds {
  /** The same kind and parts always give the same id, so a repeated command finds the same record. */
  readonly idOf: (kind: IdKind, ...parts: readonly string[]) => Promise<string>;
  /** The stored form of a network does not reveal the network. */
  readonly networkHash: (network: string) => Promise<string>;
}

/** The id functions of use cases. */
export interface IdDeps {
  /** A random id. */
  readonly newId: (kind: IdKind) => string;
  readonly ids: KeyedIds;
}

const NETWORK_LENGTH = 24;

export const keyedIds = (secret: () => Promise<string>): KeyedIds => ({
  idOf: async (kind, ...parts) => keyedId(await secret(), kind, ...parts),
  networkHash: async (network) => keyedHash(await secret(), 'network', network).slice(0, NETWORK_LENGTH),
});
