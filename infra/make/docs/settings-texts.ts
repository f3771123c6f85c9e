/**
 * @module What each setting of the service means, for docs/settings.md and `.env.example`. Apart from the settings, so that
 * no function carries the texts.
 */

import type { serviceFields, slotFields } from '../../../shared/core/settings.ts';

type Undocumented = `${string}SECRET_ARN` | 'TABLE_NAME' | 'EVENT_BUS_NAME';

export const SLOT_TEXTS: Readonly<Record<Exclude<keyof typeof slotFields, Undocumented>, string>> = {
  ADAPTER: 'the adapter of the slot; empty: the slot is off',
  BASE_URL: 'base URL of the provider; empty: the live provider',
  SUBSCRIPTIONS:
    'who bills new subscriptions: native (the provider) or service; empty: the adapter decides; existing subscriptions keep their biller',
  API_KEY: 'Stripe: the secret key',
  PUBLISHABLE_KEY: 'Stripe: the publishable key, shown to browsers by GET /config',
  WEBHOOK_SECRET:
    'Stripe: the signing secret of the webhook endpoint; separate several secrets by commas, for several endpoints or a rotation',
  CLIENT_ID: 'PayPal: the client id of the app',
  CLIENT_SECRET: 'PayPal: the client secret of the app',
  WEBHOOK_ID: 'PayPal: the id of the registered webhook',
  ACCESS_TOKEN: 'Square: the access token',
  APPLICATION_ID: 'Square: the application id, shown to browsers by GET /config',
  LOCATION_ID: 'Square: the id of the location',
  SIGNATURE_KEY:
    'Square: the signature key of the webhook subscription; separate the keys of several subscriptions by commas',
  NOTIFICATION_URL: 'Square: the notification URLs, exactly as registered at Square',
  MERCHANT_ID: 'Braintree: the merchant id',
  PUBLIC_KEY: 'Braintree: the public key',
  PRIVATE_KEY: 'Braintree: the private key',
  FINGERPRINT_SECRET:
    'the key of the fingerprints of this slot; empty: FINGERPRINT_SECRET; deployed, it is stored with the keys of the slot',
  BACKGROUND_RATE:
    "maximum calls per second that renewals and other due work make to the provider; leave the rest of the provider's limit for the requests of payers, which this setting never delays; 0: no limit",
  BACKGROUND_BURST: 'calls that due work may make in one burst after a pause, above BACKGROUND_RATE',
  STATEMENT_DESCRIPTOR:
    'the text on statements of this slot; empty: STATEMENT_DESCRIPTOR. Stripe: 5 to 22 characters, after the prefix of the account; PayPal: up to 22; Square: up to 20',
};

