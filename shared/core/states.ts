/** A table of states: which states each cause may lead to, per state. */
export type Transitions<S extends string, C extends string> = Readonly<
  Record<S, Readonly<Partial<Record<C, readonly S[]>>>>
>;

/** Staying in a state is always allowed: the table rules changes of the state only. */
export const allows = <S extends string, C extends string>(
  table: Transitions<S, C>,
  { from, to, cause }: { readonly from: S; readonly to: S; readonly cause: C },
): boolean => from === to || (table[from][cause]?.includes(to) ?? false);
