import { stderr, stdin } from 'node:process';
import { createInterface } from 'node:readline/promises';

/** @returns true if the operator agrees */
export type AskOperator = (question: string) => Promise<boolean>;

/**
 * Asks on standard error, so that standard output stays one JSON document.
 * @returns undefined if standard input is not a terminal
 */
export const askAtTerminal = (): AskOperator | undefined => {
  if (!stdin.isTTY) return undefined;
  return async (question) => {
    const terminal = createInterface({ input: stdin, output: stderr });
    try {
      return /^y(es)?$/i.test((await terminal.question(`${question} (y/n) `)).trim());
    } finally {
      terminal.close();
    }
  };
};
