/**
 * @module Stores the records given up by stream consumers, in one file per consumer with one JSON line per record. A
 * successful redo removes the record.
 */

import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { StreamTrigger } from '../../../shared/platform/trigger.ts';
import type { Invoke } from '../machine/invoke.ts';
import { type LambdaRecord, streamAnswerSchema } from './stream-records.ts';

const lineSchema = z.object({
  trigger: z.string(),
  failed_at: z.string(),
  tries: z.int(),
  error: z.string(),
  record: z.looseObject({
    dynamodb: z.looseObject({
      SequenceNumber: z.string(),
      Keys: z.looseObject({ pk: z.looseObject({ S: z.string() }) }),
    }),
  }),
});
type Line = z.infer<typeof lineSchema>;

export interface StreamFailure extends Line {
  /** Identifies the record for `redo`. A record that fails again keeps its id. */
  readonly id: string;
}

export interface Failures {
  keep(line: Omit<Line, 'record'> & { readonly record: LambdaRecord }): Promise<void>;
  /** Oldest first per consumer. */
  list(): Promise<readonly StreamFailure[]>;
  /**
   * Sends the record to its consumer again. @returns undefined if it succeeded and the record is removed, else the
   * reason.
   */
  redo(id: string): Promise<string | undefined>;
}

export interface FailuresOptions {
  readonly folder: string;
  readonly triggers: readonly StreamTrigger[];
  readonly invoke: Invoke;
}

export const openFailures = ({ folder, triggers, invoke }: FailuresOptions): Failures => {
  const inTurn = createTurns();
  const fileOf = (trigger: string): string => join(folder, `${trigger}.jsonl`);
  const linesOf = async (trigger: string): Promise<readonly StreamFailure[]> => {
    const text = await readFile(fileOf(trigger), 'utf8').catch(emptyIfAbsent);
    return text.split('\n').filter(Boolean).map(failureOf);
  };
  const list = async (): Promise<readonly StreamFailure[]> =>
    (await Promise.all(triggers.map(({ id }) => linesOf(id)))).flat();
  const forget = async ({ id, trigger }: StreamFailure): Promise<void> => {
    const left = (await linesOf(trigger)).filter((one) => one.id !== id);
    await writeFile(fileOf(trigger), left.map(({ id: _, ...line }) => `${JSON.stringify(line)}\n`).join(''));
  };
  return {
    keep: (line) =>
      inTurn(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await appendFile(fileOf(line.trigger), `${JSON.stringify(line)}\n`);
      }),
    list: () => inTurn(list),
    redo: async (id) => {
      const failure = (await inTurn(list)).find((one) => one.id === id);
      const trigger = triggers.find((one) => one.id === failure?.trigger);
      if (!failure || !trigger) return 'no such failure';
      const reason = await tried(invoke, trigger, failure.record);
      if (reason === undefined) await inTurn(() => forget(failure));
      return reason;
    },
  };
};

/** Runs the work on the files one at a time, so that two changes of a file never overlap. */
const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
};

const failureOf = (text: string): StreamFailure => {
  const line = lineSchema.parse(JSON.parse(text));
  return { id: `${line.trigger}:${line.record.dynamodb.SequenceNumber}`, ...line };
};

const tried = async (invoke: Invoke, trigger: StreamTrigger, record: unknown): Promise<string | undefined> => {
  try {
    const answer = await invoke(trigger.id, { Records: [record] }, trigger.timeoutSeconds);
    const { batchItemFailures } = streamAnswerSchema.parse(answer ?? {});
    return batchItemFailures.length === 0 ? undefined : 'reported as failed';
  } catch (error) {
    return String(error);
  }
};

const emptyIfAbsent = (error: unknown): string => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
  throw error;
};
