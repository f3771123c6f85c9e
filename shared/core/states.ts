/** A table of the allowed next states, by cause and current state. */
export type Transitions<S extends string, C extends string> = Readonly<
  Record<S, Readonly<Partial<Record<C, readonly S[]>>>>
>;

export interface StateChange<S extends string, C extends string> {
  readonly from: S;
  readonly to: S;
  readonly cause: C;
}

/** True if the table allows this transition. Staying in a state is allowed only if the table lists it. */
export const hasArrow = <S extends string, C extends string>(
  table: Transitions<S, C>,
  { from, to, cause }: StateChange<S, C>,
): boolean => table[from][cause]?.includes(to) ?? false;

/** True if a record may be stored with this change. A change that keeps the state is always allowed. */
export const allows = <S extends string, C extends string>(
  table: Transitions<S, C>,
  change: StateChange<S, C>,
): boolean => change.from === change.to || hasArrow(table, change);
