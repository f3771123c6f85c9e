/** The activity of a run, for the summary of many runs. */
export interface SimulationTally {
  steps: number;
  kills: number;
  delays: number;
  readonly faults: Map<string, number>;
  /** The call sites reached while faults may happen. A call site is a function, a place and a call. */
  readonly reached: Set<string>;
  readonly killedAfter: Set<string>;
}

export interface Counts {
  readonly steps: number;
  readonly kills: number;
  readonly delays: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly reached: readonly string[];
  readonly killedAfter: readonly string[];
}

export const countsOf = (tally: SimulationTally): Counts => ({
  steps: tally.steps,
  kills: tally.kills,
  delays: tally.delays,
  faults: Object.fromEntries(tally.faults),
  reached: [...tally.reached],
  killedAfter: [...tally.killedAfter],
});

/** Adds up the counts of many runs. */
export const sumOfTallies = (all: readonly Counts[]): Counts => {
  const tally: SimulationTally = {
    steps: 0,
    kills: 0,
    delays: 0,
    faults: new Map(),
    reached: new Set(),
    killedAfter: new Set(),
  };
  for (const counts of all) {
    tally.steps += counts.steps;
    tally.kills += counts.kills;
    tally.delays += counts.delays;
    for (const [kind, count] of Object.entries(counts.faults)) {
      tally.faults.set(kind, (tally.faults.get(kind) ?? 0) + count);
    }
    for (const site of counts.reached) tally.reached.add(site);
    for (const site of counts.killedAfter) tally.killedAfter.add(site);
  }
  return countsOf(tally);
};