export const SERVICE_TEXTS: Readonly<Record<Exclude<keyof typeof serviceFields, Undocumented>, string>> = {
  STAGE: 'the stage (deployed default: dev); prod refuses settings that only tests may use',
  PUBLIC_BASE_URL:
    "the service's public root URL, with its prefix; empty when deployed: the URL of the custom domain or of the API",
  BASE_PATH: 'prefix of every route, such as /pay; deployed, it applies under the custom domain only',
  CONSOLE: 'the console at /console: on or off; empty: on, except in prod',
  HEALTH_CHECK:
    'a function of the stage asks its public address for GET /health every minute, and an alarm reports that it is unhealthy: on or off; empty: on in prod only',
  CONSOLE_SIGN_IN_URL:
    'the sign-in page to which the console sends users, with `return_to` in the query; the page must send users back to the unchanged `return_to`, which contains a random `state`, with `#session_id=` added; empty: users enter a session ID or token',
  CONSOLE_OIDC_ISSUER:
    'the OpenID Connect issuer that signs users of the console in, exactly as its discovery document names it; its tokens must be accepted by IDENTITY_JWKS_URI, IDENTITY_ISSUER and IDENTITY_AUDIENCE; empty: no such sign-in ([identity.md](identity.md))',
  CONSOLE_OIDC_CLIENT_ID: 'the public client of the console at CONSOLE_OIDC_ISSUER',
  ALLOWED_ORIGINS: 'origins from which browsers may call',
  IDENTITY_URL:
    'base URL of the identity service, which serves GET /sessions/{id}, GET /users?email= and POST /users/lookup',
  IDENTITY_LOOKUP:
    'off: no identity service; users are known by their tokens and by the ids that service keys send; IDENTITY_URL must be empty ([identity.md](identity.md))',
  IDENTITY_JWKS_URI: 'URL of the keys that verify bearer tokens (JWT); empty: no bearer token is accepted',
  IDENTITY_ISSUER: 'the required issuer of bearer tokens; prod requires one',
  IDENTITY_AUDIENCE:
    'the audiences of bearer tokens, one of which is required; of a token without `aud`, `client_id` or else `azp` counts; empty: the audience is not checked; prod requires one',
  IDENTITY_CLAIMS:
    'claims of bearer tokens from which `email`, `organization_id`, `is_admin` and `staff_role` are read, such as `is_admin=cognito:groups~admins,organization_id=custom:org`; dots lead into nested claims; empty: claims of the same names ([identity.md](identity.md))',
  IDENTITY_EMAIL: 'optional: bearer tokens without an e-mail address are accepted',
  IDENTITY_TIMEOUT_MS: 'time-out of a call to the identity service; after it the request fails with 503',
  ADMIN_USER_IDS: 'user ids of platform admins, in addition to users whose session marks them as platform admins',
  PROVIDER_TIMEOUT_MS:
    'time-out of a call to a provider; at least 5 s below the time-out of every function that calls a provider',
  TRUSTED_EDGE_HEADER:
    "header with the client's address from a proxy before the API, such as cloudfront-viewer-address; trusted only together with the header x-trusted-edge-secret",
  TRUSTED_EDGE_SECRET_SHA256:
    'SHA-256, in hex, of the secret that the proxy sends in x-trusted-edge-secret; several hashes are accepted, so the secret can be rotated',
  STATEMENT_DESCRIPTOR:
    "the text on payers' statements, at most 22 characters by each provider's rules; empty: the text of the account",
  GUEST_TOKEN_SECRET:
    'secrets of guest tokens; the first secret signs and all are accepted, so the secret can be rotated; empty: no guest tokens',
  GUEST_TOKEN_TTL_SECONDS: 'lifetime of a guest token',
  GUEST_CONTINUE_SECONDS:
    'seconds after the creation of a customer, payment method or address during which its guest may continue without the token, with our id of that record and the same e-mail address, from the network that created it; 0 turns this off, as GUEST_EMAIL_LIST=full does',
  GUEST_EMAIL_LIST:
    'fields that lists by guest e-mail show: few (minimal), all (full), or none without a token (token)',
  ID_SECRET: 'the key of ids; never rotated; empty: a deployment or a local host makes one',
  FINGERPRINT_SECRET:
    'the key from which the fingerprints of cards are derived; a new key gives every card a new fingerprint; empty: no fingerprints',
  ALLOW_RAW_CARDS:
    'accepts raw card fields for payment methods; never in prod; empty: true with STAGE=local, else false',
  CARD_NUMBERS:
    'whether to refuse a text or metadata that contains a card number; a field for a token always refuses a card number',
  ALLOW_QUERY_SESSION: 'accepts the credential session_id in the query',
  RATE_LIMITS:
    'limits the requests of each caller; off for load and matrix tests, never in prod; empty: off with STAGE=local, else on',
  KEY_DECLINES_PER_HOUR: 'declines per hour behind one service key that names no X-Payer-Address; 0: no limit',
  SUPPORT_REFUND_LIMITS:
    'the largest sum of refunds that support may reach on one payment, in minor units of each currency, such as `USD:10000,EUR:10000`; empty: support does not refund',
  DUNNING_DAYS:
    'days after the first failure of a renewal on which the charge is retried, ascending; only for subscriptions that the service bills, because Stripe has its own retry settings',
  PLACE_HOLD_MINUTES:
    'minutes after which an unpaid payment that holds a place of a limited discount code or payment link is canceled, so that its place is free again',
  HOSTED_PAGES:
    'serves the hosted pages of `/pay` and their links; needs GUEST_TOKEN_SECRET; empty: off in prod, else on',
  PAGE_NAME: 'the name of the seller on the hosted pages',
  PAGE_COLOR: 'the color of buttons on the hosted pages, such as `#0b6e4f`',
  PAGE_TERMS_URL: 'the terms to which the hosted pages link',
  PAGE_PRIVACY_URL: 'the privacy statement to which the hosted pages link',
  PAGE_RETURN_HOSTS:
    'the hosts that the `return_url` of a hosted page may name, each with its port if it has one; empty: no `return_url` is accepted',
  DUNNING_FINAL_ACTION: 'action on a subscription after the last retry; only if the service bills the subscription',
  RENEWAL_NOTICE_DAYS:
    'days before a renewal on which `subscription.updated` with the reason `renewal_due` is sent; 0 sends none',
  RENEWAL_NOTICE_MIN_MONTHS: 'the shortest interval of a subscription, in months, whose renewals have this notice',
  METHOD_NOTICE_DAYS:
    'days before the end of the month of a card on which `subscription.updated` with the reason `method_expiring` is sent for each active subscription that charges it; 0 sends none',
  PLAN_CHANGE_UPGRADE: 'when a change to a plan that costs the same or more takes effect, if the request does not say',
  PLAN_CHANGE_DOWNGRADE:
    'when a change to a cheaper plan takes effect, if the request does not say; with period_end only the merchant may let it take effect now',
  RUN_DUE_CONCURRENCY:
    'maximum number of renewals and other due work that run at the same time; 60 make 100 calls per second to a provider that responds within half a second',
  DUE_WORK:
    'off: no renewal is charged, no unknown outcome is looked up and no erasure runs until it is on again; for the time between a restore of the table and the comparison with the providers',
  CUSTOMER_DELETE_HISTORY: 'deleting a customer deletes its payments and subscriptions too',
  EXTERNAL_WEBHOOK_MAX_RETRIES: 'retries after the first attempt',
  EXTERNAL_WEBHOOK_RETRY_DELAY:
    'milliseconds before the first retry, doubled for each further retry, rounded up to whole seconds; at most 12 h',
  EXTERNAL_WEBHOOK_RETRY_SCHEDULE:
    'seconds before each retry, instead of the two settings above, such as `5,30,120,900,3600,21600,86400`; at most 20 waits of together 3 days; empty: the two settings above',
  EXTERNAL_WEBHOOK_TIMEOUT: 'milliseconds for one POST, including name resolution and the response',
  EXTERNAL_WEBHOOK_ALLOW_PRIVATE: 'allows targets at http URLs and at private addresses',
};
