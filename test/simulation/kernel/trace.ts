import { createHash } from 'node:crypto';

/** The history of a run as lines of text. The digest covers every line; the lines themselves are kept on request. */
export interface Trace {
  /** @param at ms since the start of the run. Lines with `tells` appear in the timeline. */
  line(at: number, text: string, tells?: boolean): void;
  /** SHA-256 of all lines so far. */
  digest(): string;
  lines(): readonly string[];
  /** The timeline of all acts and failures, without successful calls. */
  timeline(): readonly string[];
  /** Ends the timeline, because all further lines only read the final state. */
  endTimeline(): void;
}

const CHUNK = 65_536;

export const createTrace = (keep: boolean): Trace => {
  const hash = createHash('sha256');
  const lines: string[] = [];
  const timeline: string[] = [];
  let isOver = false;
  /** Hashing one long text is faster than hashing its lines. */
  let waiting = '';
  const flush = (): void => {
    hash.update(waiting);
    waiting = '';
  };
  return {
    line: (at, text, tells = false) => {
      const line = `${timeOf(at)} ${text}`;
      waiting += `${line}\n`;
      if (waiting.length > CHUNK) flush();
      if (keep) lines.push(line);
      if (keep && tells && !isOver) timeline.push(line);
    },
    digest: () => {
      flush();
      return hash.copy().digest('hex');
    },
    lines: () => lines,
    timeline: () => timeline,
    endTimeline: () => {
      isOver = true;
    },
  };
};

/** `0d 00:00:12.345` */
const timeOf = (ms: number): string => {
  const part = (value: number, digits: number): string => String(Math.floor(value)).padStart(digits, '0');
  const [seconds, minutes, hours] = [ms / 1_000, ms / 60_000, ms / 3_600_000];
  return `${part(hours / 24, 1)}d ${part(hours % 24, 2)}:${part(minutes % 60, 2)}:${part(seconds % 60, 2)}.${part(ms % 1_000, 3)}`;
};
