/** @module Builds the dependencies of functions, each at its first use. A function builds only what it uses. */

import { randomBytes } from 'node:crypto';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { authenticator } from './access/authenticate.ts';
import { cacheEpoch } from './access/cache-epoch.ts';
import { findGuest } from './access/find-guest.ts';
import { guestTokens } from './access/guest-token.ts';
import { serviceKeys } from './access/identify-key.ts';
import { identityClient } from './access/identity.ts';
import { linkTokens } from './access/link-token.ts';
import { standings } from './access/standing.ts';
import { signInOrigins } from './console/sign-in-origins.ts';
import { type SecretPurpose, secretsFor } from './core/capabilities.ts';
import { type IdKind, randomId } from './core/ids.ts';
import { type KeyedIds, keyedIds } from './core/keyed-ids.ts';
import { errorFields } from './core/logger.ts';
import { listSetting } from './core/setting.ts';
import {
  isWeakGuestSecret,
  PAYMENT_SLOTS,
  type ProviderSlot,
  type SlotSettings,
  WEAK_GUEST_SECRET,
} from './core/settings.ts';
import { MINUTE_MS } from './core/time.ts';
import { demoId, environment, holds, log, now, perHost, perInstance, queues, settings, table } from './host.ts';
import { pageSettings } from './hosted-pages/page-settings.ts';
import type { ChainDeps } from './http/exchange.ts';
import { openSecretsManager } from './platform/aws-clients.ts';
import { fetchOverHttp } from './platform/fetch.ts';
import { openCallRate } from './providers/call-rate.ts';
import { openProviders, openReceivers } from './providers/registry.ts';
import { openPost } from './webhooks/post-webhook.ts';
import { parseTargets, type Target } from './webhooks/webhook-targets.ts';

const newSecret = (): string => randomBytes(32).toString('base64url');
const newId = (kind: IdKind): string => randomId(kind, () => randomBytes(12));

const SECRET_CACHE_MS = 5 * MINUTE_MS;
/** If a cached secret cannot be read again, it stays in use, and the next read follows after this time. */
const SECRET_RETRY_MS = MINUTE_MS;
/** These errors mean that the secret or the right to read it was removed, so the cached value must not be used. */
const WITHDRAWN: readonly string[] = ['ResourceNotFoundException', 'InvalidRequestException', 'AccessDeniedException'];
const isWithdrawn = (error: unknown): boolean => error instanceof Error && WITHDRAWN.includes(error.name);
const secrets = /* @__PURE__ */ perInstance(() => {
  const client = openSecretsManager({ env: environment() });
  const cache = new Map<string, { readonly text: string; readonly until: number }>();
  return async (arn: string, keptMs = SECRET_CACHE_MS): Promise<string> => {
    const known = cache.get(arn);
    if (known && known.until > now()) return known.text;
    try {
      const { SecretString: text = '' } = await client.send(new GetSecretValueCommand({ SecretId: arn }));
      cache.set(arn, { text, until: now() + keptMs });
      return text;
    } catch (error) {
      if (!known || isWithdrawn(error)) throw error;
      log().error('secret not read again', errorFields(error));
      cache.set(arn, { text: known.text, until: now() + SECRET_RETRY_MS });
      return known.text;
    }
  };
});

/** In prod, weak secrets neither sign nor verify. Guest tokens are off if no strong secret is left. */
const guestSecrets = /* @__PURE__ */ perInstance(() => {
  let logged = '';
  return async (): Promise<readonly string[]> => {
    const { STAGE, GUEST_TOKEN_SECRET, GUEST_TOKEN_SECRET_ARN: arn } = settings();
    if (!holds('secrets:guest-tokens')) return [];
    const given = arn === '' ? GUEST_TOKEN_SECRET : listSetting().value(await secrets()(arn));
    if (STAGE !== 'prod' || !given.some(isWeakGuestSecret)) return given;
    if (logged !== given.join()) log().error('guest token secret refused', { reason: WEAK_GUEST_SECRET });
    logged = given.join();
    return given.filter((secret) => !isWeakGuestSecret(secret));
  };
});

const guests = /* @__PURE__ */ perInstance(() =>
  guestTokens({
    secrets: guestSecrets(),
    ttlSeconds: settings().GUEST_TOKEN_TTL_SECONDS,
    now,
  }),
);

const links = /* @__PURE__ */ perInstance(() =>
  linkTokens({ secrets: async () => (settings().HOSTED_PAGES ? guestSecrets()() : []), now }),
);

