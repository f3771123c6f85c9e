/**
 * @module The scopes of every route with a credential, and the scopes of the staff roles. The tables are written by
 * hand and not read from the service. keys-matrix.long.test.ts sends the requests.
 */

import { endpoints } from '../../../functions/api/catalogue.ts';
import { ALL_SCOPES } from '../keys.ts';

/**
 * `get` reads a record. `list` reads the list of one owner. `create` makes a record, also for a guest. `write` changes
 * a payer's record. `act` changes any record. `all` names no owner's record. `ask` makes no record, and is allowed to
 * every payer, also to a guest. `open` is allowed to everyone with a credential. `keys` accepts only a platform admin's
 * session, and `page` only the token of a hosted page.
 */
export type How = 'get' | 'list' | 'create' | 'write' | 'act' | 'all' | 'ask' | 'open' | 'keys' | 'page';

/** The route, the merchant's scope, the payer's scope, `How`, and the merchant's scope for keys if it differs. */
const TABLE = `
POST   /payments/intents                        | -                    | payments:write      | create
POST   /payments                                | -                    | payments:write      | create
PUT    /payments/intents/{id}                   | -                    | payments:write      | write
POST   /payments/confirm/{id}                   | -                    | payments:write      | write
POST   /payments/intents/{id}/cancel            | payments:operate     | payments:write      | act
POST   /payments/sync/{provider_payment_id}     | payments:operate     | -                   | act
GET    /payments/{id}                           | payments:read        | payments:read       | get
GET    /payments/{id}/timeline                  | payments:read        | payments:read       | get
GET    /payments                                | payments:read        | payments:read       | list
GET    /payments/summary                        | payments:read        | payments:read       | list
POST   /payments/{id}/capture                   | payments:capture     | -                   | act
PATCH  /payments/{id}                           | payments:operate     | -                   | act     | payments:write
POST   /payments/{id}/link                      | links:write          | -                   | act
POST   /payments/{id}/refunds                   | refunds:write        | -                   | act
GET    /payments/{id}/refunds                   | payments:read        | payments:read       | get
GET    /refunds/{id}                            | payments:read        | payments:read       | get
GET    /refunds                                 | payments:read        | -                   | all
GET    /payments/{id}/disputes                  | payments:read        | payments:read       | get
GET    /disputes                                | payments:read        | -                   | all
POST   /discounts/check                         | -                    | payments:write      | ask
GET    /products                                | subscriptions:read   | subscriptions:read  | open
POST   /payment-methods                         | -                    | methods:write       | create
GET    /payment-methods/{id}                    | customers:read       | customers:read      | get
GET    /payment-methods                         | customers:read       | customers:read      | list
PUT    /payment-methods/{id}                    | -                    | methods:write       | write
PATCH  /payment-methods/{id}/billing-address    | -                    | methods:write       | write
POST   /payment-methods/{id}/set-default        | -                    | methods:write       | write
DELETE /payment-methods/{id}                    | -                    | methods:write       | write
POST   /customers                               | -                    | methods:write       | create
GET    /customers/{id}                          | customers:read       | customers:read      | get
GET    /customers                               | customers:read       | customers:read      | list
PUT    /customers/{id}                          | -                    | methods:write       | write
DELETE /customers/{id}                          | -                    | methods:write       | write
POST   /addresses                               | -                    | methods:write       | create
GET    /addresses/{id}                          | customers:read       | customers:read      | get
GET    /addresses                               | customers:read       | customers:read      | list
PUT    /addresses/{id}                          | -                    | methods:write       | write
POST   /addresses/{id}/set-default              | -                    | methods:write       | write
DELETE /addresses/{id}                          | -                    | methods:write       | write
POST   /subscriptions                           | -                    | subscriptions:write | create
GET    /subscriptions/{id}                      | subscriptions:read   | subscriptions:read  | get
GET    /subscriptions/{id}/timeline             | subscriptions:read   | subscriptions:read  | get
GET    /subscriptions                           | subscriptions:read   | subscriptions:read  | list
PATCH  /subscriptions/{id}                      | -                    | subscriptions:write | write
PATCH  /subscriptions/{id}/billing-address      | -                    | subscriptions:write | write
POST   /subscriptions/{id}/cancel               | subscriptions:operate| subscriptions:write | act
POST   /subscriptions/{id}/reactivate           | -                    | subscriptions:write | write
POST   /subscriptions/{id}/pause                | -                    | subscriptions:write | write
POST   /subscriptions/{id}/resume               | -                    | subscriptions:write | write
POST   /subscriptions/{id}/change               | subscriptions:operate| subscriptions:write | act
POST   /subscriptions/{id}/change/preview       | subscriptions:operate| subscriptions:write | act
DELETE /subscriptions/{id}/change               | subscriptions:operate| subscriptions:write | act
POST   /subscriptions/{id}/link                 | links:write          | -                   | act
GET    /memberships/{id}                        | subscriptions:read   | subscriptions:read  | get
GET    /memberships                             | subscriptions:read   | subscriptions:read  | list
POST   /organizations                           | -                    | organizations:write | create
GET    /organizations                           | -                    | customers:read      | list
GET    /organizations/{id}                      | customers:read       | customers:read      | get
PUT    /organizations/{id}                      | -                    | organizations:write | write
DELETE /organizations/{id}                      | -                    | organizations:write | write
GET    /organizations/{id}/members              | customers:read       | customers:read      | get
POST   /organizations/{id}/members              | -                    | organizations:write | write
PUT    /organizations/{id}/members/{memberId}   | -                    | organizations:write | write
DELETE /organizations/{id}/members/{memberId}   | -                    | organizations:write | write
POST   /organizations/{id}/leave                | -                    | organizations:write | write
POST   /payment-links                           | links:write          | -                   | all
GET    /payment-links                           | links:write          | -                   | all
GET    /payment-links/{id}                      | links:write          | -                   | all
PATCH  /payment-links/{id}                      | links:write          | -                   | all
DELETE /payment-links/{id}                      | links:write          | -                   | all
GET    /pay/state                               | -                    | -                   | page
POST   /pay/start                               | -                    | -                   | page
POST   /pay/confirm                             | -                    | -                   | page
POST   /pay/method                              | -                    | -                   | page
POST   /pay/cancel                              | -                    | -                   | page
POST   /pay/keep                                | -                    | -                   | page
GET    /webhooks/logs                           | webhooks:read        | -                   | all
GET    /webhooks/logs/{id}                      | webhooks:read        | -                   | get
POST   /webhooks/test                           | webhooks:write       | -                   | all
POST   /webhooks/logs/{id}/replay               | webhooks:write       | -                   | act
GET    /admin/payments                          | payments:read        | -                   | all
GET    /admin/subscriptions                     | subscriptions:read   | -                   | all
GET    /admin/customers                         | customers:read       | -                   | all
GET    /admin/export/payments                   | payments:read        | -                   | all
GET    /admin/export/refunds                    | payments:read        | -                   | all
GET    /admin/search                            | payments:read        | -                   | all
GET    /admin/summary                           | payments:read        | -                   | all
POST   /admin/cache/clear                       | admin:cache          | -                   | all
POST   /admin/erasures                          | admin:erasures       | -                   | all
GET    /admin/erasures/{id}                     | admin:erasures       | -                   | all
GET    /admin/persons/{id}/export               | admin:erasures       | -                   | all
POST   /admin/imports                           | imports:write        | -                   | all
PUT    /admin/{kind}/{id}                       | catalog:write        | -                   | all
GET    /admin/{kind}/{id}                       | catalog:write        | -                   | all
DELETE /admin/{kind}/{id}                       | catalog:write        | -                   | all
GET    /admin/{kind}                            | catalog:write        | -                   | all
POST   /admin/keys                              | -                    | -                   | keys
GET    /admin/keys                              | -                    | -                   | keys
GET    /admin/keys/{id}                         | -                    | -                   | keys
PATCH  /admin/keys/{id}                         | -                    | -                   | keys
POST   /admin/keys/{id}/rotate                  | -                    | -                   | keys
DELETE /admin/keys/{id}                         | -                    | -                   | keys
`;

