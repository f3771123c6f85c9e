import { SECOND_MS } from '../../../shared/core/time.ts';
import type { StreamTrigger } from '../../../shared/platform/trigger.ts';
import type { Clock, TimedWork } from '../machine/clock.ts';
import type { Invoke } from '../machine/invoke.ts';
import type { State } from '../machine/sqlite.ts';
import type { Failures } from './failures.ts';
import { MAX_TRIES, processBatch } from './stream-batches.ts';
import {
  isWanted,
  type LambdaRecord,
  lambdaRecord,
  type StreamRecord,
  sequenceOf,
  streamAnswerSchema,
} from './stream-records.ts';
import type { StreamReader, StreamSource } from './stream-source.ts';

/**
 * The table's stream and its consumers. Each consumer saves its own position and continues there after a restart.
 * Retries run in real time, independent of the host's clock.
 */
export interface Streams extends TimedWork {
  /** Wakes the consumers, because an item may have been written. */
  poke(): void;
  /** Sends the whole stream to one consumer again. */
  replay(triggerId: string): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface StreamsOptions {
  readonly source: StreamSource;
  readonly triggers: readonly StreamTrigger[];
  readonly state: State;
  readonly clock: Pick<Clock, 'now' | 'wake'>;
  readonly invoke: Invoke;
  /** Stores the records given up by a consumer. */
  readonly failures: Pick<Failures, 'keep'>;
  readonly log: (line: string) => void;
}

const IDLE_MS = 1_000;
/** Delay after a write. Writes come in bursts, so one read covers the whole burst. */
const AFTER_POKE_MS = 10;
const AFTER_ERROR_MS = 200;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

export const createStreams = (options: StreamsOptions): Streams => {
  const { source, state } = options;
  const consumers = options.triggers.map((trigger) => {
    const reader = source.openReader(state, `stream ${trigger.id} ${source.arn}`);
    return { trigger, ...createConsumer(options, trigger, reader) };
  });
  const poke = (): void => {
    for (const consumer of consumers) consumer.poke();
  };
  let unwatch = (): void => undefined;
  return {
    name: 'stream',
    nextDueAt: () => undefined,
    // Starts nothing, because `idle` reads the stream itself.
    runDue: async () => undefined,
    idle: async () => (await Promise.all(consumers.map((consumer) => consumer.caughtUp()))).every(Boolean),
    poke,
    replay: async (triggerId) => {
      const consumer = consumers.find(({ trigger }) => trigger.id === triggerId);
      if (!consumer) throw new Error(`no stream consumer ${triggerId}`);
      await consumer.rewind();
    },
    start: () => {
      unwatch = source.watch(poke);
      for (const consumer of consumers) consumer.start();
    },
    stop: async () => {
      unwatch();
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      source.close();
    },
  };
};

const createConsumer = (options: StreamsOptions, trigger: StreamTrigger, reader: StreamReader) => {
  const nap = createNap();
  const gathering = createGathering(trigger, reader);
  const { writeMark } = options.source;
  let stopped = false;
  let busy = false;
  /** The write mark of the last empty read. */
  let emptyAt: number | undefined;
  let ended: Promise<void> = Promise.resolve();
  const rewinds: (() => void)[] = [];
  /** Callers of `caughtUp` that wait for the next read. */
  const waiting: ((isEmpty: boolean) => void)[] = [];

  const batches = {
    ...batchOptions(options, trigger),
    advance: (record: StreamRecord) => reader.advance(sequenceOf(record)),
    stopped: () => stopped,
  };
  const work = async (records: readonly StreamRecord[]): Promise<void> => {
    const wanted = records.filter((record) => isWanted(trigger, record));
    for (let at = 0; at < wanted.length && !stopped; at += trigger.batchSize) {
      await processBatch(wanted.slice(at, at + trigger.batchSize), batches);
    }
    const last = records.at(-1);
    if (last && !stopped) reader.advance(sequenceOf(last));
  };
  const readNext = async (): Promise<readonly StreamRecord[]> => {
    const mark = writeMark();
    const records = await reader.read();
    busy = records.length > 0;
    if (!busy) emptyAt = mark;
    return records;
  };
  /** @returns true if the stream had no record. */
  const look = async (): Promise<boolean> => {
    const callers = waiting.splice(0);
    const answer = (isEmpty: boolean): void => {
      for (const resolve of callers) resolve(isEmpty);
    };
    let empty = false;
    try {
      const records = await readNext();
      empty = records.length === 0;
      answer(empty);
      if (busy) await work(stopped || callers.length + waiting.length > 0 ? records : await gathering.all(records));
    } catch (error) {
      answer(false);
      if (!stopped) options.log(`reading the stream for ${trigger.id} failed, retrying: ${String(error)}`);
      await new Promise((resolve) => setTimeout(resolve, AFTER_ERROR_MS));
    }
    if (busy) options.clock.wake();
    busy = false;
    return empty;
  };
  const consume = async (): Promise<void> => {
    while (!stopped) {
      if (rewinds.length > 0) reader.rewind();
      for (const done of rewinds.splice(0)) done();
      const empty = await look();
      if (empty && waiting.length === 0 && rewinds.length === 0 && !stopped) await nap.take(IDLE_MS);
    }
    for (const resolve of waiting.splice(0)) resolve(true);
  };

  return {
    poke: () => nap.end(AFTER_POKE_MS),
    caughtUp: async (): Promise<boolean> => {
      if (busy) gathering.end();
      if (busy) return false;
      if (stopped || emptyAt === writeMark()) return true;
      return new Promise<boolean>((resolve) => {
        waiting.push(resolve);
        nap.end(0);
      });
    },
    rewind: () =>
      new Promise<void>((resolve) => {
        emptyAt = undefined;
        rewinds.push(resolve);
        gathering.end();
        nap.end(0);
      }),
    start: () => {
      ended = consume();
    },
    stop: async () => {
      stopped = true;
      gathering.end();
      nap.end(0);
      await ended;
    },
  };
};

const batchOptions = (options: StreamsOptions, trigger: StreamTrigger) => ({
  giveUp: (record: StreamRecord, error: unknown) => giveUp(options, trigger, { record, error }),
  pauseMs: (tries: number) => Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS),
  run: (records: readonly StreamRecord[]) => runHandler(options, trigger, records),
});

