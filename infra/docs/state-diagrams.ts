import { PAYMENT_TRANSITIONS as ofPayments } from '../../shared/payments/record/states.ts';
import { SUBSCRIPTION_TRANSITIONS as ofSubscriptions } from '../../shared/subscriptions/record/states.ts';

/** The diagrams of docs/states.md: every legal change of the tables that decide, by its causes. */
type Table = Readonly<Record<string, Readonly<Partial<Record<string, readonly string[]>>>>>;

export const stateDiagrams = (): Readonly<Record<string, string>> => ({
  payments: diagram(ofPayments),
  subscriptions: diagram(ofSubscriptions),
});

const diagram = (table: Table): string =>
  ['```mermaid', 'stateDiagram-v2', ...edges(table), ...ends(table), '```'].join('\n');

/** One arrow a pair of states, whatever its causes; a state that stays is none. */
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

const ends = (table: Table): readonly string[] =>
  Object.entries(table)
    .filter(([, changes]) => Object.keys(changes).length === 0)
    .map(([state]) => `  ${state} --> [*]`);