export const STAFF_SCOPES: Readonly<Record<string, readonly string[]>> = {
  support: [
    ...['payments:read', 'subscriptions:read', 'customers:read', 'payments:operate', 'refunds:write'],
    ...['links:write', 'webhooks:read'],
  ],
  finance: [
    ...['payments:read', 'subscriptions:read', 'customers:read', 'payments:capture', 'refunds:write'],
    ...['links:write', 'subscriptions:operate'],
  ],
  operations: [
    ...['payments:read', 'subscriptions:read', 'payments:operate', 'payments:capture', 'subscriptions:operate'],
    ...['links:write', 'catalog:write', 'webhooks:read', 'webhooks:write', 'admin:cache'],
  ],
  admin: ALL_SCOPES,
};

export interface ScopeRow {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly merchant: string | undefined;
  readonly payer: string | undefined;
  readonly how: How;
  /** The merchant's scope for keys. */
  readonly keys: string | undefined;
}

const scopeIn = (text: string | undefined): string | undefined => (text === '-' ? undefined : text);

export const SCOPE_ROWS: readonly ScopeRow[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [call = '', merchant, payer, how, keys = merchant] = line.split('|').map((cell) => cell.trim());
    const [method = '', path = ''] = call.split(/ +/);
    const id = endpoints.find((endpoint) => endpoint.method === method && endpoint.path === path)?.id;
    if (id === undefined) throw new Error(`the catalogue has no route ${call}`);
    return {
      ...{ id, method, path, how: how as How },
      ...{ merchant: scopeIn(merchant), payer: scopeIn(payer), keys: scopeIn(keys) },
    };
  });
