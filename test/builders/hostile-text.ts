/** @module Twelve kinds of long text, most of them costlier to read than plain letters. */

const repeated = (unit: string, length: number): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

const nested = (length: number): string => {
  const depth = Math.floor(length / '{"a":}'.length);
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
};

const wide = (length: number): unknown =>
  Object.fromEntries(
    Array.from({ length: Math.floor(length / '"aaaaaa":1,'.length) }, (_, at) => [String(at).padStart(6, 'a'), 1]),
  );

export interface HostileText {
  readonly name: string;
  /** The raw text, for a header, a path or a query. */
  readonly text: string;
  /** JSON of the same kind for a field of a body; at most 256 KB. */
  readonly json: string;
}

const bytesOf = (json: string): number => Buffer.byteLength(json);

const asText = (name: string, unit: string, characters: number): HostileText => {
  const bytes = bytesOf(JSON.stringify(repeated(unit, characters))) / characters;
  return {
    name,
    text: repeated(unit, characters),
    json: JSON.stringify(repeated(unit, Math.floor(characters / bytes))),
  };
};

const asJson = (name: string, json: string): HostileText => ({ name, text: json, json });

const longNames = (length: number): string =>
  JSON.stringify({ [repeated('n', length / 2)]: 1, [repeated('m', length / 2 - '{"":1,"":2}'.length)]: 2 });

const UNITS: readonly (readonly [name: string, unit: string])[] = [
  ['plain letters', 'a'],
  ['alternating combining marks', '\u0301\u0316'],
  ['ZWJ sequences', '👩\u200d👩\u200d👧\u200d'],
  ['surrogates, some of them alone', '😀\ud83d'],
  ['CJK', '漢字仮名'],
  ['digits', '4242424242424242 '],
  ['quotes', `"'`],
  ['brackets', '[({'],
  ['control characters', '\u0000\n\t\u001b'],
];

/** All kinds of text in this length. The first text is plain letters. */
export const hostileTexts = (characters: number): readonly HostileText[] => [
  ...UNITS.map(([name, unit]) => asText(name, unit, characters)),
  asJson('deep JSON', nested(characters)),
  asJson('wide JSON', JSON.stringify(wide(characters))),
  asJson('long names', longNames(characters)),
];
