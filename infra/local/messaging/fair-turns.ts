/**
 * Makes a queue fair. A group gets no further message while its running messages are at least as many as the consumer's
 * free places. So slow messages of one group do not block other groups.
 */
export const watchGroups = () => {
  const inFlight = new Map<string, number>();
  const add = (groups: readonly string[], by: number): void => {
    for (const group of groups) {
      const count = (inFlight.get(group) ?? 0) + by;
      if (group !== '' && count > 0) inFlight.set(group, count);
      else inFlight.delete(group);
    }
  };
  return {
    begin: (groups: readonly string[]): void => add(groups, 1),
    end: (groups: readonly string[]): void => add(groups, -1),
    busy: (freePlaces: number): readonly string[] =>
      [...inFlight].filter(([, count]) => count >= freePlaces).map(([group]) => group),
  };
};

/**
 * Avoids queries without results. If a query finds only messages of busy groups, the next query waits until one of
 * these groups is free, or a message arrives or becomes visible.
 */
export const watchEmptiness = () => {
  let known: { readonly groups: readonly string[]; until: number } | undefined;
  return {
    holds: (busy: readonly string[], now: number): boolean =>
      known !== undefined && now < known.until && known.groups.every((group) => busy.includes(group)),
    found: (busy: readonly string[], until: number): void => {
      known = { groups: busy, until };
    },
    arrived: (group: string, visibleAt: number, now: number): void => {
      if (known && visibleAt > now) known.until = Math.min(known.until, visibleAt);
      else if (!known?.groups.includes(group)) known = undefined;
    },
    forget: (): void => {
      known = undefined;
    },
  };
};
