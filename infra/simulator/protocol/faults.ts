import * as z from 'zod';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import { draw } from '../state/random.ts';
import type { Store } from '../state/store.ts';

/**
 * The failures that a test can request. `timeout_before`, `error_500`, `rate_limit` and `reset` occur before the call
 * commits; `timeout_after` and `malformed` occur after it.
 */
export const FAULT_ACTIONS = [
  'timeout_before',
  'timeout_after',
  'error_500',
  'rate_limit',
  'reset',
  'malformed',
] as const;
export type FaultAction = (typeof FAULT_ACTIONS)[number];

export const faultRule = z.object({
  provider: z.enum(PROVIDER_SLOTS).optional(),
  /** A part of the path. */
  path: z.string().max(500).optional(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  times: z.int().min(1).max(1_000_000).optional(),
  probability: z.number().min(0).max(1).optional(),
  seed: z.int().optional(),
  action: z.enum(FAULT_ACTIONS),
});
export type FaultRule = z.infer<typeof faultRule>;

/** `draws` counts the rule's matching calls, `struck` the failed calls. */
const keptRule = faultRule.extend({ draws: z.int(), struck: z.int() });
export type KeptRule = z.infer<typeof keptRule>;

export interface Faults {
  add(rule: FaultRule): KeptRule;
  list(): KeptRule[];
  clear(): void;
  /** The call's fault, from the first matching rule whose random draw hits. */
  strike(slot: ProviderSlot, method: string, path: string): FaultAction | undefined;
}

const SETTING = 'faults';
const DEFAULT_SEED = 1;

export const openFaults = (store: Store): Faults => {
  let rules = store.readSetting(SETTING, z.array(keptRule)) ?? [];
  const keep = (next: KeptRule[]): void => {
    rules = next;
    store.writeSetting(SETTING, rules);
  };
  return {
    add: (rule) => {
      const kept = { ...rule, draws: 0, struck: 0 };
      keep([...rules, kept]);
      return kept;
    },
    list: () => rules,
    clear: () => keep([]),
    strike: (slot, method, path) => {
      for (const [index, rule] of rules.entries()) {
        if (!concerns(rule, { slot, method, path })) continue;
        const hit = draw(rule.seed ?? DEFAULT_SEED, rule.draws) < (rule.probability ?? 1);
        keep(rules.with(index, { ...rule, draws: rule.draws + 1, struck: rule.struck + (hit ? 1 : 0) }));
        if (hit) return rule.action;
      }
      return undefined;
    },
  };
};

interface Call {
  readonly slot: ProviderSlot;
  readonly method: string;
  readonly path: string;
}

const concerns = (rule: KeptRule, { slot, method, path }: Call): boolean =>
  (rule.provider === undefined || rule.provider === slot) &&
  (rule.method === undefined || rule.method === method) &&
  (rule.path === undefined || path.includes(rule.path)) &&
  (rule.times === undefined || rule.struck < rule.times);
