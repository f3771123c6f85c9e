import type { OutboundEvent } from './outbound-event.ts';
import type { Target } from './targets.ts';

/** Does a target want an event? Its mode takes the kind, and one of its filters one of the event's names. */
export const wants = (
  { mode, filters }: Pick<Target, 'mode' | 'filters'>,
  { kind, aliases }: Pick<OutboundEvent, 'kind' | 'aliases'>,
): boolean =>
  (mode === 'both' || mode === kind) && filters.some((filter) => aliases.some((name) => matches(filter, name)));

/** `all`, a name, or a pattern: `*` stands for any text, so `payment.*` and `provider_a:*`. */
export const matches = (filter: string, name: string): boolean => {
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
