/**
 * @module The table of checks before a deployment. The checks of settings also run before every synth. A check finds
 * nothing while its facts are missing, so a synth needs no account and no network.
 */

import { type AdapterName, PAYMENT_SLOTS, PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import { type Trigger, withOperatorSettings } from '../../../shared/platform/trigger.ts';
import { reservedInAll, UNRESERVED } from '../constructs/bulkheads.ts';
import type { AccountFacts } from './account.ts';
import type { BuiltStage } from './assembly.ts';
import type { DeploymentSettings, Stage } from './settings.ts';

export interface CheckedFacts {
  readonly settings: DeploymentSettings;
  readonly catalogue: { readonly endpoints: readonly Endpoint[]; readonly triggers: readonly Trigger[] };
  /** The built stacks; undefined before the build. */
  readonly built?: BuiltStage;
  /** Facts about the account; undefined without credentials. */
  readonly account?: AccountFacts;
}

interface Check {
  readonly name: string;
  /** When the check applies, as a phrase. */
  readonly applies: string;
  /** The tested condition, as a phrase. */
  readonly asks: string;
  /** How the operator fixes a finding. */
  readonly remedy: string;
  /** In these stages, a finding stops the deployment. Elsewhere it is a warning. */
  readonly refuses: readonly Stage[];
  /** @returns one sentence per finding. */
  readonly find: (facts: CheckedFacts) => readonly string[];
}

const PROD: readonly Stage[] = ['prod'];
/** For mistakes that would make AWS refuse the deployment halfway. */
const EVERY_STAGE: readonly Stage[] = ['dev', 'staging', 'prod'];
const NO_STAGE: readonly Stage[] = [];

/** An adapter's required values for calls and for event verification. */
interface Needs {
  /** Settings and secrets for calls. */
  readonly settings: readonly string[];
  readonly keys: readonly string[];
  /** Settings and secrets for verifying events. */
  readonly eventSettings: readonly string[];
  readonly signature: readonly string[];
}

export const NEEDS_OF: Readonly<Record<AdapterName, Needs>> = {
  stripe: { settings: [], keys: ['API_KEY'], eventSettings: [], signature: ['WEBHOOK_SECRET'] },
  paypal: { settings: ['CLIENT_ID'], keys: ['CLIENT_SECRET'], eventSettings: ['WEBHOOK_ID'], signature: [] },
  square: {
    settings: ['LOCATION_ID'],
    keys: ['ACCESS_TOKEN'],
    eventSettings: ['NOTIFICATION_URL'],
    signature: ['SIGNATURE_KEY'],
  },
  braintree: { settings: ['MERCHANT_ID', 'PUBLIC_KEY'], keys: ['PRIVATE_KEY'], eventSettings: [], signature: [] },
};

const QUOTA_OF_INTEGRATIONS = 300;
const RESOURCES_OF_A_STACK = 500;
/**
 * A renewal makes two calls to its provider and publishes about five events, three by the service and two for the
 * provider's webhooks.
 */
const EVENTS_PER_CALL = 2.5;

const inUse = ({ settings }: CheckedFacts, slots: readonly ProviderSlot[] = PROVIDER_SLOTS) =>
  slots.flatMap((slot) => {
    const adapter = settings.adapters[slot];
    return adapter === '' ? [] : [{ slot, adapter, needs: NEEDS_OF[adapter] }];
  });

const missingSettings = (facts: CheckedFacts, of: 'settings' | 'eventSettings'): readonly string[] =>
  inUse(facts).flatMap(({ slot, adapter, needs }) =>
    needs[of]
      .map((field) => `${slot.toUpperCase()}_${field}`)
      .filter((name) => !facts.settings.environment[name])
      .map((name) => `${name} is empty, and ${adapter} needs it`),
  );

const missingSecrets = (facts: CheckedFacts, of: 'keys' | 'signature'): readonly string[] => {
  const stored = facts.account?.secrets;
  if (stored === undefined) return [];
  const held = of === 'keys' ? stored.keys : stored.signatures;
  return inUse(facts, of === 'keys' ? PROVIDER_SLOTS : PAYMENT_SLOTS).flatMap(({ slot, needs }) =>
    needs[of]
      .filter((field) => !held[slot]?.includes(field))
      .map((field) => `the ${of === 'keys' ? 'secret of the keys' : 'signature secret'} of ${slot} lacks ${field}`),
  );
};

const over = (what: string, used: number | undefined, limit: number | undefined): readonly string[] =>
  used !== undefined && limit !== undefined && used > limit ? [`${what}: ${used}, and the limit is ${limit}`] : [];

const concurrencyNeeded = ({ settings, catalogue }: CheckedFacts): { needed: number; because: string } => {
  const { bulkheads, bulkheadSizes, functionUrls } = settings;
  if (bulkheads !== undefined) {
    const triggers = withOperatorSettings(catalogue.triggers, settings.operated);
    const reserved = reservedInAll({ ...catalogue, triggers }, bulkheads);
    return {
      needed: reserved + UNRESERVED,
      because: `BULKHEADS=on reserves ${reserved} instances and AWS keeps ${UNRESERVED}`,
    };
  }
  const endpoints = catalogue.endpoints.filter(({ paymentPath }) => functionUrls || paymentPath);
  const needed = reservedInAll({ endpoints, triggers: [] }, bulkheadSizes);
  return {
    needed,
    because: `${functionUrls ? 'the public function URLs and ' : ''}the payment path may use ${needed} instances together`,
  };
};

const lowConcurrency = (facts: CheckedFacts, bulkheads: boolean): readonly string[] => {
  const limit = facts.account?.concurrency;
  if (limit === undefined || (facts.settings.bulkheads !== undefined) !== bulkheads) return [];
  const { needed, because } = concurrencyNeeded(facts);
  return needed <= limit ? [] : [`${because}, but the account may run ${limit}`];
};

const RAISE_CONCURRENCY = 'request 1,000 (Service Quotas, AWS Lambda, Concurrent executions; free, usually a day)';

export const CHECKS: readonly Check[] = [
  {
    name: 'alarm recipient',
    applies: 'always',
    asks: 'is `ALARM_EMAIL` set',
    remedy: 'set ALARM_EMAIL to the address of the people on call',
    refuses: PROD,
    find: ({ settings }) => (settings.alarmEmail === '' ? ['ALARM_EMAIL is empty, so no alarm reaches anyone'] : []),
  },
  {
    name: 'identity service',
    applies: 'always',
    asks: 'is `IDENTITY_URL` set, or `IDENTITY_LOOKUP` off',
    remedy: 'set IDENTITY_URL to the identity service, or IDENTITY_LOOKUP=off to run without an identity service',
    refuses: PROD,
    find: ({ settings }) =>
      settings.environment['IDENTITY_URL'] || settings.environment['IDENTITY_LOOKUP'] === 'off'
        ? []
        : ['IDENTITY_URL is empty, so every session is refused'],
  },
  {
    name: 'provider',
    applies: 'always',
    asks: 'does any slot have a provider of payments',
    remedy: 'set PROVIDER_A=stripe, PROVIDER_B=paypal or PROVIDER_C=square',
    refuses: PROD,
    find: (facts) =>
      inUse(facts, PAYMENT_SLOTS).length > 0
        ? []
        : ['PROVIDER_A, PROVIDER_B and PROVIDER_C are empty, so no payment can be made'],
  },
  {
    name: 'provider settings',
    applies: 'a slot has a provider',
    asks: 'are the settings of its calls set',
    remedy: 'set them, or leave the slot empty (docs/settings.md, Provider slots)',
    refuses: PROD,
    find: (facts) => missingSettings(facts, 'settings'),
  },
  {
    name: 'public function URLs',
    applies: '`FUNCTION_URLS=on`',
    asks: 'is `BULKHEADS` on, against floods at a public URL',
    remedy: 'set BULKHEADS=on, or FUNCTION_URLS=off',
    refuses: PROD,
    find: ({ settings }) =>
      settings.stage === 'prod' && settings.functionUrls && settings.bulkheads === undefined
        ? ['without bulkheads, calls to the public function URLs can use every instance of the account']
        : [],
  },
  {
    name: 'webhook settings',
    applies: 'after the first deployment',
    asks: 'are the settings of its event verification set',
    remedy: 'register the webhook at the provider and set them (docs/deployment.md, Each provider)',
    refuses: PROD,
    find: (facts) => (facts.account?.secrets === undefined ? [] : missingSettings(facts, 'eventSettings')),
  },
  {
    name: 'provider keys',
    applies: 'after the first deployment',
    asks: 'does the secret of each slot hold its keys',
    remedy: 'store them with aws secretsmanager put-secret-value (docs/deployment.md, step 6)',
    refuses: PROD,
    find: (facts) => missingSecrets(facts, 'keys'),
  },
  {
    name: 'signature secrets',
    applies: 'after the first deployment',
    asks: 'does each signature secret hold its value (Stripe, Square)',
    remedy: 'store them with aws secretsmanager put-secret-value (docs/deployment.md, step 7)',
    refuses: PROD,
    find: (facts) => missingSecrets(facts, 'signature'),
  },
  {
    name: 'fingerprint secrets',
    applies: 'after the first deployment',
    asks: 'does the secret of each payment slot hold `FINGERPRINT_SECRET`',
    remedy: 'store a long random text as FINGERPRINT_SECRET with the keys of the slot',
    refuses: NO_STAGE,
    find: (facts) =>
      inUse(facts, PAYMENT_SLOTS)
        .filter(({ slot }) => facts.account?.secrets?.keys[slot]?.includes('FINGERPRINT_SECRET') === false)
        .map(({ slot }) => `the secret of the keys of ${slot} lacks FINGERPRINT_SECRET, so fingerprints are null`),
  },
  {
    name: 'reserved concurrency',
    applies: '`BULKHEADS=on`',
    asks: 'do the reservations and AWS’s 100 instances fit the account’s limit',
    remedy: `${RAISE_CONCURRENCY}, or set BULKHEADS=off`,
    refuses: EVERY_STAGE,
    find: (facts) => lowConcurrency(facts, true),
  },
  {
    name: 'concurrency',
    applies: '`BULKHEADS=off`',
    asks: 'is the account’s limit (10 if new) enough for function URLs and the payment path',
    remedy: RAISE_CONCURRENCY,
    refuses: PROD,
    find: (facts) => lowConcurrency(facts, false),
  },
  {
    name: 'warm routes',
    applies: '`PROVISIONED` is set',
    asks: 'is each id an endpoint',
    remedy: 'use the ids of the functions’ entries, such as payments.confirm for functions/payments/confirm.ts',
    refuses: EVERY_STAGE,
    find: ({ settings, catalogue }) =>
      settings.provisioned
        .filter((id) => !catalogue.endpoints.some((endpoint) => endpoint.id === id))
        .map((id) => `PROVISIONED names ${id}, which is no endpoint`),
  },
  {
    name: 'routes of the API',
    applies: 'always',
    asks: 'do the routes fit the quota (300 by default)',
    remedy: 'request more (Service Quotas, Amazon API Gateway, Routes per HTTP API)',
    refuses: EVERY_STAGE,
    find: ({ built, account }) => over('routes of the HTTP API', built?.routes.size, account?.quotas.routes),
  },
  {
    name: 'integrations of the API',
    applies: 'always',
    asks: 'are there at most 300 integrations',
    remedy: 'leave out endpoints; AWS does not raise this limit',
    refuses: EVERY_STAGE,
    find: ({ built }) => over('integrations of the HTTP API', built?.integrations, QUOTA_OF_INTEGRATIONS),
  },
  {
    name: 'rules of the bus',
    applies: 'always',
    asks: 'do the rules fit the quota',
    remedy: 'request more (Service Quotas, Amazon EventBridge, Number of rules)',
    refuses: EVERY_STAGE,
    find: ({ built, account }) => over('rules of the event bus', built?.rules, account?.quotas.rules),
  },
  {
    name: 'events per second',
    applies: 'a slot has a provider of payments',
    asks: 'does the PutEvents quota carry renewals at `PROVIDER_x_BACKGROUND_RATE`',
    remedy:
      'request more (Service Quotas, Amazon EventBridge, PutEvents throttle limit), or lower PROVIDER_x_BACKGROUND_RATE',
    refuses: NO_STAGE,
    find: (facts) =>
      over('events per second at full pace', eventsPerSecond(facts), facts.account?.quotas.eventsPerSecond),
  },
  {
    name: 'resources of a stack',
    applies: 'always',
    asks: 'does each stack have at most 500 resources',
    remedy:
      'move a folder of entries from the stack api to api-webhooks (infra/deploy/stacks/routes.ts), or add a stack',
    refuses: EVERY_STAGE,
    find: ({ built }) =>
      [...(built?.resources ?? [])].flatMap(([name, count]) =>
        over(`resources of ${name}`, count, RESOURCES_OF_A_STACK),
      ),
  },
  {
    name: 'readable account',
    applies: 'always',
    asks: 'could the facts of these checks be read',
    remedy:
      'allow lambda:GetAccountSettings, servicequotas:GetServiceQuota, servicequotas:GetAWSDefaultServiceQuota, ' +
      'cloudformation:DescribeStacks and secretsmanager:GetSecretValue to the deploying profile',
    refuses: PROD,
    find: ({ account }) => (account?.unread ?? []).map((fact) => `could not be read: ${fact}`),
  },
];

/** Calls per second of due work, times events per call. */
const eventsPerSecond = (facts: CheckedFacts): number =>
  Math.ceil(
    inUse(facts, PAYMENT_SLOTS).reduce(
      (sum, { slot }) => sum + facts.settings.backgroundRates[slot] * EVENTS_PER_CALL,
      0,
    ),
  );

export interface CheckResult {
  /** True if a finding stops the deployment of this stage. */
  readonly refused: boolean;
  /** Every finding, one line each; empty if there are none. */
  readonly text: string;
}

/** Runs every check. The text lists the findings that stop the stage first. */
export const runChecks = (facts: CheckedFacts, checks: readonly Check[] = CHECKS): CheckResult => {
  const { stage, checks: mode } = facts.settings;
  if (mode === 'off') return { refused: false, text: '' };
  const found = checks.flatMap(({ name, remedy, refuses, find }) => {
    const stops = mode === 'refuse' && refuses.includes(stage);
    const label = stops ? 'refused' : 'warning';
    return find(facts).map((problem) => ({ stops, line: `${label}: ${name}: ${problem}; ${remedy}` }));
  });
  const lines = [...found.filter(({ stops }) => stops), ...found.filter(({ stops }) => !stops)].map(({ line }) => line);
  return { refused: found.some(({ stops }) => stops), text: lines.join('\n') };
};
