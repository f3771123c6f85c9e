import { useState } from 'preact/hooks';
import { readCsv, saveFile } from '../api/csv.ts';
import type { Problem } from '../api/problem.ts';
import { count } from './format.ts';
import { asProblem } from './load.ts';
import { ProblemNote } from './parts.tsx';

interface CsvButtonProps {
  /** The name of the file. */
  readonly file: string;
  readonly ask: Parameters<typeof readCsv>[0];
}

/** Downloads all pages of the filtered list. */
export const CsvButton = ({ file, ask }: CsvButtonProps) => {
  const [rows, setRows] = useState<number>();
  const [problem, setProblem] = useState<Problem>();
  const download = async (): Promise<void> => {
    setProblem(undefined);
    setRows(0);
    try {
      saveFile(file, await readCsv(ask, setRows));
    } catch (reason) {
      setProblem(asProblem(reason));
    } finally {
      setRows(undefined);
    }
  };
  return (
    <>
      <button type="button" disabled={rows !== undefined} onClick={() => void download()}>
        {rows ? `Downloading ${count(rows)} rows…` : 'Download CSV'}
      </button>
      {problem && <ProblemNote problem={problem} onRetry={() => void download()} />}
    </>
  );
};
