import { stderr, stdout } from 'node:process';
import { SingleBar } from 'cli-progress';

/** What a command has found: one JSON document for machines, lines for people, and how the process ends. */
export interface Report {
  readonly json: unknown;
  readonly lines: readonly string[];
  readonly exitCode: ExitCode;
}

/** 0: all is well. 1: something wants attention. 2: it could not be found out. */
export type ExitCode = 0 | 1 | 2;

export const print = ({ json, lines }: Report, asJson: boolean): void => {
  stdout.write(asJson ? `${JSON.stringify(json, null, 2)}\n` : `${lines.join('\n')}\n`);
};

/** An error in one line. Some say nothing but their code. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return `${error.name}: ${error.message || code}`.replaceAll(/\s+/g, ' ');
};

/** Rows in columns as wide as they need to be. */
export const columns = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};

export interface Progress {
  /** So many more are to be done. */
  expect(more: number): void;
  done(): void;
  stop(): void;
}

/** A bar on standard error, where a person looks at it. */
export const progress = (what: string): Progress => {
  const bar = new SingleBar({
    format: `${what} {bar} {value}/{total}`,
    stream: stderr,
    clearOnComplete: true,
    hideCursor: true,
  });
  if (!stderr.isTTY) return { expect: () => undefined, done: () => undefined, stop: () => undefined };
  let total = 0;
  bar.start(0, 0);
  return {
    expect: (more) => {
      total += more;
      bar.setTotal(total);
    },
    done: () => bar.increment(),
    stop: () => bar.stop(),
  };
};
