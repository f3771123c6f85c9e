import { stdout } from 'node:process';

export const say = (line = ''): void => {
  stdout.write(`${line}\n`);
};

/** Prints rows in columns of minimal width. The first column is left-aligned; the others are aligned by content. */
export const sheet = (head: readonly string[], rows: readonly (readonly string[])[]): void => {
  const widths = head.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map(lengthOf)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  say(line(head));
  say(line(widths.map((width) => '-'.repeat(width))));
  for (const row of rows) say(line(row));
};

const lengthOf = (text: string): number => text.length;
