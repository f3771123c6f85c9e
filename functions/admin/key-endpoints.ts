import * as z from 'zod';
import {
  createKeyBody,
  keyParams,
  keyViewSchema,
  keyWithSecretSchema,
  listKeysQuery,
  rotateKeyBody,
  updateKeyBody,
} from '../../shared/admin/service-keys.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { cursorMeta } from '../../shared/queries/list-meta.ts';

const none = z.object({});

export const createKeyEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.create-key',
  method: 'POST',
  path: '/admin/keys',
  summary: 'Create a service key',
  description: `Creates a key for one of your backends, which sends it as \`Authorization: Bearer psk_…\`. The response shows the secret once; the
    service stores only its hash. Only the session of a platform admin may manage keys.`,
  auth: 'platform-admin',
  params: none,
  query: none,
  body: createKeyBody,
  response: () => keyWithSecretSchema,
  status: 201,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_KEY_REUSED'],
  idempotent: 'create',
  uses: ['table:read', 'table:keys', 'secrets:ids'],
}));

export const listKeysEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.list-keys',
  method: 'GET',
  path: '/admin/keys',
  summary: 'List service keys, newest first',
  description: 'Lists all keys, also expired and revoked ones, without their secrets.',
  auth: 'platform-admin',
  params: none,
  query: listKeysQuery,
  body: null,
  response: () => z.array(keyViewSchema),
  meta: () => cursorMeta,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
}));

export const getKeyEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.get-key',
  method: 'GET',
  path: '/admin/keys/{id}',
  summary: 'Get a service key',
  description: 'Shows the scopes of a key, its status, and when it was last used.',
  auth: 'platform-admin',
  params: keyParams,
  query: none,
  body: null,
  response: () => keyViewSchema,
  status: 200,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND'],
  uses: ['table:read'],
}));

export const updateKeyEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.update-key',
  method: 'PATCH',
  path: '/admin/keys/{id}',
  summary: 'Change the name, scopes, addresses or expiry of a service key',
  description: 'New scopes take effect within five seconds. A later expiry makes an expired key active again.',
  auth: 'platform-admin',
  params: keyParams,
  query: none,
  body: updateKeyBody,
  sentBack: { changedBy: { prefix: 'POST /admin/keys/{id}/rotate', status: 'DELETE /admin/keys/{id}' } },
  response: () => keyViewSchema,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'INVALID_STATE', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:keys'],
}));

export const rotateKeyEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.rotate-key',
  method: 'POST',
  path: '/admin/keys/{id}/rotate',
  summary: 'Make a new secret for a service key',
  description: `Shows the new secret once. The current secret stays valid for \`grace_seconds\`, so that you can deploy
    the new secret first. At most two former secrets are valid; a third rotation ends the oldest, and a rotation with
    \`grace_seconds\` 0 ends all former secrets.`,
  auth: 'platform-admin',
  params: keyParams,
  query: none,
  body: rotateKeyBody,
  response: () => keyWithSecretSchema,
  status: 200,
  form: 'envelope',
  errors: [
    'VALIDATION_ERROR',
    'RESOURCE_NOT_FOUND',
    'INVALID_STATE',
    'VERSION_CONFLICT',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
  ],
  idempotent: 'noted',
  uses: ['table:read', 'table:keys'],
}));

export const revokeKeyEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.revoke-key',
  method: 'DELETE',
  path: '/admin/keys/{id}',
  summary: 'Revoke a service key',
  description: 'Ends the key and all its secrets within five seconds. The record stays for 400 days, as revoked.',
  auth: 'platform-admin',
  params: keyParams,
  query: none,
  body: null,
  response: null,
  status: 204,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:keys'],
}));

/** In the API document, rotation precedes revocation, because the example of a rotation fails with a revoked key. */
export const keyEndpoints = [
  createKeyEndpoint,
  listKeysEndpoint,
  rotateKeyEndpoint,
  getKeyEndpoint,
  updateKeyEndpoint,
  revokeKeyEndpoint,
];
