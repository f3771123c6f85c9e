/**
 * @module Measures the processor time to read and refuse long texts in every input of every route, and compares it with
 * plain letters of the same length. The request chain runs on an empty table with a use case that does nothing.
 */
import { chainOf, HOSTILE_PLACES, type HostilePlace } from '../builders/hostile-requests.ts';
import { type HostileText, hostileTexts } from '../builders/hostile-text.ts';
import { say, sheet } from './sheet.ts';

const CHARACTERS = 248_000;
/** Maximum milliseconds above the plain text. */
const MOST_EXTRA_MS = 50;
/** Uses the minimum of several runs, because other work of the machine only adds time. */
const RUNS = 3;

/** @returns whether every text costs at most 50 ms more processor time than plain letters */
export const benchHostile = async (): Promise<boolean> => {
  const [plain, ...texts] = hostileTexts(CHARACTERS);
  if (!plain) throw new Error('no plain text');
  const rows: Row[] = [];
  for (const place of HOSTILE_PLACES) {
    const usual = await leastOf(place, plain);
    for (const text of texts) rows.push({ place, text, extra: (await leastOf(place, text)) - usual });
  }
  say(`${HOSTILE_PLACES.length} places, ${texts.length} texts of ${CHARACTERS} characters each`);
  const worst = texts.map((text) =>
    rows.filter((row) => row.text === text).reduce((one, other) => (other.extra > one.extra ? other : one)),
  );
  sheet(['text', 'most CPU ms over plain letters', 'where'], worst.map(cells));
  const dear = worst.filter(({ extra }) => extra > MOST_EXTRA_MS);
  say(dear.length === 0 ? '\nAll keep within.' : `\nEXCEEDED: ${dear.map(({ text }) => text.name).join(', ')}`);
  return dear.length === 0;
};

interface Row {
  readonly place: HostilePlace;
  readonly text: HostileText;
  readonly extra: number;
}

const cells = ({ place, text, extra }: Row): string[] => [
  text.name,
  extra.toFixed(1),
  `${place.endpoint.id}, ${place.name}`,
];

/** Repeats only a slow first run, because further runs can only lower the minimum. */
const leastOf = async ({ endpoint, filled }: HostilePlace, text: HostileText): Promise<number> => {
  const call = chainOf(endpoint);
  const sent = filled(text);
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS && (run === 0 || least > MOST_EXTRA_MS / 2); run += 1) {
    const before = process.cpuUsage();
    await call(sent);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
};
