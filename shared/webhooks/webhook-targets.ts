/**
 * @module The webhook targets, parsed from the nodes `WEBHOOK_1_…` in the settings, and from the older list, whose
 * entries are raw nodes without a secret. It also holds the rules for filters and for allowed addresses.
 */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import {
  booleanSetting,
  choiceSetting,
  type Environment,
  integerSetting,
  listSetting,
  readSetting,
  readSettings,
  textSetting,
  type Values,
} from '../core/setting.ts';
import { type Settings, SettingsError } from '../core/settings.ts';
import type { OutboundEvent } from '../event-log/outbound-event.ts';

export interface Target {
  /** `WEBHOOK_1`, or `EXTERNAL_WEBHOOK_1` of the older list. */
  readonly name: string;
  readonly url: string;
  /** Names and patterns of events. */
  readonly filters: readonly string[];
  readonly mode: 'raw' | 'canonical' | 'both';
  /** Every secret signs, so that a secret can be replaced without a gap. Unsigned if empty. */
  readonly secrets: readonly string[];
  readonly format: 'event' | 'chat';
}

const SCANNED = 10;
const MOST_SCANNED = 100;
const ALL = ['all'];

export const globalFields = {
  EXTERNAL_WEBHOOKS_ENABLED: booleanSetting(false).describe('true: every enabled node receives events'),
  WEBHOOK_SCAN_MAX: integerSetting(SCANNED, 0, MOST_SCANNED).describe('the highest number of a node WEBHOOK_n_…'),
  EXTERNAL_WEBHOOK_URLS: listSetting().describe('URLs of raw nodes without a secret (the older form)'),
  EXTERNAL_WEBHOOK_EVENTS: listSetting().describe('the filters of EXTERNAL_WEBHOOK_URLS'),
};
export const nodeFields = {
  ENABLED: booleanSetting(false).describe('true: the node receives events'),
  URL: textSetting().describe('the URL of the node: https, a public address, no credentials'),
  EVENTS: listSetting().describe('names and patterns (payment.*, provider_a:*), or all; empty: all'),
  EVENT_MODE: choiceSetting(['raw', 'canonical', 'both'], '').describe(
    "canonical, raw (the providers' own events) or both; empty: canonical",
  ),
  SECRET: listSetting().describe('whsec_ and the base64 of 24 to 64 bytes; every secret signs; empty: unsigned'),
  FORMAT: choiceSetting(['event', 'chat'], '').describe(
    "chat: a message for people; empty: chat at Slack's hosts, else event",
  ),
};

/** True if the variable configures targets. A deployed stage keeps these variables in one secret. */
export const isTargetVariable = (name: string): boolean =>
  Object.hasOwn(globalFields, name) || /^WEBHOOK_\d+_(ENABLED|URL|EVENTS|EVENT_MODE|SECRET|FORMAT)$/.test(name);

/** True if the variable holds the URL of a target. The others only change targets that have a URL. */
export const namesTarget = (name: string): boolean =>
  name === 'EXTERNAL_WEBHOOK_URLS' || /^WEBHOOK_\d+_URL$/.test(name);

type Stage = Settings['STAGE'];
interface Rules {
  readonly allowPrivate: boolean;
  readonly stage: Stage | undefined;
}

/** @throws SettingsError with every mistake, one line each; a line never repeats a value */
export const parseTargets = (env: Environment, allowPrivate: boolean, stage?: Stage): readonly Target[] => {
  const global = readSettings(globalFields, env);
  const mistakes = [...global.mistakes];
  const scanned = global.values?.WEBHOOK_SCAN_MAX ?? SCANNED;
  const targets: Target[] = [];
  for (let n = 1; n <= scanned; n += 1) {
    const node = nodeOf(env, `WEBHOOK_${n}`, { allowPrivate, stage });
    if (node.target) targets.push(node.target);
    mistakes.push(...node.mistakes);
  }
  const older = olderTargets(global.values, allowPrivate);
  if (mistakes.length + older.mistakes.length > 0) throw new SettingsError([...mistakes, ...older.mistakes]);
  return global.values?.EXTERNAL_WEBHOOKS_ENABLED ? [...targets, ...older.targets] : [];
};

/**
 * The variables that must still become `true` before every configured URL receives events. Empty if no URL is
 * configured.
 */
export const switchesOff = (env: Environment): readonly string[] => {
  const isOn = (variable: string): boolean => readSetting(booleanSetting(false), env[variable]);
  const scanned = readSetting(globalFields.WEBHOOK_SCAN_MAX, env['WEBHOOK_SCAN_MAX']);
  const nodes = Array.from({ length: scanned }, (_, at) => `WEBHOOK_${at + 1}`).filter((name) =>
    env[`${name}_URL`]?.trim(),
  );
  const older = readSetting(globalFields.EXTERNAL_WEBHOOK_URLS, env['EXTERNAL_WEBHOOK_URLS']);
  if (nodes.length + older.length === 0) return [];
  return ['EXTERNAL_WEBHOOKS_ENABLED', ...nodes.map((name) => `${name}_ENABLED`)].filter((name) => !isOn(name));
};

/** For example `WEBHOOK_1_ENABLED and WEBHOOK_2_ENABLED are not true`. */
export const areOff = (variables: readonly string[]): string =>
  `${variables.join(' and ')} ${variables.length === 1 ? 'is' : 'are'} not true`;

interface Node {
  readonly target?: Target;
  readonly mistakes: readonly string[];
}

