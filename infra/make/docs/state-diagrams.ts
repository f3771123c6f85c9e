/**
 * @module The diagrams of docs/states.md show every transition of the stores' tables with its causes. Disputes have no
 * diagram, because nearly every transition is allowed.
 */
import { PAYMENT_TRANSITIONS } from '../../../shared/payments/payment-states.ts';
import { REFUND_TRANSITIONS } from '../../../shared/payments/refunds/refund-states.ts';
import { SUBSCRIPTION_TRANSITIONS } from '../../../shared/subscriptions/record/subscription-states.ts';

type Table = Readonly<Record<string, Readonly<Partial<Record<string, readonly string[]>>>>>;

export const stateDiagrams = (): Readonly<Record<string, string>> => ({
  payments: diagram(withoutReads(PAYMENT_TRANSITIONS)),
  refunds: diagram(REFUND_TRANSITIONS),
  subscriptions: diagram(SUBSCRIPTION_TRANSITIONS),
});

/** Leaves out reads, because a read may make any transition. Their arrows would hide all others. */
const withoutReads = (table: Table): Table =>
  Object.fromEntries(Object.entries(table).map(([state, { read: _, ...changes }]) => [state, changes]));

const diagram = (table: Table): string =>
  ['```mermaid', 'stateDiagram-v2', ...starts(table), ...edges(table), ...ends(table), '```'].join('\n');

/** One arrow per pair of states, with all its causes. A transition to the same state has no arrow. */
const edges = (table: Table): readonly string[] => {
  const causes = new Map<string, string[]>();
  for (const [from, changes] of Object.entries(table)) {
    for (const [cause, states = []] of Object.entries(changes)) {
      for (const to of states.filter((state) => state !== from)) {
        const arrow = `${from} --> ${to}`;
        causes.set(arrow, [...(causes.get(arrow) ?? []), cause]);
      }
    }
  }
  return [...causes].map(([arrow, named]) => `  ${arrow}: ${named.join(', ')}`);
};

/** States without an incoming transition. */
const starts = (table: Table): readonly string[] => {
  const reached = new Set(Object.values(table).flatMap((changes) => Object.values(changes).flat()));
  return Object.keys(table)
    .filter((state) => !reached.has(state))
    .map((state) => `  [*] --> ${state}`);
};

const ends = (table: Table): readonly string[] =>
  Object.entries(table)
    .filter(([, changes]) => Object.keys(changes).length === 0)
    .map(([state]) => `  ${state} --> [*]`);
