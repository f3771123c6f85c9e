/** @module Claims in the form of tokens from Cognito, Auth0, Clerk and Keycloak. */

type Claims = Readonly<Record<string, unknown>>;

const COGNITO_POOL = 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example';

export const COGNITO_ID: Claims = {
  sub: '7c1f0a52-6f1e-4b7e-8d41-2f54a1c4e001',
  iss: COGNITO_POOL,
  aud: '1example23456789',
  token_use: 'id',
  email: 'Ada@Example.com',
  email_verified: true,
  'cognito:username': 'ada',
  'cognito:groups': ['admins', 'support'],
  'custom:org': 'org_1',
};

/** Cognito's access tokens have neither `aud` nor `email`. */
export const COGNITO_ACCESS: Claims = {
  sub: '7c1f0a52-6f1e-4b7e-8d41-2f54a1c4e001',
  iss: COGNITO_POOL,
  client_id: '1example23456789',
  token_use: 'access',
  scope: 'openid email',
  username: 'ada',
  'cognito:groups': ['admins'],
};

export const AUTH0_ID: Claims = {
  sub: 'auth0|5f7c8ec7c33c6c004bbafe82',
  iss: 'https://shop.eu.auth0.com/',
  aud: 'abcdefClientId',
  email: 'ada@example.com',
  org_id: 'org_2eondWoxcMIpaLQc',
  'https://example.com/role': 'finance',
};

/** An access token for both an API and Auth0's own `/userinfo`. */
export const AUTH0_ACCESS: Claims = {
  sub: 'auth0|5f7c8ec7c33c6c004bbafe82',
  iss: 'https://shop.eu.auth0.com/',
  aud: ['https://payments.example.com', 'https://shop.eu.auth0.com/userinfo'],
  azp: 'abcdefClientId',
  scope: 'openid profile email',
  'https://example.com/role': 'finance',
  'https://example.com/email': 'ada@example.com',
};

/** Clerk's session token, version 2. It has no `aud`; `azp` is the origin of the page. */
export const CLERK: Claims = {
  sub: 'user_2NNEqL2nrIRdJ194ndJqAHwEfxC',
  iss: 'https://clerk.example.com',
  azp: 'https://shop.example.com',
  sid: 'sess_2NNEqL2nrIRdJ194ndJqAHwEfxD',
  v: 2,
  o: { id: 'org_2NNEqL2nrIRdJ194ndJqAHwEfxE', rol: 'admin', slg: 'acme' },
};

export const KEYCLOAK_ACCESS: Claims = {
  sub: 'f5a3c1de-1111-4222-8333-944445555666',
  iss: 'https://sso.example.com/realms/shop',
  aud: 'account',
  azp: 'payments-console',
  typ: 'Bearer',
  email: 'ada@example.com',
  preferred_username: 'ada',
  realm_access: { roles: ['offline_access', 'payments-admin'] },
  resource_access: { payments: { roles: ['finance'] } },
  organization: { acme: { id: '0f6f' } },
};
