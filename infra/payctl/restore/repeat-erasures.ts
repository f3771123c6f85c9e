/** @module Repeats erasures undone by a restore of the table, from the operator's list. */

import { fingerprint } from '../../../shared/core/ids.ts';
import { keyedIds } from '../../../shared/core/keyed-ids.ts';
import { erasureKey } from '../../../shared/platform/keys.ts';
import { type ErasureJob, jobOf, type Subject } from '../../../shared/removal/erasure-job.ts';
import { findRunningErasure, startErasure } from '../../../shared/removal/request-erasure.ts';
import { columns, type Report } from '../commands/report.ts';
import type { Installation } from '../installation/installation.ts';

type Reader = Pick<Installation, 'deps'>;

interface Repeated {
  readonly people: readonly Subject[];
  /** ISO time. It is part of the job ids, so a second run finds the first run's jobs. */
  readonly restoredTo: string;
}

const MADE_BY = 'payctl';
/** A fixed key, so a second run finds the first run's jobs. It is not secret, because a job's id grants no access. */
const ids = keyedIds(async () => MADE_BY);

const keyOf = (restoredTo: string, person: Subject) => {
  const value = person.kind === 'user' ? person.userId : person.email;
  const scope = fingerprint('payctl repeat-erasures', restoredTo, person.kind, value);
  return { scope, requestHash: scope };
};

/** Requests each erasure once. Due work runs the jobs, so they wait while due work is off. */
export const repeatErasures = async ({ deps }: Reader, { people, restoredTo }: Repeated): Promise<Report> => {
  const jobs: ErasureJob[] = [];
  for (const person of people) {
    const found = await findRepeated({ deps }, restoredTo, person);
    const idempotency = keyOf(restoredTo, person);
    jobs.push(found ?? (await startErasure({ ...deps, ids }, person, { by: MADE_BY, idempotency })).job);
  }
  // The report names no person, because it may be stored.
  const rows = jobs.map(({ id, status }, line) => ({ line: line + 1, erasure_id: id, status }));
  return {
    json: { requested: rows.length, erasures: rows },
    lines: [
      ...columns(rows.map(({ line, erasure_id: id, status }) => [String(line), id, status])),
      `${rows.length} erasures requested; due work carries them out`,
    ],
    exitCode: 0,
  };
};

/**
 * Finds the person's job from an earlier run of this command, or else a job from the API that has not started. A
 * started job from the API does not count, because it may miss payments that were restored after its start. A person
 * has at most one running job.
 * @returns undefined if no job counts
 */
export const findRepeated = async (
  { deps }: Reader,
  restoredTo: string,
  person: Subject,
): Promise<ErasureJob | undefined> => {
  const item = await deps.table.get(erasureKey(await ids.idOf('erasure', keyOf(restoredTo, person).scope)));
  if (item) return jobOf(item);
  const running = await findRunningErasure(deps, person);
  return running?.status === 'pending' && running.step === 0 ? running : undefined;
};
