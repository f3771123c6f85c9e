import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';

/**
 * The floors of the house, from the ground up, as `floors.json` lists them. A row is one folder, or several neighbours
 * that may not import each other.
 */
const floorsSchema = z.record(z.string(), z.array(z.union([z.string(), z.array(z.string())])));
export type Floors = z.infer<typeof floorsSchema>;

export const readFloors = (): Floors =>
  floorsSchema.parse(JSON.parse(readFileSync(join(resolve(import.meta.dirname, '../..'), 'floors.json'), 'utf8')));

const AREA = 'shared';

/** The list and the drawing of docs/architecture.md. */
export const floorParts = (): Readonly<Record<string, string>> => {
  const rows = (readFloors()[AREA] ?? []).map((row) => [row].flat());
  return { floors: floorList(rows), 'floors-drawing': floorDrawing(rows) };
};

const floorList = (rows: readonly (readonly string[])[]): string =>
  [
    '| Floor | Folders of `shared/` |',
    '|---|---|',
    ...rows.map((row, index) => `| ${index + 1} | ${row.map((folder) => `\`${folder}\``).join(' · ')} |`),
  ].join('\n');

/** The highest floor stands on top; an arrow is "may import everything below". */
const floorDrawing = (rows: readonly (readonly string[])[]): string => {
  const boxes = rows.map((row, index) => `  f${index + 1}["${index + 1} · ${row.join(' · ')}"]`).reverse();
  const arrows = rows.slice(1).map((_, index) => `  f${index + 2} --> f${index + 1}`);
  return ['```mermaid', 'flowchart TB', ...boxes, ...arrows.reverse(), '```'].join('\n');
};