/** Waits for further records while a batch is not full. A caller of `caughtUp` ends the wait. */
const createGathering = (trigger: StreamTrigger, reader: StreamReader) => {
  let end = (): void => undefined;
  return {
    /** @returns the given records and those that arrived during the wait */
    all: async (records: readonly StreamRecord[]): Promise<readonly StreamRecord[]> => {
      const { batchSize, gatherSeconds } = trigger;
      const wanted = records.filter((record) => isWanted(trigger, record)).length;
      if (gatherSeconds === undefined || wanted === 0 || wanted >= batchSize) return records;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, gatherSeconds * SECOND_MS);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      return reader.read();
    },
    end: () => end(),
  };
};

/** A sleep that can be ended early, even before it starts. */
const createNap = () => {
  let wakeUp: ((inMs: number) => void) | undefined;
  let cutShort = false;
  return {
    take: async (ms: number): Promise<void> => {
      await new Promise<void>((resolve) => {
        // An idle nap need not keep the process alive, because the host's server does.
        let timer = setTimeout(resolve, cutShort ? AFTER_POKE_MS : ms);
        if (!cutShort) timer.unref();
        let endsAt = performance.now() + (cutShort ? AFTER_POKE_MS : ms);
        wakeUp = (inMs) => {
          if (performance.now() + inMs >= endsAt) return;
          clearTimeout(timer);
          endsAt = performance.now() + inMs;
          if (inMs === 0) resolve();
          else timer = setTimeout(resolve, inMs);
        };
      });
      wakeUp = undefined;
      cutShort = false;
    },
    end: (inMs: number): void => {
      if (wakeUp) wakeUp(inMs);
      else cutShort = true;
    },
  };
};

/** @returns the index of the first failed record, or undefined if none failed. */
const runHandler = async (
  { source, clock, invoke }: StreamsOptions,
  trigger: StreamTrigger,
  records: readonly StreamRecord[],
): Promise<number | undefined> => {
  const now = clock.now();
  const event = { Records: records.map((record): LambdaRecord => lambdaRecord(record, source.arn, now)) };
  const answer = streamAnswerSchema.parse((await invoke(trigger.id, event, trigger.timeoutSeconds)) ?? {});
  if (answer.batchItemFailures.length === 0) return undefined;
  const failed = new Set(answer.batchItemFailures.map((failure) => failure.itemIdentifier));
  const first = records.findIndex((record) => failed.has(sequenceOf(record)));
  // As on AWS, a response without a known record fails the whole batch.
  return Math.max(first, 0);
};

const giveUp = async (
  { failures, source, clock, log }: StreamsOptions,
  trigger: StreamTrigger,
  { record, error }: { readonly record: StreamRecord; readonly error: unknown },
): Promise<void> => {
  const now = clock.now();
  await failures.keep({
    trigger: trigger.id,
    failed_at: new Date(now).toISOString(),
    tries: MAX_TRIES,
    error: error === undefined ? 'reported as failed' : String(error),
    record: lambdaRecord(record, source.arn, now),
  });
  log(`${trigger.id} gave up on record ${sequenceOf(record)} after ${MAX_TRIES} tries: payctl failures list`);
};
