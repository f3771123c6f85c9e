/** A table of states: which states each cause may lead to, per state. */
export type Transitions<S extends string, C extends string> = Readonly<
  Record<S, Readonly<Partial<Record<C, readonly S[]>>>>
>;

export interface StateChange<S extends string, C extends string> {
  readonly from: S;
  readonly to: S;
  readonly cause: C;
}

/** The table has this arrow. A state leads to itself only where the table says so. */
export const hasArrow = <S extends string, C extends string>(
  table: Transitions<S, C>,
  { from, to, cause }: StateChange<S, C>,
): boolean => table[from][cause]?.includes(to) ?? false;

/** May a record be stored with this change? A change that keeps the state needs no arrow. */
export const allows = <S extends string, C extends string>(
  table: Transitions<S, C>,
  change: StateChange<S, C>,
): boolean => change.from === change.to || hasArrow(table, change);