/** @throws Error without a secret, so no id is ever made under a guessable key */
const idSecret = /* @__PURE__ */ perInstance(() => async (): Promise<string> => {
  const { ID_SECRET, ID_SECRET_ARN: arn } = settings();
  const secret = holds('secrets:ids') ? (arn === '' ? ID_SECRET : await secrets()(arn)) : '';
  if (secret === '') throw new Error('this function has no ID_SECRET');
  return secret;
});

const ids = /* @__PURE__ */ perInstance((): KeyedIds => {
  const keyed = keyedIds(idSecret());
  return { ...keyed, idOf: async (kind, ...parts) => demoId(kind, parts) ?? keyed.idOf(kind, ...parts) };
});

const secretTexts = (json: string): Readonly<Record<string, string>> =>
  z.record(z.string(), z.string()).parse(JSON.parse(json || '{}'));

/** The settings of a slot, with the secrets for one purpose. Undefined if the function may not read those secrets. */
const withSecretsFor = (purpose: SecretPurpose) => {
  const filled = new Map<ProviderSlot, { readonly text: string; readonly settings: SlotSettings }>();
  return async (slot: ProviderSlot): Promise<SlotSettings | undefined> => {
    if (!mayRead(purpose, slot)) return undefined;
    const given = settings().slots[slot];
    const arn = purpose === 'calls' ? given.SECRET_ARN : given.SIGNATURE_SECRET_ARN;
    const text = arn === '' ? '' : await secrets()(arn);
    const known = filled.get(slot);
    if (known?.text === text) return known.settings;
    const merged = secretsFor(purpose, { ...given, ...secretTexts(text) });
    filled.set(slot, { text, settings: merged });
    return merged;
  };
};

const mayRead = (purpose: SecretPurpose, slot: ProviderSlot): boolean =>
  purpose === 'calls'
    ? holds(`secrets:${slot}`)
    : PAYMENT_SLOTS.some((known) => known === slot && holds(`signatures:${known}`));

const registryOptions = () => ({
  slots: settings().slots,
  timeoutMs: settings().PROVIDER_TIMEOUT_MS,
  fetch: fetchOverHttp,
  log: log(),
});
const providers = /* @__PURE__ */ perInstance(() =>
  openProviders({ ...registryOptions(), withSecrets: withSecretsFor('calls') }),
);
const receivers = /* @__PURE__ */ perInstance(() =>
  openReceivers({ ...registryOptions(), withSecrets: withSecretsFor('events') }),
);

/** Limits the rate of provider calls by due work. Payers' requests are never counted or delayed. */
const callRate = /* @__PURE__ */ perInstance(() =>
  openCallRate({
    table: table(),
    now,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    limitOf: (slot) => {
      const { BACKGROUND_RATE: callsPerSecond, BACKGROUND_BURST: burst } = settings().slots[slot];
      return { callsPerSecond, burst };
    },
  }),
);
const dueProviders = /* @__PURE__ */ perInstance(() =>
  openProviders({ ...registryOptions(), withSecrets: withSecretsFor('calls'), onCall: callRate().count }),
);

const TARGETS_CACHE_MS = MINUTE_MS;
const webhookTargets = /* @__PURE__ */ perInstance(() => {
  let known: { readonly text: string; readonly targets: readonly Target[] } | undefined;
  return async (): Promise<readonly Target[]> => {
    const { WEBHOOKS_SECRET_ARN: arn, EXTERNAL_WEBHOOK_ALLOW_PRIVATE: allowPrivate, STAGE: stage } = settings();
    if (!holds('secrets:webhooks')) return [];
    const text = arn === '' ? '' : await secrets()(arn, TARGETS_CACHE_MS);
    if (known?.text !== text || known === undefined) {
      const env = arn === '' ? environment() : secretTexts(text);
      known = { text, targets: parseTargets(env, allowPrivate, stage) };
    }
    return known.targets;
  };
});

const post = /* @__PURE__ */ perHost(() =>
  openPost({
    timeoutMs: settings().EXTERNAL_WEBHOOK_TIMEOUT,
    allowPrivate: settings().EXTERNAL_WEBHOOK_ALLOW_PRIVATE,
  }),
);

const identity = /* @__PURE__ */ perInstance(() =>
  identityClient({
    url: settings().IDENTITY_URL,
    looksUp: settings().IDENTITY_LOOKUP === 'on',
    jwksUri: settings().IDENTITY_JWKS_URI,
    issuer: settings().IDENTITY_ISSUER,
    audiences: settings().IDENTITY_AUDIENCE,
    claims: settings().IDENTITY_CLAIMS,
    needsEmail: settings().IDENTITY_EMAIL === 'required',
    timeoutMs: settings().IDENTITY_TIMEOUT_MS,
    now,
  }),
);

