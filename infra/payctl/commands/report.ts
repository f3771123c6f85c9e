import { stderr, stdout } from 'node:process';
import { SingleBar } from 'cli-progress';

/** The result of a command: a JSON document for machines, lines for people, and an exit code. */
export interface Report {
  readonly json: unknown;
  readonly lines: readonly string[];
  readonly exitCode: ExitCode;
}

/** 0 if all is well, 1 if something needs attention, 2 if the command could not finish. */
export type ExitCode = 0 | 1 | 2;

export const print = ({ json, lines }: Report, asJson: boolean): void => {
  stdout.write(asJson ? `${JSON.stringify(json, null, 2)}\n` : `${lines.join('\n')}\n`);
};

/** An error as one line. Some errors have a code but no message. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return `${error.name}: ${error.message || code}`.replaceAll(/\s+/g, ' ');
};

/** Aligns rows in columns as wide as their content. */
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
  /** Increases the total. */
  expect(more: number): void;
  done(): void;
  stop(): void;
}

/** A progress bar on standard error, if that is a terminal. */
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