const nodeOf = (env: Environment, name: string, { allowPrivate, stage }: Rules): Node => {
  const variableOf = (field: string): string => `${name}_${field}`;
  if (!Object.keys(nodeFields).some((field) => env[variableOf(field)]?.trim())) return { mistakes: [] };
  const read = readSettings(nodeFields, env, variableOf);
  if (!read.values) return read;
  const { ENABLED, URL: url, EVENTS, EVENT_MODE, SECRET, FORMAT } = read.values;
  const problems = {
    URL: url === '' && !ENABLED ? undefined : urlProblem(url, allowPrivate),
    EVENTS: filtersProblem(EVENTS),
    SECRET: secretsProblem(SECRET, stage),
  };
  const mistakes = Object.entries(problems).flatMap(([field, problem]) =>
    problem === undefined ? [] : [`${name}_${field}: ${problem}`],
  );
  if (mistakes.length > 0 || !ENABLED) return { mistakes };
  const target: Target = {
    name,
    url,
    filters: EVENTS.length > 0 ? EVENTS : ALL,
    mode: EVENT_MODE || 'canonical',
    secrets: SECRET,
    format: FORMAT || (isChatHost(url) ? 'chat' : 'event'),
  };
  return { target, mistakes };
};

const olderTargets = (
  given: Values<typeof globalFields> | undefined,
  allowPrivate: boolean,
): { readonly targets: readonly Target[]; readonly mistakes: readonly string[] } => {
  const { EXTERNAL_WEBHOOK_URLS: urls = [], EXTERNAL_WEBHOOK_EVENTS: filters = [] } = given ?? {};
  const filtersMistake = filtersProblem(filters);
  const mistakes = urls.flatMap((url, index) => {
    const problem = urlProblem(url, allowPrivate);
    return problem === undefined ? [] : [`EXTERNAL_WEBHOOK_URLS: entry ${index + 1} ${problem}`];
  });
  const targets = urls.map(
    (url, index): Target => ({
      name: `EXTERNAL_WEBHOOK_${index + 1}`,
      url,
      filters: filters.length > 0 ? filters : ALL,
      mode: 'raw',
      secrets: [],
      format: isChatHost(url) ? 'chat' : 'event',
    }),
  );
  return {
    targets,
    mistakes: filtersMistake === undefined ? mistakes : [...mistakes, `EXTERNAL_WEBHOOK_EVENTS: ${filtersMistake}`],
  };
};

/** The problem with a target's URL, found without resolving its name. Undefined if the URL is allowed. */
export const urlProblem = (text: string, allowPrivate: boolean): string | undefined => {
  if (!URL.canParse(text)) return 'must be a URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  if (allowPrivate) return /^https?:$/.test(url.protocol) ? undefined : 'must begin with https:// or http://';
  if (url.protocol !== 'https:') return 'must begin with https://';
  const literal = literalAddress(url);
  return literal === undefined || isPublicAddress(literal) ? undefined : 'must lead to a public address';
};

const FILTER = /^[\w.:*/-]{1,200}$/;
const filtersProblem = (filters: readonly string[]): string | undefined =>
  filters.every((filter) => FILTER.test(filter)) ? undefined : 'must be names or patterns of events, or all';

const isSecret = (secret: string): boolean => {
  const [, key] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  return key !== undefined && key.length % 4 === 0;
};

/** The minimum length of a secret in Standard Webhooks. */
const SECRET_BYTES = 24;

const isWeak = (secret: string): boolean => Buffer.from(secret.slice('whsec_'.length), 'base64').length < SECRET_BYTES;

const secretsProblem = (secrets: readonly string[], stage: Stage | undefined): string | undefined => {
  if (!secrets.every(isSecret)) return 'must be whsec_ followed by base64; separate several secrets by commas';
  return stage === 'prod' && secrets.some(isWeak) ? `must have at least ${SECRET_BYTES} bytes in prod` : undefined;
};

/** Hosts that expect chat messages at every URL. */
const CHAT_HOSTS: readonly string[] = ['hooks.slack.com', 'hooks.slack-gov.com'];
const isChatHost = (url: string): boolean => CHAT_HOSTS.includes(new URL(url).hostname);

/** True if the target's mode accepts the kind, and a filter matches one of the event's names. */
export const wants = (
  { mode, filters }: Pick<Target, 'mode' | 'filters'>,
  { kind, aliases }: Pick<OutboundEvent, 'kind' | 'aliases'>,
): boolean =>
  (mode === 'both' || mode === kind) && filters.some((filter) => aliases.some((name) => matchesFilter(filter, name)));

/** A filter is `all`, a name, or a pattern such as `payment.*` or `provider_a:*`, in which `*` matches any text. */
export const matchesFilter = (filter: string, name: string): boolean => {
  if (filter === 'all' || filter === name) return true;
  const [first = '', ...rest] = filter.split('*');
  if (rest.length === 0 || !name.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest.slice(0, -1)) {
    const found = name.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  const last = rest.at(-1) ?? '';
  return name.length - from >= last.length && name.endsWith(last);
};

/**
 * True if a target may have this address, which must be global unicast. Refuses, in every notation, private, loopback,
 * link-local (metadata services), carrier-grade NAT, multicast, documentation and reserved addresses, and IPv4 within
 * IPv6 (mapped, NAT64, 6to4, Teredo).
 */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || isGlobalUnicast(parsed.toByteArray());
};

/** 2000::/3, because no other part of IPv6 is assigned. */
const isGlobalUnicast = ([first = 0]: readonly number[]): boolean => first >> 5 === 0b001;

/** The address in a URL's host. Undefined if the host is a name. */
const literalAddress = ({ hostname }: URL): string | undefined => {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
};