const edge = /* @__PURE__ */ perHost(() => {
  const { TRUSTED_EDGE_HEADER: header, TRUSTED_EDGE_SECRET_SHA256: secretHashes } = settings();
  return header === '' ? undefined : { header, secretHashes };
});

const epoch = /* @__PURE__ */ perInstance(() => cacheEpoch({ table: table(), now }));

const standing = /* @__PURE__ */ perInstance(() => standings({ table: table(), now, epoch: epoch() }));

/** The dependencies of every use case and of due work. */
const coreDeps = () => ({ table: table(), log: log(), now, newId, ids: ids() });

const chain = (): ChainDeps => ({
  ...coreDeps(),
  standings: standing(),
  callers: authenticator({
    identity: identity(),
    keys: serviceKeys({ table: table(), now }),
    guestTokens: guests(),
    guestOf: (guestId) => findGuest(table(), guestId),
    adminUserIds: settings().ADMIN_USER_IDS,
    allowQuerySession: settings().ALLOW_QUERY_SESSION,
    epoch: epoch(),
    now,
  }),
  linkTokens: links(),
  // The setting `full` shows everyone the ids of methods and customers, so knowing an id proves nothing.
  guestContinueSeconds: settings().GUEST_EMAIL_LIST === 'full' ? 0 : settings().GUEST_CONTINUE_SECONDS,
  rateLimits: settings().RATE_LIMITS,
  keyDeclinesPerHour: settings().KEY_DECLINES_PER_HOUR,
  allowsCardNumbers: settings().CARD_NUMBERS === 'allow',
  edge: edge(),
});

/** The dependencies of use cases that call no provider. */
export const webDeps = /* @__PURE__ */ perInstance(() => ({ ...coreDeps(), guestTokens: guests(), chain: chain() }));

/** The dependencies of use cases that look up users. */
export const userDeps = /* @__PURE__ */ perInstance(() => ({ ...webDeps(), identity: identity() }));

/** The dependencies of use cases that show or send entries of the webhook log. */
export const logDeps = /* @__PURE__ */ perInstance(() => ({ ...webDeps(), standings: standing() }));

/** The dependencies of clearing the caches. */
export const cacheDeps = /* @__PURE__ */ perInstance(() => ({ ...webDeps(), epoch: epoch() }));

/** The dependencies of listing a guest's records by e-mail address. */
export const guestListDeps = /* @__PURE__ */ perInstance(() => ({
  ...webDeps(),
  guestEmailList: settings().GUEST_EMAIL_LIST,
}));

/** The dependencies of use cases that create secrets of service keys. */
export const keyDeps = /* @__PURE__ */ perInstance(() => ({ ...webDeps(), newSecret }));

/** The dependencies of the use case that shows the caller. */
export const meDeps = /* @__PURE__ */ perInstance(() => ({
  ...webDeps(),
  supportRefundLimits: settings().SUPPORT_REFUND_LIMITS,
}));

const dunning = /* @__PURE__ */ perHost(() => ({
  days: settings().DUNNING_DAYS,
  finalAction: settings().DUNNING_FINAL_ACTION,
}));

const planChange = /* @__PURE__ */ perHost(() => ({
  upgrade: settings().PLAN_CHANGE_UPGRADE,
  downgrade: settings().PLAN_CHANGE_DOWNGRADE,
}));

/** The dependencies of use cases that call a provider. */
export const moneyDeps = /* @__PURE__ */ perInstance(() => ({
  ...webDeps(),
  providers: providers(),
  dunning: dunning(),
  planChange: planChange(),
  supportRefundLimits: settings().SUPPORT_REFUND_LIMITS,
  placeHoldMinutes: settings().PLACE_HOLD_MINUTES,
  prepare: async (slots: readonly ProviderSlot[]) => {
    await Promise.all([providers().openSlots(slots), settings().ID_SECRET_ARN === '' ? undefined : idSecret()()]);
  },
}));

const pages = /* @__PURE__ */ perHost(() => pageSettings(settings()));

/** The dependencies of use cases that make links to hosted pages. */
export const linkDeps = /* @__PURE__ */ perInstance(() => ({ ...webDeps(), linkTokens: links(), pages: pages() }));

/** The dependencies of the hosted pages. */
export const pageDeps = /* @__PURE__ */ perInstance(() => ({ ...moneyDeps(), linkTokens: links(), pages: pages() }));

