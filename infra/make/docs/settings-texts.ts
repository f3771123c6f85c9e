/**
 * @module The meaning of each setting of the service, for docs/settings.md and `.env.example`. The texts are in a
 * separate module, so that no function contains them.
 */

import type { serviceFields, slotFields } from '../../../shared/core/settings.ts';

type Undocumented = `${string}SECRET_ARN` | 'TABLE_NAME' | 'EVENT_BUS_NAME';

export const SLOT_TEXTS: Readonly<Record<Exclude<keyof typeof slotFields, Undocumented>, string>> = {
  ADAPTER: 'the adapter of the slot; empty: off',
  BASE_URL: 'base URL of the provider; empty: live',
  SUBSCRIPTIONS: 'biller of new subscriptions: native (the provider) or service; empty: the adapter decides',
  API_KEY: 'Stripe: the secret key',
  PUBLISHABLE_KEY: 'Stripe: the publishable key, shown to browsers by GET /config',
  WEBHOOK_SECRET: 'Stripe: signing secrets of the webhook endpoints, separated by commas',
  CLIENT_ID: 'PayPal: the client id of the app',
  CLIENT_SECRET: 'PayPal: the client secret of the app',
  WEBHOOK_ID: 'PayPal: the id of the registered webhook',
  ACCESS_TOKEN: 'Square: the access token',
  APPLICATION_ID: 'Square: the application id, shown to browsers by GET /config',
  LOCATION_ID: 'Square: the id of the location',
  SIGNATURE_KEY: 'Square: signature keys of the webhook subscriptions, separated by commas',
  NOTIFICATION_URL: 'Square: notification URLs, exactly as registered',
  MERCHANT_ID: 'Braintree: the merchant id',
  PUBLIC_KEY: 'Braintree: the public key',
  PRIVATE_KEY: 'Braintree: the private key',
  FINGERPRINT_SECRET: 'the slot’s fingerprint key, deployed with the slot’s keys; empty: FINGERPRINT_SECRET',
  BACKGROUND_RATE: 'maximum calls per second of due work to the provider; never delays payers; 0: no limit',
  BACKGROUND_BURST: 'maximum calls of due work in a burst after a pause',
  STATEMENT_DESCRIPTOR:
    'the text on statements of this slot; empty: STATEMENT_DESCRIPTOR. Stripe: 5 to 22 characters, after the prefix of the account; PayPal: up to 22; Square: up to 20',
};

