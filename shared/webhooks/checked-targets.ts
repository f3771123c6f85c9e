/**
 * @module Checks the settings of outbound webhooks at the start of a host, at a deployment, and in doctor. A running
 * function accepts a filter that matches no event, because one mistake would otherwise stop every target.
 */

import type { Environment } from '../core/setting.ts';
import { PROVIDER_SLOTS, parseSettings, type Settings, SettingsError } from '../core/settings.ts';
import { CANONICAL_EVENTS } from '../platform/bus-event.ts';
import { PROVIDER_EVENT_NAMES } from '../providers/event-names.ts';
import { ACTED_ON_EVENTS } from '../providers/event-port.ts';
import { matchesFilter, parseTargets, type Target } from './webhook-targets.ts';

/** Parses the settings and checks the targets. A host does this before it starts. @throws SettingsError */
export const checkedSettings = (env: Environment): Settings => {
  const mistakes: string[] = [];
  const checked = <T>(parse: () => T): T | undefined => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      mistakes.push(...error.mistakes);
      return undefined;
    }
  };
  const settings = checked(() => parseSettings(env));
  const stage = env['STAGE'] === 'prod' ? 'prod' : undefined;
  checked(() => checkedTargets(env, env['EXTERNAL_WEBHOOK_ALLOW_PRIVATE'] === 'true', stage));
  if (!settings || mistakes.length > 0) throw new SettingsError(mistakes);
  return settings;
};

/**
 * The targets, after checking that each filter can match an event.
 * @throws SettingsError with every mistake, one line each; a line never repeats a value
 */
export const checkedTargets = (
  env: Environment,
  allowPrivate: boolean,
  stage?: Settings['STAGE'],
): readonly Target[] => {
  const targets = parseTargets(env, allowPrivate, stage);
  const mistakes = Object.entries(env).flatMap(([name, value]) =>
    /^(WEBHOOK_\d+|EXTERNAL_WEBHOOK)_EVENTS$/.test(name) ? filterMistakes(name, value) : [],
  );
  if (mistakes.length > 0) throw new SettingsError(mistakes);
  return targets;
};

const filterMistakes = (name: string, value: string | undefined): readonly string[] => {
  const filters = (value ?? '').split(',').map((filter) => filter.trim());
  return filters
    .filter((filter) => filter !== '')
    .flatMap((filter, at) =>
      isKnown(filter) ? [] : [`${name}: entry ${at + 1} matches no event or provider${suggestionFor(filter)}`],
    );
};

/** Accepts any type after a slot (`provider_a:charge.expired`), because a provider's types cannot be listed. */
const isKnown = (filter: string): boolean => {
  if (filter === 'all' || eventNames().some((name) => matchesFilter(filter, name))) return true;
  const [slot, type = ''] = filter.split(':', 2);
  return type !== '' && PROVIDER_SLOTS.some((known) => matchesFilter(slot ?? '', known));
};

const eventNames = (): readonly string[] => {
  const names = [...CANONICAL_EVENTS, ...ACTED_ON_EVENTS, ...PROVIDER_EVENT_NAMES];
  return [...names, ...PROVIDER_SLOTS.map((slot) => `${slot}:${names[0]}`)];
};

/** Suggests the most similar filter. If less than about half of it matches, suggests the possible forms instead. */
const suggestionFor = (filter: string): string => {
  const families = [...new Set(eventNames().map((name) => `${name.split('.')[0]}.*`))];
  const known = ['all', ...eventNames(), ...families, ...PROVIDER_SLOTS.map((slot) => `${slot}:*`)];
  const [best] = known
    .map((name) => ({ name, edits: editsBetween(filter.toLowerCase(), name.toLowerCase()) }))
    .sort((one, other) => one.edits - other.edits);
  return best && best.edits <= best.name.length / 2
    ? `; did you mean ${best.name}?`
    : '; did you mean all, a pattern such as payment.*, or a slot such as provider_a:*?';
};

/** The Levenshtein distance. */
const editsBetween = (one: string, other: string): number => {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [row, character] of [...one].entries()) {
    const current = [row + 1];
    for (const [column, compared] of [...other].entries()) {
      const [left = 0, diagonal = 0, up = 0] = [current[column], above[column], above[column + 1]];
      current.push(Math.min(left + 1, up + 1, diagonal + (character === compared ? 0 : 1)));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
};