/** The dependencies of the page that saves a method. */
export const methodPageDeps = /* @__PURE__ */ perInstance(() => ({ ...pageDeps(), allowRawCards: false }));

/** The dependencies of the import, which looks users up and calls providers. */
export const importDeps = /* @__PURE__ */ perInstance(() => ({ ...moneyDeps(), identity: identity() }));

/** The dependencies of the use case that saves a method. */
export const methodDeps = /* @__PURE__ */ perInstance(() => ({
  ...moneyDeps(),
  allowRawCards: settings().ALLOW_RAW_CARDS && settings().STAGE !== 'prod',
}));

/** The dependencies of the use case that deletes a customer. */
export const customerRemovalDeps = /* @__PURE__ */ perInstance(() => ({
  ...moneyDeps(),
  deleteHistory: settings().CUSTOMER_DELETE_HISTORY,
}));

/** The dependencies of receiving provider events. */
export const receiverDeps = /* @__PURE__ */ perInstance(() => ({
  ...webDeps(),
  rateLimits: settings().RATE_LIMITS,
  receivers: receivers(),
  prepare: receivers().openSlots,
}));

/** The dependencies of showing the configuration. Only public settings of the provider slots are shown. */
export const configDeps = /* @__PURE__ */ perInstance(() => ({
  ...webDeps(),
  slots: settings().slots,
  stage: settings().STAGE,
}));

/** The dependencies of the API document, including the base URL. */
export const documentDeps = /* @__PURE__ */ perInstance(() => ({
  ...webDeps(),
  publicBaseUrl: settings().PUBLIC_BASE_URL,
}));

/** The time-out of a discovery read. It is short, because the console page must respond within five seconds. */
const LONGEST_DISCOVERY_MS = 2_000;
export const consoleDeps = /* @__PURE__ */ perInstance(() => ({
  ...webDeps(),
  basePath: settings().BASE_PATH,
  signInUrl: settings().CONSOLE_SIGN_IN_URL,
  stage: settings().STAGE,
  oidcIssuer: settings().CONSOLE_OIDC_ISSUER,
  oidcClientId: settings().CONSOLE_OIDC_CLIENT_ID,
  signInOrigins: signInOrigins({
    issuer: settings().CONSOLE_OIDC_ISSUER,
    timeoutMs: Math.min(settings().IDENTITY_TIMEOUT_MS, LONGEST_DISCOVERY_MS),
    fetch: fetchOverHttp,
    now,
  }),
}));

export const workerDeps = /* @__PURE__ */ perInstance(() => ({
  ...coreDeps(),
  queues: queues(),
  providers: providers(),
  dunning: dunning(),
  deleteHistory: settings().CUSTOMER_DELETE_HISTORY,
}));

export const dueDeps = /* @__PURE__ */ perInstance(() => ({
  ...workerDeps(),
  providers: dueProviders(),
  callRate: callRate(),
  notices: {
    renewalDays: settings().RENEWAL_NOTICE_DAYS,
    renewalMinMonths: settings().RENEWAL_NOTICE_MIN_MONTHS,
    methodDays: settings().METHOD_NOTICE_DAYS,
  },
}));

export const dispatchDeps = /* @__PURE__ */ perInstance(() => ({
  queues: queues(),
  targets: webhookTargets(),
  log: log(),
}));
export const deliverDeps = /* @__PURE__ */ perInstance(() => ({
  table: table(),
  queues: queues(),
  targets: webhookTargets(),
  post: post(),
  retryPlan: {
    retries: settings().EXTERNAL_WEBHOOK_MAX_RETRIES,
    delayMs: settings().EXTERNAL_WEBHOOK_RETRY_DELAY,
    schedule: settings().EXTERNAL_WEBHOOK_RETRY_SCHEDULE,
  },
  log: log(),
  now,
}));

/** The reply to a test event includes the targets' responses, so targets must respond before the gateway times out. */
const TEST_TIMEOUT_MS = 20_000;
export const sendTestDeps = /* @__PURE__ */ perInstance(() => {
  const { EXTERNAL_WEBHOOK_TIMEOUT: timeoutMs, EXTERNAL_WEBHOOK_ALLOW_PRIVATE: allowPrivate } = settings();
  return {
    ...logDeps(),
    targets: webhookTargets(),
    post: openPost({ timeoutMs: Math.min(timeoutMs, TEST_TIMEOUT_MS), allowPrivate }),
  };
});
export const replayDeps = /* @__PURE__ */ perInstance(() => ({ ...logDeps(), queues: queues() }));