export const SERVICE_TEXTS: Readonly<Record<Exclude<keyof typeof serviceFields, Undocumented>, string>> = {
  STAGE: 'the stage (deployed default: dev); prod refuses settings for tests',
  PUBLIC_BASE_URL: "the service's public root URL, with its prefix; empty when deployed: the custom domain or the API",
  BASE_PATH: 'prefix of every route, such as /pay; deployed, under the custom domain only',
  CONSOLE: 'the console at /console; empty: on, except in prod',
  HEALTH_CHECK: 'requests the public GET /health every minute, with an alarm; empty: on in prod only',
  CONSOLE_SIGN_IN_URL:
    'your sign-in page for the console ([console.md](console.md)); empty: users enter a session ID or token',
  CONSOLE_OIDC_ISSUER:
    'the OpenID Connect issuer of the console’s sign-in, as in its discovery document ([identity.md](identity.md)); the IDENTITY settings must accept its tokens',
  CONSOLE_OIDC_CLIENT_ID: 'the public client of the console at CONSOLE_OIDC_ISSUER',
  ALLOWED_ORIGINS: 'origins of web pages that may call the API',
  IDENTITY_URL: 'base URL of the identity service ([identity.md](identity.md))',
  IDENTITY_LOOKUP:
    'off: no identity service; tokens and service keys name the users; IDENTITY_URL must be empty ([identity.md](identity.md))',
  IDENTITY_JWKS_URI: 'URL of the keys of bearer tokens (JWT); empty: no bearer token is accepted',
  IDENTITY_ISSUER: 'the accepted issuer of bearer tokens; prod requires one',
  IDENTITY_AUDIENCE:
    'accepted audiences of bearer tokens; without `aud`, `client_id` or else `azp` counts; empty: unchecked; prod requires one',
  IDENTITY_CLAIMS:
    'claims for `email`, `organization_id`, `is_admin` and `staff_role`, such as `is_admin=cognito:groups~admins,organization_id=custom:org` ([identity.md](identity.md)); empty: the same names',
  IDENTITY_EMAIL: 'optional: accepts bearer tokens without an e-mail address',
  IDENTITY_TIMEOUT_MS: 'time-out of a call to the identity service, then 503',
  ADMIN_USER_IDS: 'user ids of platform admins, also without `is_admin`',
  PROVIDER_TIMEOUT_MS: 'time-out of a call to a provider; at least 5 s below every calling function’s time-out',
  TRUSTED_EDGE_HEADER:
    "the proxy header that holds the client's address, such as cloudfront-viewer-address; trusted only with x-trusted-edge-secret",
  TRUSTED_EDGE_SECRET_SHA256: 'SHA-256, in hex, of the proxy’s x-trusted-edge-secret; several for a rotation',
  STATEMENT_DESCRIPTOR: "the text on payers' statements, at most 22 characters; empty: the account's text",
  GUEST_TOKEN_SECRET: 'secrets of guest tokens; the first signs, all are accepted; empty: no guest tokens',
  GUEST_TOKEN_TTL_SECONDS: 'lifetime of a guest token, in seconds',
  GUEST_CONTINUE_SECONDS:
    'seconds in which a guest without a token may use a new customer, method or address, by id and e-mail, from the same network; 0, or GUEST_EMAIL_LIST=full: never',
  GUEST_EMAIL_LIST: 'fields in lists by guest e-mail: few (minimal), all (full), or none without a token (token)',
  ID_SECRET: 'the secret behind ids; never rotated; empty: generated',
  FINGERPRINT_SECRET: 'the key of card fingerprints; a new key changes them; empty: no fingerprints',
  ALLOW_RAW_CARDS: 'accepts raw card fields; never in prod; empty: true with STAGE=local, else false',
  CARD_NUMBERS: 'card numbers in texts and metadata; token fields always refuse them',
  ALLOW_QUERY_SESSION: 'accepts session_id in the query',
  RATE_LIMITS:
    'limits the requests of each caller; off for load tests, never in prod; empty: off with STAGE=local, else on',
  KEY_DECLINES_PER_HOUR: 'declines per hour of a service key without X-Payer-Address; 0: no limit',
  SUPPORT_REFUND_LIMITS:
    'the largest sum of refunds by support on one payment, in minor units, such as `USD:10000,EUR:10000`; empty: none',
  DUNNING_DAYS:
    'days from a renewal’s first failure to each retry, ascending; only for subscriptions billed by the service',
  PLACE_HOLD_MINUTES: 'minutes until an unpaid payment with a limited discount code or payment link is canceled',
  HOSTED_PAGES: 'the hosted pages at `/pay` and their links; needs GUEST_TOKEN_SECRET; empty: on, except in prod',
  PAGE_NAME: 'the seller’s name on the hosted pages',
  PAGE_COLOR: 'the color of buttons on the hosted pages, such as `#0b6e4f`',
  PAGE_TERMS_URL: 'the seller’s terms, linked from the hosted pages',
  PAGE_PRIVACY_URL: 'the seller’s privacy statement, linked from the hosted pages',
  PAGE_RETURN_HOSTS: 'the hosts of accepted `return_url`s, each with its port if it has one; empty: none',
  DUNNING_FINAL_ACTION: 'action after the last failed retry; only for subscriptions billed by the service',
  RENEWAL_NOTICE_DAYS: 'days before a renewal for the notice `renewal_due`; 0: none',
  RENEWAL_NOTICE_MIN_MONTHS: 'the shortest billing interval with the notice `renewal_due`, in months',
  METHOD_NOTICE_DAYS: 'days before the end of a card’s last month for the notice `method_expiring`; 0: none',
  PLAN_CHANGE_UPGRADE: 'default time of a change to a plan of the same or a higher price',
  PLAN_CHANGE_DOWNGRADE:
    'default time of a change to a cheaper plan; with period_end, only the merchant may downgrade now',
  RUN_DUE_CONCURRENCY:
    'maximum parallel runs of due work; 60 allow 100 calls per second if responses take half a second',
  DUE_WORK: 'off: no renewal, lookup or erasure runs; for a [restore](restore.md)',
  CUSTOMER_DELETE_HISTORY: 'true: deleting a customer deletes its payments and subscriptions',
  EXTERNAL_WEBHOOK_MAX_RETRIES: 'retries of a delivery after its first attempt',
  EXTERNAL_WEBHOOK_RETRY_DELAY:
    'milliseconds before the first retry, doubled for each further retry, rounded up to whole seconds; at most 12 h',
  EXTERNAL_WEBHOOK_RETRY_SCHEDULE:
    'seconds before each retry, such as `5,30,120,900,3600,21600,86400`; at most 20 waits and 3 days; empty: EXTERNAL_WEBHOOK_MAX_RETRIES and EXTERNAL_WEBHOOK_RETRY_DELAY',
  EXTERNAL_WEBHOOK_TIMEOUT: 'milliseconds for one POST, with name resolution and response',
  EXTERNAL_WEBHOOK_ALLOW_PRIVATE: 'allows http URLs and private addresses',
};
